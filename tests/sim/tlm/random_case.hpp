// SPDX-License-Identifier: BSD-3-Clause
// Random cases for both hosts.
#pragma once

#include "tests/sim/tlm/both_hosts.hpp"

namespace cachetally::testing {

/// A random machine of so many cores with a program for each (now and then for one less), and monitors with small
/// rings.
Case random_case(std::uint64_t seed, unsigned cores);

/// One core and usual caches, of which references may be handed over by number.
Case random_plain_case(std::uint64_t seed);

}  // namespace cachetally::testing

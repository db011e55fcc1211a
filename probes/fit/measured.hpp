// SPDX-License-Identifier: BSD-3-Clause
// What has to be known of a measurement, besides its curves, to fit a machine to it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "probes/recording/recording.hpp"
#include "probes/result.hpp"

namespace cachetally {

/// Which response curves end early or are missing, and why, where the test `response` could not end; else empty.
std::string missing_curves(std::span<const TestReport> measured);

/// The largest arena in bytes that a response curve among the reports was measured in, on ordinary pages of `page`
/// bytes.
std::uint64_t largest_arena_of(std::span<const TestReport> measured, std::uint64_t page);

/// Bytes of the large pages that the response curves of a recording are of; the ordinary ones where it has no others.
std::uint64_t large_page_of(const Recording& recording);

/// Picoseconds of a cycle, of a measured frequency in Hz rounded to 10 MHz.
std::uint64_t period_of(double frequency);

}  // namespace cachetally

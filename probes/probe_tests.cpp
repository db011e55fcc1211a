// SPDX-License-Identifier: BSD-3-Clause
#include "probes/suite.hpp"

namespace cachetally {

std::span<const ProbeTest> probe_tests() { return built_in_probe_tests(); }

}  // namespace cachetally

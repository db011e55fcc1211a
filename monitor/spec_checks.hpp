// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with a specification as a whole, and which key to blame. Between spec.cpp and spec_parser.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "monitor/spec.hpp"

namespace cachetally {

inline constexpr std::uint64_t most_counters = 1U << 22;
inline constexpr std::uint64_t most_window_lines = 1U << 23;  ///< counters times lines; half a GiB of ours
inline constexpr std::uint64_t longest_period = 1'000'000'000'000;  ///< cycles
inline constexpr std::uint64_t most_cost = 1'000'000;               ///< cycles per record

struct SpecConflict {
    std::string_view key;
    std::string message;
};

std::optional<SpecConflict> find_conflict(const MonitorSpec& spec);

}  // namespace cachetally

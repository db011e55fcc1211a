// SPDX-License-Identifier: BSD-3-Clause
// Which replacement policy misses as often as was measured.
#pragma once

#include <functional>

#include "probes/result.hpp"
#include "probes/strings/strings.hpp"
#include "sim/model/tags/cache_array.hpp"

namespace cachetally {

/// The policy of this name, if it is one of those that are compared.
std::optional<Replacement> known_policy(const std::string& name);

/// A set whose policy is looked for, and how: lines of it are visited several times each in random orders.
struct PolicySearch {
    std::string level;
    unsigned ways = 0;
    std::uint64_t way = 0;   ///< bytes between lines of the set
    std::uint64_t line = 0;  ///< bytes of a line: each visit is of another word of it
    std::uint64_t seed = 0;
    /// The share of loads that miss with a policy in the long run; lines by number, in the order of visits.
    std::function<double(const std::vector<std::uint64_t>& order, Replacement policy)> expected;
    std::function<double(const Offsets& loads)> measured;
    double best_error = 0;              ///< root of the mean square of differences in the share of misses, at most
    std::string unlike, alike, method;  ///< why none or no single policy is answered; how one is
};

/// Bytes of arena that such loads need beyond those of the lines.
inline constexpr std::uint64_t policy_margin = 3 * 21 * 128;

/// Answers or refuses the replacement policy of the level. (ours)
void find_policy(TestReport& report, const PolicySearch& search);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// fit(): a machine description whose response curves are those that were measured.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cachetally/machine.hpp"
#include "probes/result.hpp"

namespace cachetally {

struct FitOptions {
    unsigned jobs = 0;                 ///< threads; 0 = as many as there are processors
    std::function<bool()> go_on = {};  ///< asked between simulations; where it says no, ProbingEnded is thrown
};

/// What the curves say about a key of the machine file.
struct FittedKey {
    std::string component, key;
    std::string value;
    std::vector<std::string> as_good;  ///< other values with which the curves come as close, but for `as_close`
    bool determined() const { return as_good.empty(); }
};

/// Errors that differ by less than this share of a time are as close.
inline constexpr double as_close = 0.005;

struct FitResult {
    MachineDescription machine;
    std::vector<FittedKey> keys;
    double error_before = 0, error = 0;  ///< mean over curves of |ln(simulated / measured)|
    unsigned simulations = 0;
};

/// From `start` on, one key after another takes the value with which the machine's response curves come closest to the
/// measured ones, until none changes: sizes (by ways), replacement and inclusion of the caches that loads pass, entries
/// (by ways) of TLBs, the mapping of pages and whether walks read memory. Latencies are solved for each of them, as
/// times are sums of these. Ways per set, lines and the number of levels stay. Throws std::invalid_argument where the
/// reports have no curve of the test `response`. (ours)
FitResult fit(const MachineDescription& start, std::span<const TestReport> measured, const FitOptions& options = {});

}  // namespace cachetally

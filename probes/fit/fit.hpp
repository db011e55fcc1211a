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
    unsigned jobs = 0;  ///< threads; 0 = as many as there are processors
    /// Bytes of the large pages that curves were measured on; not larger than ordinary ones: there were none.
    std::uint64_t large_page = std::uint64_t{2} << 20;
    double frequency = 0;              ///< Hz of the clock whose cycles were measured; 0 = that of the start
    std::function<bool()> go_on = {};  ///< asked between simulations; where it says no, ProbingEnded is thrown
};

/// What the curves say about a key of the machine file.
struct FittedKey {
    std::string component, key;
    std::string value;
    std::vector<std::string> as_good;  ///< other values with which the curves come as close, but for `as_close`
    bool any_as_good = false;          ///< all that were tried
    bool determined() const { return as_good.empty(); }
};

/// Errors that differ by less than this share of a time are as close.
inline constexpr double as_close = 0.005;

struct FitResult {
    MachineDescription machine;
    std::vector<FittedKey> keys;
    double error_before = 0, error = 0;  ///< mean over curves of |ln(simulated / measured)|
    unsigned simulations = 0;            ///< of machines whose quick points, at least, were simulated
};

/// From `start` on, with each mapping of pages, sizes (by ways, or by sets) and ways of caches and TLBs, and whether
/// walks read memory, take in turn the values with which the machine's response curves come closest to the measured
/// ones; from the best of these on all keys do, until none changes: mapping, replacement and inclusion, too. Latencies
/// are solved for each of them, as times are sums of these. Lines and the number of levels stay. The clock is that of
/// the measurement. The result is the same for any number of threads. Throws std::invalid_argument where the reports
/// have no curve of the test `response`, or where their measurement ended early: a machine fitted to the rest would be
/// another. (ours)
FitResult fit(const MachineDescription& start, std::span<const TestReport> measured, const FitOptions& options = {});

}  // namespace cachetally

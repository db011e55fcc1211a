// SPDX-License-Identifier: BSD-3-Clause
// RecordSums: the software side of a monitor, which adds up the records of a phase (Schulz et al. 2002, section 3.1).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "monitor/counter_array.hpp"
#include "monitor/paged_counts.hpp"

namespace cachetally {

/// As large as what is touched in a phase, however many records come.
class RecordSums {
public:
    explicit RecordSums(const MonitorSpec& spec);

    void select(std::uint32_t function);
    void add(const SwapOut& record, std::uint64_t times);

    /// Appends the rows of a phase, in order, and begins again at 0.
    void take(std::vector<HistogramRow>& rows, std::uint32_t phase);

private:
    struct Window {
        std::uint64_t first = 0;
        std::uint32_t span = 1;
        friend bool operator==(const Window&, const Window&) = default;
    };
    struct Hash {
        std::size_t operator()(const Window& window) const {
            return (window.first * 0x9e3779b97f4a7c15U) ^ (window.span * 0xff51afd7ed558ccdU);
        }
    };
    using WindowCounts = std::unordered_map<Window, std::uint64_t, Hash>;

    std::uint32_t unit_;
    std::uint32_t span_;
    bool dynamic_;
    std::uint32_t function_ = no_function;
    FunctionCounts keys_;                            ///< mask, aligned
    std::map<std::uint32_t, WindowCounts> windows_;  ///< dynamic, per function
};

}  // namespace cachetally

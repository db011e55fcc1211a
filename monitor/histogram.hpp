// SPDX-License-Identifier: BSD-3-Clause
// Histogram: events per address, phase and function, as sorted rows. What the software side of a monitor delivers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cachetally/types.hpp"
#include "monitor/spec.hpp"

namespace cachetally {

/// Bytes of records for each event that was counted; 0 where none was.
inline double bytes_for_each(std::uint64_t events, std::uint64_t bytes) {
    return events == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(events);
}

/// Maps physical addresses to those in which regions are given (Hierarchy::virtual_address); empty = identity.
using AddressMap = std::function<Address(Address)>;

/// The `function` of events outside of any function.
inline constexpr std::uint32_t no_function = ~std::uint32_t{0};

struct HistogramRow {
    Address address = 0;      ///< of the first byte
    std::uint32_t span = 1;   ///< units that the count is for, from `address` on
    std::uint32_t phase = 0;  ///< number of barriers before
    std::uint32_t function = no_function;
    std::uint64_t count = 0;  ///< events, never 0

    friend bool operator==(const HistogramRow&, const HistogramRow&) = default;
};

/// Rows ascend by (phase, function, address, span), each combination at most once.
class Histogram {
public:
    Histogram() = default;
    explicit Histogram(std::uint32_t unit_bytes) : unit_bytes_(unit_bytes) {}

    /// Rows in any order, with repetitions: sorted and summed.
    Histogram(std::uint32_t unit_bytes, std::vector<HistogramRow> rows);

    std::uint32_t unit_bytes() const { return unit_bytes_; }
    std::span<const HistogramRow> rows() const { return rows_; }
    bool empty() const { return rows_.empty(); }

    /// Phases, at least so many that every row's is counted.
    std::uint32_t phases() const { return phases_; }
    void set_phases(std::uint32_t phases);

    std::span<const HistogramRow> phase(std::uint32_t phase) const;

    std::uint64_t total() const;
    std::uint64_t total(std::uint32_t phase) const;

    /// Events per address over all phases and functions (phase 0, no function).
    Histogram summed() const;

    /// The histogram of one phase alone, as phase 0.
    Histogram only_phase(std::uint32_t phase) const;

    /// As it would be if each key covered `lines` aligned units: what any lossless monitor with that granularity gives.
    Histogram aggregated(std::uint32_t lines) const;

    /// Appends rows that come after all rows here; in order.
    void append(std::vector<HistogramRow> rows);

    friend bool operator==(const Histogram&, const Histogram&) = default;

private:
    std::uint32_t unit_bytes_ = 64;
    std::uint32_t phases_ = 1;
    std::vector<HistogramRow> rows_;
};

/// The sum of histograms with the same unit (the copies of a link).
Histogram merged(std::span<const Histogram> histograms);

}  // namespace cachetally

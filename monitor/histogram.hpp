// SPDX-License-Identifier: BSD-3-Clause
// Histogram: events per address, phase and function, as sorted rows: what the software side of a monitor delivers; and
// how well it matches the exact one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cachetally/types.hpp"
#include "monitor/spec.hpp"

namespace cachetally {

/// Sorts by key_of(row) and adds rows of equal keys up, in the order given: add(sum, row).
template <class Row, class KeyOf, class Add>
void sort_and_sum(std::vector<Row>& rows, KeyOf key_of, Add add) {
    if (!std::ranges::is_sorted(rows, {}, key_of)) std::ranges::stable_sort(rows, {}, key_of);
    std::size_t kept = 0;
    for (const Row& row : rows) {
        if (kept != 0 && key_of(rows[kept - 1]) == key_of(row)) {
            add(rows[kept - 1], row);
        } else {
            rows[kept++] = row;
        }
    }
    rows.resize(kept);
}

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

/// Events of one unit; fractional where a count for several units was spread.
struct UnitShare {
    Address address = 0;
    double count = 0;
};

/// Events per unit, all phases and functions summed, ascending: each count spread evenly over its units.
std::vector<UnitShare> spread_over_units(const Histogram& histogram);

/// Sum |exact - measured| / sum exact over the units in `data` (all units where it is empty), all phases and functions
/// summed. A count for several units is spread evenly over them. A fraction: 0 = exact. 0 where `exact` has no events
/// there. Both have the same unit, else std::invalid_argument. (Schulz et al. 2002, section 4.4; the even spread over
/// all lines of a group is ours.)
double histogram_error(const Histogram& exact, const Histogram& measured, std::span<const AddressRange> data = {},
                       const AddressMap& map = {});

/// The ranges of regions, ascending and united, for the functions that take ranges.
std::vector<AddressRange> ranges_of(std::span<const Region> regions);

}  // namespace cachetally

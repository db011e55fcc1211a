// SPDX-License-Identifier: BSD-3-Clause
// Sweep: swap-outs and errors of many monitors on one link from one pass over its events.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cachetally/listener.hpp"
#include "monitor/control.hpp"
#include "monitor/histogram.hpp"
#include "monitor/paged_counts.hpp"
#include "monitor/sweep_passes.hpp"

namespace cachetally {

/// Every combination of the three lists, each otherwise as `base`, with a ring that loses nothing and costs nothing.
struct SweepSpec {
    MonitorSpec base;  ///< line filled in
    std::vector<std::uint32_t> counters;
    std::vector<Granularity> granularities;
    std::vector<Eviction> evictions;
};

struct SweepRow {
    std::uint32_t counters = 0;
    Granularity granularity;
    Eviction eviction = Eviction::fifo;
    std::uint64_t swapouts = 0;  ///< with those at barriers and at the end
    double error = 0;            ///< histogram_error against the exact histogram
    double bytes_per_event = 0;  ///< of ring traffic

    friend bool operator==(const SweepRow&, const SweepRow&) = default;
};

/// Why a monitor, whose line is known, cannot be a cell of a sweep; empty: it can.
std::string why_incomparable(const MonitorSpec& cell);

/// Counters of 32 bits and more are taken to be unlimited: exact as long as no counter sees 2^width - 1 events between
/// two swap-outs. With these, fully associative, the cells of a granularity are not simulated one by one: with lru one
/// recency log serves every number of counters (the stack property of Mattson et al. 1970), with fifo one set of
/// residency bits per key.
class Sweep final : public BatchListener {
public:
    /// Throws SpecError where a combination is impossible or a list is empty.
    explicit Sweep(const SweepSpec& spec, unsigned copy = 0);
    Sweep(const Sweep&) = delete;
    Sweep& operator=(const Sweep&) = delete;

    const SweepSpec& spec() const { return spec_; }

    std::uint32_t kinds() const override { return spec_.base.kinds; }
    bool accepts_merged(std::uint32_t line_bytes) const override {
        return units_.keeps_block_whole(line_bytes) && filter_.keeps_blocks_whole(line_bytes);
    }
    void on_event(const LinkEvent& event, Injector& injector) override;
    void on_blocks(std::span<const BlockEvent> events, std::uint8_t core, Injector& injector) override;
    void on_control(const Control& control, Tick time, Injector& injector) override;

    /// The run is over: final swap-out. Call once, before what follows.
    void finish();

    /// The exact histogram of the link.
    const Histogram& exact() const { return exact_; }

    /// Swap-outs per cell: by eviction, then granularity, then counters, in the order given.
    std::vector<std::uint64_t> swapouts() const;

    /// What the software would have summed up with this granularity (index into the spec's list) and, where it is
    /// dynamic, in this cell.
    Histogram measured(std::size_t granularity, std::size_t cell) const;

private:
    template <class Pass>
    struct Numbered {
        std::size_t number;
        Pass* pass;
    };

    void make_group(Eviction eviction, const Granularity& granularity, unsigned copy);
    void add(std::uint64_t unit, std::uint64_t count);
    void use_by_recency(std::uint64_t unit);
    std::size_t find(std::uint64_t unit);
    void look_up(std::uint64_t unit, std::size_t place);
    void collect(std::uint64_t unit, std::uint64_t count);
    void feed();
    void swap_out();
    void close_phase();

    SweepSpec spec_;
    KeyMap units_;
    MonitorControl control_;
    EventFilter filter_;
    FunctionCounts counts_;
    Histogram exact_;
    std::vector<std::unique_ptr<CellGroup>> groups_;  ///< by eviction, then granularity
    std::vector<Numbered<RecencyPass>> recency_;
    std::vector<Numbered<ResidencyPass>> residency_;
    std::vector<ArrayPass*> arrays_;
    RecentUnits recent_;
    UseWindow window_;
    std::vector<UnitRun> batch_;
    std::uint64_t last_unit_ = 0;
    bool last_valid_ = false;
    std::vector<Histogram> windows_;  ///< per cell of dynamic granularity; else empty
};

/// One row per cell, for the sweeps of all copies of a link together (same spec; at least one). Error over `data` as in
/// histogram_error. After finish().
std::vector<SweepRow> sweep_rows(std::span<const Sweep* const> copies, std::span<const AddressRange> data = {},
                                 const AddressMap& map = {});

}  // namespace cachetally

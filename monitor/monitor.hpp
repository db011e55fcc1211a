// SPDX-License-Identifier: BSD-3-Clause
// Monitor: the hardware cache monitor of Schulz et al. 2002 on one copy of a link, with the software that reads it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cachetally/listener.hpp"
#include "monitor/control.hpp"
#include "monitor/counter_bank.hpp"
#include "monitor/histogram.hpp"
#include "monitor/spec.hpp"

namespace cachetally {

/// Law: the histogram's total + lost = events.
struct MonitorCounts {
    std::uint64_t events = 0;    ///< counted, after filter and switch
    std::uint64_t swapouts = 0;  ///< records, with those of the end and those lost
    std::uint64_t lost = 0;      ///< events whose record found the ring full
    std::uint64_t lost_records = 0;
    std::uint64_t resident = 0;           ///< events still in the counters at the end, before these were swapped out
    std::uint64_t resident_counters = 0;  ///< counters that held them
    std::vector<std::uint64_t> swapouts_per_phase;
    std::uint64_t ring_high_water = 0;  ///< most records in the ring at once
    std::uint64_t bytes = 0;            ///< transferred: records that were not lost times their size

    double bytes_per_event() const { return bytes_for_each(events, bytes); }
    friend bool operator==(const MonitorCounts&, const MonitorCounts&) = default;
};

struct MonitorResult : MonitorCounts {
    std::string name;
    std::string link;
    Tick stall = 0;  ///< picoseconds that cores lost
    Histogram histogram;
};

/// The results of the copies of a link as one: sums; the high water is the largest.
MonitorResult merged(const std::vector<MonitorResult>& copies);

class Monitor final : public BatchListener {
public:
    /// `spec.line` must be filled in. `copy`: number of the link's copy; `cycle`: picoseconds of a clock cycle.
    /// Throws SpecError where the spec contradicts itself.
    explicit Monitor(MonitorSpec spec, unsigned copy = 0, Tick cycle = 1000);

    const MonitorSpec& spec() const { return spec_; }

    std::uint32_t kinds() const override { return spec_.kinds; }
    bool accepts_merged(std::uint32_t line_bytes) const override;
    bool sends() const override { return true; }
    void on_event(const LinkEvent& event, Injector& injector) override;
    void on_blocks(std::span<const BlockEvent> events, std::uint8_t core, Injector& injector) override;
    bool takes_filtered() const override;
    void on_filtered(const FilteredEvents& events, std::uint8_t core, Injector& injector) override;
    void on_control(const Control& control, Tick time, Injector& injector) override;

    /// The run is over: swaps all counters out and lets the software read everything; nothing is lost and no traffic
    /// made by that. Call once, before result().
    void finish();

    /// Valid after finish(); the histogram is moved out.
    MonitorResult result();

private:
    void close_phase();

    MonitorSpec spec_;
    MonitorControl control_;
    EventFilter filter_;
    std::unique_ptr<CounterBank> bank_;
    std::uint64_t swapouts_before_ = 0;  ///< in phases that are over
    std::vector<BlockEvent> passing_;    ///< of the events at hand
    MonitorResult result_;
};

}  // namespace cachetally

// Sweep: swap-outs and errors of many monitors on one link from one pass over its events.
#pragma once

#include <memory>
#include <vector>

#include "monitor/accuracy.hpp"
#include "monitor/exact_histogram.hpp"
#include "monitor/spec.hpp"
#include "sim/model/link.hpp"

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

/// Counters of 32 bits and more are taken to be unlimited: exact as long as no counter sees 2^width - 1 events.
class Sweep final : public LinkListener {
public:
    /// Throws SpecError where a combination is impossible or a list is empty.
    explicit Sweep(const SweepSpec& spec, unsigned copy = 0);
    ~Sweep() override;

    std::uint32_t kinds() const override;
    bool accepts_merged(std::uint32_t line_bytes) const override;
    void on_event(const LinkEvent& event, Injector& injector) override;
    void on_control(const Control& control, Tick time, Injector& injector) override;

    /// The run is over: final swap-out. Call once, before rows().
    void finish();

    std::uint64_t events() const;
    /// The exact histogram of the link; after finish().
    const Histogram& exact() const;

    /// One row per cell: by eviction, then granularity, then counters, in the order given. Error over `data` as in
    /// histogram_error. After finish().
    std::vector<SweepRow> rows(std::span<const AddressRange> data = {}, const AddressMap& map = {}) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace cachetally

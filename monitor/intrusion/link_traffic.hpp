// SPDX-License-Identifier: BSD-3-Clause
// LinkTraffic: what goes over links, counted by kind, and how many bytes that is.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cachetally/counts.hpp"
#include "cachetally/listener.hpp"
#include "cachetally/topology.hpp"
#include "monitor/spec.hpp"

namespace cachetally {

/// Events of a link by kind.
using KindCounts = std::array<std::uint64_t, event_kind_count>;

/// Counts the requests, victims and records of one copy of a link.
class LinkTraffic final : public BatchListener {
public:
    std::uint32_t kinds() const override;
    bool accepts_merged(std::uint32_t) const override { return true; }
    void on_event(const LinkEvent& event, Injector&) override {
        if (counting_.is_on()) counts_[index_of(event.kind)] += event.count;
    }
    void on_blocks(std::span<const BlockEvent> events, std::uint8_t core, Injector& injector) override;
    void on_control(const Control& control, Tick, Injector&) override { counting_.follow(control); }

    const KindCounts& counts() const { return counts_; }

private:
    static std::size_t index_of(EventKind kind) { return static_cast<std::size_t>(kind); }

    Counting counting_;
    KindCounts counts_{};
};

struct Traffic {
    std::uint64_t events = 0, bytes = 0;
    friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// By Topology::links(), what `counts` are in events and bytes. Below a cache the bytes are those that buses carry
/// (docs/timing.md): a line of it per request or victim, 8 per store that is passed on. Between cores, TLBs, the page
/// walker and the first caches a request is taken for 8 bytes. A record, which is no event on the link of its monitor,
/// is added there with its own size, and where it goes past the caches also on every link from there to memory.
/// `monitor`, `records`: whose records, and how many it wrote while the program ran; null = none. `nodes`: of that run,
/// HierarchyCounts::numa, which tells at which node's memory records that go past caches have arrived.
std::vector<Traffic> traffic_of(const Topology& topology, const std::vector<KindCounts>& counts,
                                const MonitorSpec* monitor = nullptr, std::uint64_t records = 0,
                                std::span<const NumaCounts> nodes = {});

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Monitors on the links of a machine: which there are by default, what a link has to show them, what cannot be; and
// which links tell what a cache or TLB was asked for, and what it missed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cachetally/event.hpp"
#include "cachetally/topology.hpp"
#include "monitor/spec.hpp"

namespace cachetally {

/// Demand requests: loads, stores and fetches. A set of event kinds, by bit().
inline constexpr std::uint32_t demand_kinds = bit(EventKind::load) | bit(EventKind::store) | bit(EventKind::fetch);

/// Events of some kinds on a link.
struct LinkKinds {
    std::size_t link = 0;
    std::uint32_t kinds = 0;

    friend bool operator<(const LinkKinds& a, const LinkKinds& b) {
        return std::pair(a.link, a.kinds) < std::pair(b.link, b.kinds);
    }
};

/// A level, and where its demand requests (`above`) and its misses (`below`) are seen.
struct LevelLinks {
    std::string name;
    bool tlb = false;
    std::vector<LinkKinds> above, below;
    std::uint32_t line_bytes = 0;  ///< 0 of a TLB
    /// Of a TLB that passes pages of some sizes on, whether events at an address are its own; empty: all are.
    std::function<bool(Address)> holds;
};

/// Whether a TLB holds pages of this size; others pass it by.
bool holds_pages(const TlbConfig& tlb, std::uint64_t page_bytes);

/// The levels of data and instructions, caches before TLBs, as the machine file has them. Left out are levels of which
/// no link tells what they miss: caches that pass all stores on without allocating lines, caches that fetch lines for
/// write-backs from above, and the point of coherence, whose links also carry what other nodes supply. What a
/// write-through level passes on is no miss. (ours)
std::vector<LevelLinks> level_links(const Topology& topology);

/// Or-ed bit(EventKind) of the kinds that can happen on each link, in the order of Topology::links(). `senders`: the
/// links whose monitors send their records into the component below.
std::vector<std::uint32_t> possible_kinds(const Topology& topology, std::span<const std::string> senders = {});

/// One monitor on each link, with the defaults of a specification; that on the link from the page walker, where nothing
/// else happens, counts page_walk.
std::vector<MonitorSpec> default_monitors(const Topology& topology);

/// Fills in the line: between core and TLBs 4096 bytes, the smallest page; else that of the cache below the link, or of
/// the one above, or 64. Throws std::invalid_argument where the machine has no such link.
MonitorSpec completed(MonitorSpec spec, const Topology& topology);

/// The line of the cache with shorter lines, of the two that a link connects; 0 where it does not connect caches.
/// Events counted by it belong to one line of each.
std::uint32_t shorter_line(const Topology& topology, const LinkInfo& link);

/// The monitors that the machine file states, checked and named as by placed(). Throws MachineError with the place of
/// all that is wrong.
std::vector<MonitorSpec> monitors_of(const Topology& topology);

/// Checks that every monitor has a link of the machine, on which some of its kinds can happen, and counts cores that
/// there are; and gives those on one link, where they have no names, different ones: "core-L1", "core-L1#2". Throws
/// SpecError.
std::vector<MonitorSpec> placed(std::vector<MonitorSpec> specs, const Topology& topology);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Monitors on the links of a machine: which there are by default, what a link has to show them, what cannot be.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cachetally/topology.hpp"
#include "monitor/spec.hpp"

namespace cachetally {

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

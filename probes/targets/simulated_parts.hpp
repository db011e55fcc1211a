// SPDX-License-Identifier: BSD-3-Clause
// What a simulated target asks of a machine description, and what it makes of a stream.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "cachetally/hierarchy.hpp"
#include "cachetally/machine.hpp"
#include "cachetally/reference.hpp"
#include "probes/target.hpp"
#include "probes/targets/simulated.hpp"

namespace cachetally {

/// Why references that do not wait for each other say nothing of a machine, and so are not offered; empty = they do.
std::string why_nothing_overlaps(const MachineDescription& machine, const NoiseModel& noise);

/// What a target offers. `options.large_pages` ascend.
Capabilities capabilities_of(const MachineDescription& machine, const SimulatedOptions& options);

/// Where arenas begin.
constexpr Address arena_base = Address{1} << 32;

/// The machine with its pages placed as for this arena, and with what disturbs it.
MachineDescription placed_for(const Arena& arena, const MachineDescription& machine, const SimulatedOptions& options);

/// Places pages in the order of their addresses, where that changes what references take. `drawn`: frames are drawn for
/// pages when these are placed.
void touch(Hierarchy& hierarchy, const Arena& arena, std::span<const Reference> references, bool drawn);

/// What an interrupt loads: lines of the kernel, in pages of this size.
std::vector<Reference> interrupt_loads(const NoiseModel& noise, std::uint64_t page_bytes, Random& random);

/// Whether laps depend on more than caches and TLBs hold.
bool remembers_more(const MachineDescription& machine);

/// Events of a run of so many loads by level of `machine`; `run_on` may be without some of its levels. `stores`: with
/// what was written.
void fill_events(Measurement& measurement, const Lap& sum, double loads, const MachineDescription& machine,
                 const MachineDescription& run_on, bool stores);

/// Cycles of the quickest load.
double least_latency(const MachineDescription& machine);

/// The same, translated by the first TLB.
double quickest_load(const MachineDescription& machine);

/// Entries of all arrays, of which about six are hashed in the time of a load.
double digest_loads(const MachineDescription& machine);

/// Loads at these offsets of an arena, each followed by a store to the same place if `stores` says so.
std::vector<Reference> loads_of(std::span<const std::uint64_t> offsets, bool floating_point, bool stores = false);
/// Stores alone.
std::vector<Reference> stores_of(std::span<const Reference> loads);

/// A lap of a stream of an arena: a reference of each line.
std::vector<Reference> streamed_lines(const Streaming& stream, std::uint64_t line);

}  // namespace cachetally

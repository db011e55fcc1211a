// SPDX-License-Identifier: BSD-3-Clause
// HardwareCost: what a monitor would take in silicon, by a simple model (docs/cost.md).
#pragma once

#include <cstdint>

namespace cachetally {

struct MonitorSpec;

/// Transistors of storage and comparison. docs/cost.md gives the sources.
namespace transistors {
inline constexpr std::uint64_t sram_bit = 6;
inline constexpr std::uint64_t equality_bit = 4;  ///< exclusive or and pull-down
inline constexpr std::uint64_t cam_bit = sram_bit + equality_bit;
inline constexpr std::uint64_t magnitude_bit = 16;  ///< one bit of a chain that tells less from greater
inline constexpr std::uint64_t register_bit = 24;
}  // namespace transistors

/// Energy of a bit that goes to memory, where that of one read, written or compared in an SRAM or CAM is 1.
inline constexpr std::uint64_t memory_bit_energy = 130;

/// Bits of addresses that hardware tells apart, where nothing else is said.
inline constexpr unsigned usual_address_bits = 48;

/// Bits that tell so many values apart: 0 for one value.
unsigned bits_for(std::uint64_t values);

struct HardwareCost {
    std::uint64_t counter_bits = 0;
    std::uint64_t tag_bits = 0;       ///< keys and valid bits
    std::uint64_t order_bits = 0;     ///< of the eviction policy
    std::uint64_t register_bits = 0;  ///< switch, masks, filters, ring base, size, head, tail
    std::uint64_t comparators = 0;    ///< of tags, order and filters
    std::uint64_t comparator_bits = 0;
    std::uint64_t area = 0;            ///< transistors of storage and comparators
    std::uint64_t event_energy = 0;    ///< of an event that finds its counter
    std::uint64_t swapout_energy = 0;  ///< of a record, in addition

    std::uint64_t bits() const { return counter_bits + tag_bits + order_bits + register_bits; }
    /// Mean energy of an event; event_energy where there are none.
    double energy_per_event(std::uint64_t events, std::uint64_t swapouts) const;

    friend bool operator==(const HardwareCost&, const HardwareCost&) = default;
};

/// The sizes that all parts of the sum are made of.
struct CounterShape {
    std::uint64_t counters, ways, sets;
    std::uint64_t width;
    std::uint64_t key_bits;  ///< stored per counter; of one bound where granularity is dynamic
    std::uint64_t age_bits;  ///< that tell the counters of a set apart
    bool associative, dynamic;
};

/// The cost of one copy of a monitor. Fully associative: tags in a CAM, counts in an SRAM; set-associative: both in an
/// SRAM, a comparator per way; dynamic granularity: two bounds with magnitude comparators per counter. (Ours; the
/// structures are those of Schulz et al. 2002, sections 3.1 and 3.2.) Throws SpecError where the spec contradicts
/// itself, and std::invalid_argument where `address_bits` is not 32 to 64.
HardwareCost hardware_cost(const MonitorSpec& spec, unsigned address_bits = usual_address_bits);

}  // namespace cachetally

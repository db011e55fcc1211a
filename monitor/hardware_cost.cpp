// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/hardware_cost.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "monitor/counter_array.hpp"

namespace cachetally {
namespace {

CounterShape shape_of(const MonitorSpec& spec, unsigned address_bits) {
    CounterShape shape{};
    shape.counters = spec.counters;
    shape.ways = spec.ways == 0 ? spec.counters : spec.ways;
    shape.sets = shape.counters / shape.ways;
    shape.width = spec.width;
    shape.associative = shape.sets == 1;
    shape.dynamic = spec.is_dynamic();
    const unsigned unit_bits = address_bits - log2_exact(spec.unit());
    const std::uint64_t last_unit = ~std::uint64_t{0} >> (64 - unit_bits);
    const std::uint64_t last_key = shape.dynamic ? last_unit : last_unit / spec.units_per_key();
    shape.key_bits = static_cast<std::uint64_t>(std::bit_width(last_key / shape.sets));
    shape.age_bits = bits_for(shape.ways);
    return shape;
}

void add_array(HardwareCost& cost, const CounterShape& shape) {
    const std::uint64_t bounds = shape.dynamic ? 2 : 1;
    const std::uint64_t searched = shape.associative ? shape.counters : shape.ways;
    const std::uint64_t compared = searched * bounds * shape.key_bits;
    const std::uint64_t stored = bounds * shape.key_bits;
    cost.counter_bits = shape.counters * shape.width;
    cost.tag_bits = shape.counters * (stored + 1);
    cost.comparators += searched * bounds;
    cost.comparator_bits += compared;
    cost.area += (cost.counter_bits + cost.tag_bits) * transistors::sram_bit +
                 compared * (shape.dynamic ? transistors::magnitude_bit : transistors::equality_bit);
    const std::uint64_t read = shape.associative ? 0 : shape.ways * (stored + 1);
    cost.event_energy += read + compared + 2 * shape.width;
    cost.swapout_energy += stored + shape.width + stored + 1 + shape.width;
}

std::uint64_t ring_bits(const RingSpec& ring, unsigned address_bits) {
    const std::uint64_t place = bits_for(ring.capacity), size = bits_for(ring.capacity + 1);
    std::uint64_t bits = address_bits + size + 2 * place;
    if (ring.drain == RingSpec::Drain::watermark) bits += size;
    if (ring.drain == RingSpec::Drain::periodic) bits += 2 * bits_for(ring.period + 1);  // the period and its clock
    if (ring.overflow == RingSpec::Overflow::drop) bits += 64;                           // events lost
    return bits;
}

void add_registers(HardwareCost& cost, const MonitorSpec& spec, unsigned address_bits) {
    constexpr std::uint64_t group_bits = 12, core_bits = 8;
    const bool mask = spec.granularity.mode == Granularity::Mode::mask;
    const std::uint64_t bounds = 2 * spec.ranges.size(), cores = spec.cores.size();
    cost.register_bits = 1 + event_kind_count + (mask ? address_bits : group_bits) + bounds * address_bits +
                         cores * core_bits + ring_bits(spec.ring, address_bits);
    cost.comparators += bounds + cores;
    cost.comparator_bits += bounds * address_bits + cores * core_bits;
    cost.area += cost.register_bits * transistors::register_bit + bounds * address_bits * transistors::magnitude_bit +
                 cores * core_bits * transistors::equality_bit;
    cost.event_energy += bounds * address_bits + cores * core_bits;
    cost.swapout_energy += bits_for(spec.ring.capacity) + std::uint64_t{spec.ring.record} * 8 * memory_bit_energy;
}

}  // namespace

unsigned bits_for(std::uint64_t values) { return values < 2 ? 0 : static_cast<unsigned>(std::bit_width(values - 1)); }

double HardwareCost::energy_per_event(std::uint64_t events, std::uint64_t swapouts) const {
    const double records = events == 0 ? 0.0 : static_cast<double>(swapouts) / static_cast<double>(events);
    return static_cast<double>(event_energy) + records * static_cast<double>(swapout_energy);
}

HardwareCost hardware_cost(const MonitorSpec& spec, unsigned address_bits) {
    validate(spec);
    if (address_bits < 32 || address_bits > 64)
        throw std::invalid_argument("addresses of " + std::to_string(address_bits) + " bits; write 32 to 64");
    const CounterShape shape = shape_of(spec, address_bits);
    HardwareCost cost;
    add_array(cost, shape);
    row_of(spec.eviction).add_cost(cost, shape);
    cost.area += cost.order_bits * (shape.associative ? transistors::register_bit : transistors::sram_bit);
    add_registers(cost, spec, address_bits);
    return cost;
}

}  // namespace cachetally

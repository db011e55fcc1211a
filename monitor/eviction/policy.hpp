// SPDX-License-Identifier: BSD-3-Clause
// EvictionPolicy: what a file of this folder provides, and when which of its functions is called.
#pragma once

#include <concepts>
#include <cstdint>

#include "base/random.hpp"
#include "monitor/hardware_cost.hpp"

namespace cachetally {

/// The order of the numbered counters (slots) of one set, or of all windows. Constructed with their number and the
/// generator of the monitor, which all sets share. Free slots are taken in ascending order.
/// - inserted(slot): the counter got a key.
/// - used(slot): its key was met again. Events that follow each other for one key come as one: what counts events looks
///   at `counts`.
/// - victim(counts): all slots are taken, and one must be swapped out; inserted() of it follows. `counts` are those of
/// all
///   slots. It may change the state.
/// - reset(): all are free again (a barrier, or the end).
/// - clears_all: a full set is swapped out whole; victim() is not asked.
/// - add_cost(): what it takes in silicon (docs/cost.md). Bits of order_bits are priced by the caller.
template <class Order>
concept EvictionPolicy = std::constructible_from<Order, std::uint32_t, Random*> &&
    requires(Order order, std::uint32_t slot, const std::uint64_t* counts, HardwareCost& cost,
             const CounterShape& shape) {
    { Order::clears_all } -> std::convertible_to<bool>;
    order.inserted(slot);
    order.used(slot);
    { order.victim(counts) } -> std::same_as<std::uint32_t>;
    order.reset();
    Order::add_cost(cost, shape);
};

/// Ages of all counters of a set, compared with that of the counter at hand.
inline void add_ages(HardwareCost& cost, const CounterShape& shape) {
    cost.order_bits += shape.counters * shape.age_bits;
    cost.comparators += shape.ways;
    cost.comparator_bits += shape.ways * shape.age_bits;
    cost.area += shape.ways * shape.age_bits * transistors::magnitude_bit;
}

}  // namespace cachetally

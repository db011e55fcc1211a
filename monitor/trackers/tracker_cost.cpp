// SPDX-License-Identifier: BSD-3-Clause
// What trackers take in hardware, trackers of a given size, and trackers of a given traffic.
#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "monitor/hardware_cost.hpp"
#include "monitor/trackers/tracker_listener.hpp"

namespace cachetally {
namespace {

/// Bits of the keys of a monitor's groups, without those that choose a set.
std::uint64_t tracker_key_bits(const MonitorSpec& base) {
    const unsigned unit_bits = usual_address_bits - log2_exact(base.unit());
    return static_cast<std::uint64_t>(std::bit_width((~std::uint64_t{0} >> (64 - unit_bits)) / base.units_per_key()));
}

/// Switch, kinds, group, filters and ring are the same as the monitor's.
TrackerCost shared_cost(const MonitorSpec& base) {
    const HardwareCost monitor = hardware_cost(base);
    const std::uint64_t filters = 2 * base.ranges.size() + base.cores.size();
    return {monitor.register_bits, filters, monitor.register_bits * transistors::register_bit};
}

void add_registers(TrackerCost& cost, std::uint64_t bits) {
    cost.bits += bits;
    cost.area += bits * transistors::register_bit;
}

/// Counters with keys in a CAM; the smallest is found by comparing them in pairs.
void add_table(TrackerCost& cost, std::uint64_t counters, std::uint64_t key_bits, std::uint64_t width) {
    cost.bits += counters * (key_bits + 1 + width);
    cost.comparators += counters + counters - 1;
    cost.area += counters * (key_bits + 1 + width) * transistors::sram_bit +
                 counters * key_bits * transistors::equality_bit + (counters - 1) * width * transistors::magnitude_bit;
}

}  // namespace

TrackerCost tracker_cost(const TrackerSpec& spec, const MonitorSpec& base) {
    validate(spec);
    TrackerCost cost = shared_cost(base);
    const std::uint64_t key_bits = tracker_key_bits(base), random_bits = spec.random ? 64 : 0;
    if (spec.kind == TrackerKind::sampling) {
        add_registers(cost, 2 * bits_for(spec.period + 1) + random_bits + usual_address_bits);
        return cost;
    }
    add_table(cost, spec.counters, key_bits, spec.width);
    add_registers(cost, 2 * bits_for(spec.epoch + 1));
    if (spec.kind == TrackerKind::count_min) {
        const std::uint64_t sketch_bits = std::uint64_t{spec.rows} * spec.columns * spec.width;
        cost.bits += sketch_bits;
        cost.area += sketch_bits * transistors::sram_bit +
                     (spec.rows - 1) * std::uint64_t{spec.width} * transistors::magnitude_bit;
        cost.comparators += spec.rows - 1;
        add_registers(cost, std::uint64_t{spec.rows} * 64);  // multipliers of the hashes
    }
    if (spec.kind == TrackerKind::hotness) {
        const std::uint64_t list_bits = std::uint64_t{spec.list} * spec.record() * 8;
        cost.bits += list_bits;
        cost.area += list_bits * transistors::sram_bit + spec.width * transistors::magnitude_bit;
        cost.comparators += 1;  // with the threshold
        const std::uint64_t blocks = spec.blocks.empty() ? 0 : std::ranges::max(spec.blocks) + std::uint64_t{1};
        add_registers(cost, spec.width + 2 * bits_for(std::uint64_t{spec.down_sampling} + 1) + random_bits + blocks);
    }
    return cost;
}

namespace {

/// Smaller tables beside the counters, where one counter would not have room.
void make_room(std::uint32_t TrackerSpec::*entries, TrackerSpec& spec, std::uint64_t bits, const MonitorSpec& base) {
    spec.counters = 1;
    while (spec.*entries > 1 && tracker_cost(spec, base).bits > bits) spec.*entries /= 2;
}

/// The most counters with which the tracker takes at most so many bits.
void fill_up(TrackerSpec& spec, std::uint64_t bits, const MonitorSpec& base) {
    spec.counters = 1;
    const std::uint64_t least = tracker_cost(spec, base).bits;
    const std::uint64_t each = tracker_key_bits(base) + 1 + spec.width;
    if (bits > least)
        spec.counters +=
            static_cast<std::uint32_t>(std::min<std::uint64_t>((bits - least) / each, most_tracker_entries - 1));
}

std::uint64_t events_per(double bytes, double bytes_per_event) {
    const double events = bytes_per_event <= 0 ? 1e12 : std::round(bytes / bytes_per_event);
    return static_cast<std::uint64_t>(std::clamp(events, 1.0, 1e9));
}

}  // namespace

TrackerSpec tracker_of_size(TrackerKind kind, std::uint64_t bits, double bytes_per_event, const MonitorSpec& base) {
    TrackerSpec spec;
    spec.kind = kind;
    if (kind == TrackerKind::sampling) {
        spec.period = events_per(spec.record(), bytes_per_event);
        return spec;
    }
    spec.epoch = 1'000'000'000;            // as many bits as the longest takes
    if (kind == TrackerKind::count_min) {  // half for the sketch
        spec.columns = static_cast<std::uint32_t>(std::bit_floor(
            std::clamp<std::uint64_t>(bits / 2 / (std::uint64_t{spec.rows} * spec.width), 1, most_tracker_entries)));
        make_room(&TrackerSpec::columns, spec, bits, base);
    }
    if (kind == TrackerKind::hotness) {  // a fourth for the hot list
        spec.list = static_cast<std::uint32_t>(
            std::clamp<std::uint64_t>(bits / 4 / (spec.record() * 8), 1, most_tracker_entries));
        make_room(&TrackerSpec::list, spec, bits, base);
    }
    fill_up(spec, bits, base);
    spec.epoch = events_per(static_cast<double>(spec.counters) * spec.record(), bytes_per_event);
    if (kind == TrackerKind::hotness) spec.threshold = 1;
    return spec;
}

namespace {

constexpr double near_traffic = 0.1;
constexpr int most_runs = 12;
constexpr double longest_epoch = 1e9;  // as tracker_of_size has room for

/// More is better; what sends too much comes last.
std::tuple<bool, double> nearness(double share) { return {share <= 1, share <= 1 ? share : -share}; }

}  // namespace

bool is_near_traffic(double bytes_per_event, double asked) {
    return std::abs(bytes_per_event - asked) <= near_traffic * asked;
}

EpochSearch::EpochSearch(const TrackerSpec& first, double asked_bytes_per_event)
    : asked_(asked_bytes_per_event), next_(first), best_(first) {}

void EpochSearch::record(TrackerResult result) {
    const double share = asked_ <= 0 ? 1.0 : result.bytes_per_event() / asked_;
    if (runs_ == 0 || nearness(share) > nearness(share_)) {
        share_ = share;
        best_ = next_;
        result_ = std::move(result);
    }
    ++runs_;
    (share > 1 ? too_short_ : long_enough_) = next_.epoch;
    const bool is_good = share <= 1 && share >= 1 - near_traffic;
    const std::uint64_t epoch = next_.epoch == 0 ? 0 : epoch_after(share);
    done_ = is_good || runs_ == most_runs || epoch == next_.epoch || epoch == too_short_ || epoch == long_enough_;
    next_.epoch = epoch;
}

/// Traffic goes with 1 / epoch, more or less. Steps to shorter epochs are small: those of most traffic may be few.
std::uint64_t EpochSearch::epoch_after(double share) const {
    constexpr double aim = 1 - near_traffic / 2, step_down = 0.5, step_up = 10;
    const auto least = static_cast<double>(next_.kind == TrackerKind::hotness ? next_.threshold : 1U);
    const auto low = static_cast<double>(too_short_), high = static_cast<double>(long_enough_);
    double epoch = static_cast<double>(next_.epoch) * std::clamp(share / aim, step_down, step_up);
    if (low != 0 && high != 0 && (epoch <= low || epoch >= high)) epoch = std::sqrt(low * high);
    const auto next =
        static_cast<std::uint64_t>(std::round(std::clamp(epoch, std::min(least, longest_epoch), longest_epoch)));
    // Short epochs are far apart: the one beside may send just as much as is asked for.
    if (next == next_.epoch && share < 1 && static_cast<double>(next) > least) return next - 1;
    return next;
}

std::vector<EpochSearch> searches_of(const TrackerSpec& spec, double asked_bytes_per_event) {
    std::vector<EpochSearch> searches{{spec, asked_bytes_per_event}};
    if (spec.kind != TrackerKind::hotness || asked_bytes_per_event <= 0) return searches;
    TrackerSpec choice = spec;
    constexpr std::uint32_t highest = 1U << 20;
    while (choice.threshold < highest && choice.threshold * 2 * asked_bytes_per_event <= spec.record()) {
        choice.threshold *= 2;
        searches.emplace_back(choice, asked_bytes_per_event);
    }
    return searches;
}

const EpochSearch& best_of(const std::vector<EpochSearch>& searches) {
    const auto merit = [](const EpochSearch& search) {
        const bool is_near = is_near_traffic(search.share(), 1);
        // What one counted event stands for is not reported.
        const std::uint64_t reported = search.result().histogram.total() / search.spec().down_sampling;
        return std::tuple(is_near, is_near ? reported : 0, nearness(search.share()));
    };
    return *std::ranges::max_element(searches, {}, merit);
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "probes/dongarra/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "probes/dongarra/geometry.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t smallest_drawn = 1024, largest_drawn = std::uint64_t{8} << 20;  ///< bytes: Figures 1 to 3
constexpr unsigned drawn_by_stride = 2;                                                 ///< levels: Figures 4 to 6
constexpr std::size_t loads_of_point = 2048;

/// One microbenchmark with loads of one kind.
struct Drawn {
    std::string title, x_name, x_unit;
    std::vector<double> x;
    std::vector<Measurement> points;
};

/// Two laps of a large array are enough for LRU to settle; of a small one more are made, as of the counts elsewhere.
Measurement point(Meter& meter, const Arena& arena, const Offsets& offsets, bool floating_point) {
    const unsigned laps = laps_of(loads_of_point, offsets, 1, 64);
    return meter.run(arena, {offsets, floating_point}, {std::max(2U, laps), laps});
}

Curve curve_of_events(const Drawn& drawn, const std::string& name, const std::string& unit) {
    return {
        .name = drawn.title + " " + name, .x_name = drawn.x_name, .x_unit = drawn.x_unit, .x = drawn.x, .unit = unit};
}

/// `level`: from 0.
void add_misses(TestReport& report, const Drawn& drawn, bool tlb, unsigned level) {
    Curve curve = curve_of_events(drawn, fmt::format("{}{}_misses", tlb ? "TLB" : "L", level + 1), "misses");
    for (const Measurement& each : drawn.points)
        curve.cycles.push_back((tlb ? each.tlb_misses : each.cache_misses)[level]);
    if (std::ranges::max(curve.cycles) > 0) report.curves.push_back(std::move(curve));
}

void add_cycles(TestReport& report, const Drawn& drawn) {
    Curve curve = curve_of_events(drawn, "cycles", "cycles");
    for (const Measurement& each : drawn.points) curve.cycles.push_back(each.cycles);
    report.curves.push_back(std::move(curve));
}

const char* name_of_kind(bool floating_point) { return floating_point ? "fp" : "int"; }

/// Figures 1 to 3.
void draw_sizes(Meter& meter, TestReport& report, bool floating_point) {
    const Arena arena = meter.arena_up_to(largest_drawn, meter.page());
    Drawn drawn{fmt::format("size {}", name_of_kind(floating_point)), "array", "bytes", {}, {}};
    for (std::uint64_t bytes = smallest_drawn; bytes <= arena.bytes; bytes *= 2) {
        drawn.x.push_back(static_cast<double>(bytes));
        drawn.points.push_back(point(meter, arena, strided_string(bytes, array_element), floating_point));
    }
    add_cycles(report, drawn);
    for (unsigned i = 0; i < meter.capabilities().cache_events; ++i) add_misses(report, drawn, false, i);
    for (unsigned i = 0; i < meter.capabilities().tlb_events; ++i) add_misses(report, drawn, true, i);
    meter.target().release(arena);
}

double found_number(const TestReport& report, const std::string& level, const std::string& parameter) {
    const Finding* found = report.find(level, parameter);
    return found == nullptr ? 0 : found->value->number;
}

/// The power of two of at least twice what the level and its TLB hold; 0 = not known.
std::uint64_t array_above(const TestReport& report, unsigned level) {
    const double capacity = found_number(report, fmt::format("L{}", level + 1), "capacity");
    const std::string tlb = fmt::format("TLB{}", level + 1);
    const double reach = found_number(report, tlb, "entries") * found_number(report, tlb, "page");
    return capacity == 0 ? 0 : std::bit_ceil(static_cast<std::uint64_t>(2 * std::max(capacity, reach)));
}

/// Figures 4 to 6. `level`: from 0.
void draw_strides(Meter& meter, TestReport& report, unsigned level, bool floating_point) {
    const std::uint64_t array = array_above(report, level);
    if (array == 0 || array > meter.capabilities().largest_arena) return;
    const Arena arena = meter.target().make_arena(array, meter.page());
    const std::string title = fmt::format("block L{} {}", level + 1, name_of_kind(floating_point));
    Drawn drawn{title, "stride", "bytes per load", {}, {}};
    for (std::uint64_t stride = array_element; stride <= array; stride *= 2) {
        drawn.x.push_back(static_cast<double>(stride));
        drawn.points.push_back(point(meter, arena, strided_string(array, stride), floating_point));
    }
    meter.target().release(arena);
    const auto misses = [level](const Measurement& each) { return each.cache_misses[level] > 0; };
    if (std::ranges::none_of(drawn.points, misses)) return;  // loads pass by the level
    add_cycles(report, drawn);
    add_misses(report, drawn, false, level);
    if (level < meter.capabilities().tlb_events) add_misses(report, drawn, true, level);
}

}  // namespace

void add_event_curves(Meter& meter, TestReport& report) {
    const Capabilities& can = meter.capabilities();
    for (const bool floating_point : {false, true}) {
        if (floating_point && !can.floating_point) continue;
        draw_sizes(meter, report, floating_point);
        for (unsigned level = 0; level < std::min(drawn_by_stride, can.cache_events); ++level)
            draw_strides(meter, report, level, floating_point);
    }
}

}  // namespace cachetally

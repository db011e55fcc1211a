// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cmath>

#include "probes/tests.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t line = 64, smallest = 1 << 10;
constexpr std::uint64_t most_latency = std::uint64_t{64} << 20, most_ordinary = std::uint64_t{16} << 20;
constexpr std::uint64_t most_pages = 8192;
constexpr unsigned points_per_octave = 4, placements = 3;

/// From `first` to `last`, in equal ratios.
std::vector<std::uint64_t> sizes_between(std::uint64_t first, std::uint64_t last) {
    std::vector<std::uint64_t> sizes;
    const auto points = static_cast<unsigned>(std::lround(std::log2(last / first) * points_per_octave));
    for (unsigned i = 0; i <= points; ++i) {
        const double exact = static_cast<double>(first) * std::exp2(static_cast<double>(i) / points_per_octave);
        const auto size = static_cast<std::uint64_t>(std::llround(exact));
        if (sizes.empty() || size > sizes.back()) sizes.push_back(size);
    }
    return sizes;
}

double time_of_string(Meter& meter, const Arena& arena, const Offsets& string) {
    const unsigned laps = laps_of(4096, string, 1, 64);
    return meter.time(arena, string, laps + 1, laps);
}

void add_latency(Meter& meter, Curve& curve) {
    const Arena arena = meter.arena_up_to(most_latency, meter.large_page());
    for (const std::uint64_t exact : sizes_between(smallest, std::bit_floor(arena.bytes))) {
        const std::uint64_t bytes = exact / line * line;
        curve.x.push_back(static_cast<double>(bytes));
        curve.cycles.push_back(time_of_string(meter, arena, random_string(bytes, line, meter.seed())));
    }
    meter.target().release(arena);
}

/// Where pages lie decides which of them share sets: the same on several placements.
void add_placements(Meter& meter, Curve& curve, std::uint64_t most, std::uint64_t unit,
                    const std::function<Offsets(std::uint64_t)>& string) {
    std::vector<Arena> arenas;
    for (unsigned i = 0; i < placements; ++i) arenas.push_back(meter.arena_up_to(most, meter.page()));
    for (const std::uint64_t size :
         sizes_between(std::max<std::uint64_t>(1, smallest / unit), std::bit_floor(arenas.front().bytes / unit))) {
        std::vector<double> cycles;
        for (const Arena& arena : arenas) cycles.push_back(time_of_string(meter, arena, string(size)));
        const Quantiles spread = quantiles_of(std::move(cycles));
        curve.x.push_back(static_cast<double>(size));
        curve.cycles.push_back(spread.median);
        curve.low.push_back(spread.least);
        curve.high.push_back(spread.most);
    }
    for (const Arena& arena : arenas) meter.target().release(arena);
}

}  // namespace

TestReport response_robust(Meter& meter) {
    TestReport report;
    const std::uint64_t page = meter.page(), seed = meter.seed();
    report.curves = {{.name = "latency", .x_name = "span", .x_unit = "bytes"},
                     {.name = "latency on ordinary pages", .x_name = "span", .x_unit = "bytes"},
                     {.name = "translation", .x_name = "pages", .x_unit = "pages"}};
    try {
        add_latency(meter, report.curves[0]);
        add_placements(meter, report.curves[1], most_ordinary, 1,
                       [&](std::uint64_t bytes) { return random_string(bytes / line * line, line, seed); });
        add_placements(meter, report.curves[2], most_pages * page, page,
                       [&](std::uint64_t pages) { return tlb_string(1, pages * page, page, line, seed); });
    } catch (const BudgetSpent& spent) {  // points that are complete are kept
        report.refuse("", "response", spent.what());
    }
    std::erase_if(report.curves, [](const Curve& curve) { return curve.cycles.empty(); });
    for (Curve& curve : report.curves) {
        curve.x.resize(curve.cycles.size());
        report.decisions.push_back(fmt::format("{}: {} sizes, {:.2f} to {:.2f} cycles per load", curve.name,
                                               curve.x.size(), std::ranges::min(curve.cycles),
                                               std::ranges::max(curve.cycles)));
    }
    return report;
}

}  // namespace cachetally

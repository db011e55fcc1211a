// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/response.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "probes/tests.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t line = 64;
constexpr unsigned points_per_octave = 4, placements = 3;

Offsets random_lines(std::uint64_t bytes, std::uint64_t, std::uint64_t seed) {
    return random_string(bytes / line * line, line, seed);
}

Offsets line_of_each_page(std::uint64_t pages, std::uint64_t page, std::uint64_t seed) {
    return tlb_string(1, pages * page, page, line, seed);
}

std::uint64_t as_many_bytes(std::uint64_t bytes, std::uint64_t) { return bytes; }
std::uint64_t bytes_of_pages(std::uint64_t pages, std::uint64_t page) { return pages * page; }

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

/// Where pages lie decides which of them share sets: the same on several placements.
void add_points(Meter& meter, const ResponseKind& kind, Curve& curve) {
    const std::uint64_t page = kind.large_pages ? meter.large_page() : meter.page();
    std::uint64_t most = kind.most;
    while (most > kind.least && kind.arena_bytes(most, page) > meter.capabilities().largest_arena) most /= 2;
    std::vector<Arena> arenas;
    for (unsigned i = 0; i < (kind.large_pages ? 1 : placements); ++i)
        arenas.push_back(meter.arena_up_to(kind.arena_bytes(most, page), page));
    for (const std::uint64_t size : sizes_between(kind.least, most)) {
        const Offsets string = kind.string(size, page, meter.seed());
        const unsigned laps = response_laps(string);
        std::vector<double> cycles;
        for (const Arena& arena : arenas) cycles.push_back(meter.time(arena, string, laps + 1, laps));
        const Quantiles spread = quantiles_of(std::move(cycles));
        curve.x.push_back(static_cast<double>(size));
        curve.cycles.push_back(spread.median);
        if (kind.large_pages) continue;
        curve.low.push_back(spread.least);
        curve.high.push_back(spread.most);
    }
    for (const Arena& arena : arenas) meter.target().release(arena);
}

}  // namespace

std::span<const ResponseKind> response_kinds() {
    static const std::vector<ResponseKind> kinds{
        {"latency", "span", "bytes", true, std::uint64_t{64} << 20, 1 << 10, random_lines, as_many_bytes},
        {"latency on ordinary pages", "span", "bytes", false, std::uint64_t{16} << 20, 1 << 10, random_lines,
         as_many_bytes},
        {"translation", "pages", "pages", false, 8192, 1, line_of_each_page, bytes_of_pages}};
    return kinds;
}

unsigned response_laps(const Offsets& string) { return laps_of(4096, string, 1, 64); }

TestReport response_robust(Meter& meter) {
    TestReport report;
    for (const ResponseKind& kind : response_kinds()) {
        Curve curve{.name = kind.name, .x_name = kind.x_name, .x_unit = kind.x_unit};
        bool spent = false;
        try {
            add_points(meter, kind, curve);
        } catch (const BudgetSpent& error) {  // points that are complete are kept
            report.refuse("", "response", error.what());
            spent = true;
        }
        if (!curve.cycles.empty()) {
            report.decisions.push_back(fmt::format("{}: {} sizes, {:.2f} to {:.2f} cycles per load", curve.name,
                                                   curve.x.size(), std::ranges::min(curve.cycles),
                                                   std::ranges::max(curve.cycles)));
            report.curves.push_back(std::move(curve));
        }
        if (spent) break;
    }
    return report;
}

}  // namespace cachetally

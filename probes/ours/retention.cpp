// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/retention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "base/units.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;  ///< of a span
constexpr std::uint64_t least_pages = 16;                      ///< of a span
constexpr double growth = 1.26;                                ///< from span to span
constexpr double nearest = 8;                    ///< times L1: levels that end within the first span are not seen
constexpr std::uint64_t most_loads_of_page = 8;  ///< of the dense probe
constexpr unsigned fewer = 4;                    ///< times, of the sparse one
/// A part visits one of so many pages, and no more than these.
constexpr std::uint64_t share_of_part = 4, most_pages_of_part = 1024;
constexpr std::uint64_t loads_of_point = 600'000, most_samples = 8, least_placements = 2, most_placements = 64;
constexpr double from_memory = 0.85;   ///< of a time of lines that nobody has used
constexpr unsigned memory_points = 3;  ///< that go up as memory does
constexpr double enough = 0.012;       ///< error of a fit
constexpr double most_error = 0.035;   ///< of one that is taken for right
constexpr double latency_off = 0.03, kib = 1024;
constexpr double widest = 0.1;          ///< share of a capacity that an interval may be
constexpr double beyond_end = 1.6;      ///< spans that show a capacity reach so far beyond it
constexpr double least_distance = 2.5;  ///< of levels: a level of few colours may look like two nearer ones

class Retention {
public:
    Retention(Meter& meter, const L1Geometry& l1)
        : meter_(meter), l1_(l1.capacity), line_(l1.line), page_(meter.page()) {}

    double page() const { return static_cast<double>(page_); }

    /// Of the first span: twice L1, in pages enough to draw from.
    std::uint64_t first_pages() const { return std::max(2 * l1_ / page_, least_pages); }
    std::uint64_t most_pages() const { return std::min(meter_.capabilities().largest_arena, most_bytes) / page_; }

    /// Share of all lines that a part has; what the sparse probe has less is taken for translation, and adds to it.
    double part(std::uint64_t pages) const {
        const std::uint64_t loads = pages_of_part(pages) * loads_of_page(1);
        const double share = static_cast<double>(loads * line_) / static_cast<double>(pages * page_);
        return share * (1 + 1.0 / fewer);
    }

    /// Cycles of a load of any of the lines of `pages` pages, on some placements; what translation costs is taken off:
    /// it is shared by all loads of a page.
    double cycles(std::uint64_t pages) {
        double sum = 0;
        const std::uint64_t placements = placements_of(pages);
        for (std::uint64_t i = 0; i < placements; ++i) {
            const Arena arena = meter_.target().make_arena(pages * page_, page_);
            const std::uint64_t seed = splitmix64(meter_.seed() ^ splitmix64(pages * most_placements + i));
            const Offsets prime = random_string(pages * page_, line_, seed);
            const double dense = probe(arena, prime, 1, seed + 1), sparse = probe(arena, prime, fewer, seed + 2);
            sum += dense - std::max(0.0, sparse - dense) / (fewer - 1);
            meter_.target().release(arena);
        }
        return sum / static_cast<double>(placements);
    }

    /// Cycles of a load of lines that nobody has used, page by page.
    double first_use(std::uint64_t pages) {
        const Arena arena = meter_.target().make_arena(pages * page_, page_);
        const Offsets lines = page_local_string(pages * page_, page_, page_ / loads_of_page(1), meter_.seed());
        const double cycles = meter_.run(arena, {lines}, {0, 1}).cycles;
        meter_.target().release(arena);
        return cycles;
    }

private:
    /// Few pages are few colours, of which one placement says little.
    std::uint64_t placements_of(std::uint64_t pages) const {
        return std::clamp(loads_of_point / 2 / (pages * page_ / line_), least_placements, most_placements);
    }
    std::uint64_t loads_of_page(unsigned by) const {
        return std::max<std::uint64_t>(1, std::min(page_ / line_, most_loads_of_page) / by);
    }
    static std::uint64_t pages_of_part(std::uint64_t pages) {
        return std::min(pages / share_of_part, most_pages_of_part);
    }

    /// Both probes visit as many pages in a part, so that a TLB holds as many of them: one makes fewer loads in each.
    double probe(const Arena& arena, const Offsets& prime, unsigned by, std::uint64_t seed) {
        const std::uint64_t pages = arena.bytes / page_, together = pages_of_part(pages);
        const auto parts = static_cast<unsigned>((pages + together - 1) / together);
        const std::uint64_t laps = loads_of_point / placements_of(pages) / 2 / prime.size();
        const auto used = static_cast<unsigned>(std::clamp<std::uint64_t>(laps, 1, parts));
        const std::uint64_t samples = std::clamp<std::uint64_t>(laps / used, 1, most_samples);
        double cycles = 0;
        for (std::uint64_t i = 0; i < samples; ++i) {
            const Offsets lines =
                moved(page_sample_string(arena.bytes, page_, line_, loads_of_page(by), seed + (i << 8)), line_ / 2);
            cycles += meter_.prime_and_probe(arena, {{prime}, {lines}, parts, used}, {0, 1}).cycles;
        }
        return cycles / static_cast<double>(samples);
    }

    Meter& meter_;
    std::uint64_t l1_, line_, page_;
};

/// Whether, at the last points, what all lines take together grows by what memory takes for each more.
bool rises_as(double memory, std::span<const RetentionPoint> points) {
    if (points.size() <= memory_points) return false;
    for (std::size_t i = points.size() - memory_points; i < points.size(); ++i) {
        const RetentionPoint &from = points[i - 1], &to = points[i];
        const double each = (to.cycles * to.bytes - from.cycles * from.bytes) / (to.bytes - from.bytes);
        if (each < from_memory * memory) return false;
    }
    return true;
}

struct Sweep {
    std::vector<RetentionPoint> points;
    bool memory = false;  ///< lines of the last spans come from there
};

Sweep sweep(Retention& retention, TestReport& report) {
    Sweep made;
    Curve curve{.name = "times on ordinary pages", .x_name = "span", .x_unit = "bytes"};
    const double page = retention.page();
    auto next = static_cast<double>(retention.first_pages());
    while (next <= static_cast<double>(retention.most_pages()) && !made.memory) {
        const std::uint64_t pages = static_cast<std::uint64_t>(next) / share_of_part * share_of_part;  // whole parts
        const double bytes = static_cast<double>(pages) * page, cycles = retention.cycles(pages);
        made.points.push_back({bytes, cycles, retention.part(pages)});
        curve.x.push_back(bytes);
        curve.cycles.push_back(cycles);
        made.memory = rises_as(retention.first_use(pages), made.points);
        next = std::max(next * growth, next + share_of_part);
    }
    report.curves.push_back(std::move(curve));
    return made;
}

std::string in_words(const RetentionFit& fit) {
    std::string text =
        fmt::format("{} levels below L1 explain the times, but for {:.2f} %:", fit.levels.size(), 100 * fit.error);
    for (const RetentionLevel& level : fit.levels)
        text += fmt::format(" {} ({} .. {}), ways {}, {:.1f} cycles;", format_size(std::llround(level.shape.capacity)),
                            format_size(std::llround(level.low)), format_size(std::llround(level.high)),
                            level.shape.ways, level.latency);
    return text;
}

/// Before it is decided whether its interval is too wide.
void to_whole_kib(RetentionLevel& level) {
    level.shape.capacity = std::round(level.shape.capacity / kib) * kib;
    level.low = std::floor(level.low / kib) * kib;
    level.high = std::ceil(level.high / kib) * kib;
}

constexpr char method[] = "shares of lines that stay after more were used, on pages that may lie anywhere";

/// Why a level, and so the number of those below, is not known; empty = it is. `last`: bytes of the last span.
std::string why_not(std::span<const RetentionLevel> levels, std::size_t number, double last) {
    const RetentionLevel& level = levels[number];
    const double capacity = level.shape.capacity;
    if (last < beyond_end * capacity) return "spans do not reach far enough beyond it";
    if (number + 1 < levels.size() && levels[number + 1].shape.capacity < least_distance * capacity)
        return fmt::format("a level of {} and one of {}, or one that pages fill unevenly",
                           format_size(std::llround(capacity)),
                           format_size(std::llround(levels[number + 1].shape.capacity)));
    if (level.high - level.low > widest * level.low)
        return fmt::format("between {} and {}: shares of lines that stay say no more",
                           format_size(std::llround(level.low)), format_size(std::llround(level.high)));
    return "";
}

}  // namespace

TestReport levels_by_retention(Meter& meter, const L1Geometry& l1) {
    Retention retention(meter, l1);
    TestReport report;
    if (static_cast<double>(retention.first_pages()) * retention.page() > nearest * static_cast<double>(l1.capacity))
        return refused(std::move(report), "", {"levels", "capacity"},
                       fmt::format("{} pages of {} are much larger than L1: levels between them are not seen",
                                   retention.first_pages(), format_size(meter.page())));
    const Sweep made = sweep(retention, report);
    auto fit = fit_retention(made.points, l1, retention.page(), enough);
    if (fit)
        for (RetentionLevel& level : fit->levels) to_whole_kib(level);
    if (fit) report.decisions.push_back(in_words(*fit));
    if (!fit || fit->error > most_error || fit->levels.empty())
        return refused(std::move(report), "", {"levels", "capacity"},
                       "no levels explain how many lines stay on pages that may lie anywhere");
    std::string why;
    for (std::size_t i = 0; i < fit->levels.size(); ++i) {
        const RetentionLevel& level = fit->levels[i];
        const std::string name = fmt::format("L{}", i + 2);
        if (why.empty()) why = why_not(fit->levels, i, made.points.back().bytes);
        if (!why.empty()) {
            report.refuse(name, {"capacity", "latency"}, why);
            continue;
        }
        report.answer(name, "capacity", level.shape.capacity, level.low, level.high, "bytes", method);
        report.answer(name, "latency", level.latency, level.latency * (1 - latency_off),
                      level.latency * (1 + latency_off), "cycles", method);
    }
    if (why.empty() && !made.memory) why = "the largest span does not come from memory alone";
    if (why.empty())
        report.answer("", "levels", fit->levels.size() + 1, "levels", method);
    else
        report.refuse("", "levels", why);
    return report;
}

}  // namespace cachetally

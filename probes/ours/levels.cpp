// SPDX-License-Identifier: BSD-3-Clause
#include "probes/tests.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "probes/analysis.hpp"
#include "probes/ours/level_edges.hpp"
#include "probes/ours/level_spans.hpp"
#include "probes/ours/resident_lines.hpp"
#include "probes/ours/retention.hpp"
#include "probes/ours/sets.hpp"
#include "probes/ours/sweep.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t longest_stride = 1024;
constexpr std::size_t least_plateau = 3;   ///< points
constexpr double uneven = 1.05;            ///< lines of others keep times from showing all of a level
constexpr double uneven_pages = 1.08;      ///< nor do several pages that lie anywhere and fill sets unevenly
constexpr double unlike_elsewhere = 0.04;  ///< share by which times differ where other pages fill sets otherwise
constexpr std::uint64_t least_page = 4096;
constexpr std::uint64_t most_pieces = 256;  ///< a first TLB may well hold fewer
constexpr double least_translation = 1;     ///< cycles per load
constexpr double most_lessened = 0.04;      ///< of a time by loads that L1 answers
constexpr double surely_early = 0.2;        ///< more than what sets and TLBs add to the time of lines far apart
constexpr double unseen_rise = 4;           ///< times the noise: the least rise, and the tolerance of times

const char unsure[] = "its capacity was not found: times may rise for another reason";
const char unsteady[] = "the same loads take longer at one time than at another: something else uses the machine";

/// Whether other pages make no difference to how a level overflows.
bool alike_elsewhere(SpanSweep& sweep, const LevelEdge& edge) {
    for (const std::uint64_t bytes : {edge.high / 100 * 103, edge.high / 100 * 115})
        if (sweep.differs_elsewhere(bytes, unlike_elsewhere)) return false;
    return true;
}

/// The first end of a level beyond which sets that pages fill unevenly may be taken for another level; null = none.
const LevelEdge* doubtful_edge(const std::vector<LevelEdge>& edges, SpanSweep& sweep, std::uint64_t page) {
    for (std::size_t i = 1; i + 1 < edges.size(); ++i)
        if (edges[i].low > page && edges[i + 1].low < 4 * edges[i].low && !alike_elsewhere(sweep, edges[i]))
            return &edges[i];
    return nullptr;
}

/// The capacity of a level that pages fill unevenly: packed, where there are pieces enough. `beyond`: cycles of the
/// next level, where they are sure.
void report_uneven(TestReport& report, const std::string& level, const LevelEdge& edge, std::optional<double> beyond,
                   SpanSweep& sweep) {
    const auto held = beyond ? packed_capacity(sweep, edge.low, edge.latency, *beyond) : std::nullopt;
    if (held) {
        const auto bytes = static_cast<double>(*held);
        report.answer(level, "capacity", bytes, bytes * 0.995, bytes * uneven, "bytes",
                      "pieces of pages, added while they fit");
        return;
    }
    report.refuse(level, "capacity",
                  "times begin to rise at {} bytes, but otherwise on other pages: these fill the sets unevenly",
                  edge.low);
}

/// A capacity to the byte, where the lines that meet in the sets of the level show it; else the interval remains.
void make_exact(Meter& meter, TestReport& report, unsigned level) {
    const std::string name = fmt::format("L{}", level);
    const auto capacity = std::ranges::find_if(report.findings, [&](const Finding& finding) {
        return finding.level == name && finding.parameter == "capacity" && finding.value;
    });
    if (capacity == report.findings.end()) return;
    const Finding* latency = report.find(name, "latency");
    const KnownLevel known{level, capacity->low, capacity->high, latency == nullptr ? 0 : latency->value->number};
    CongruentLines lines(meter, known, report.decisions);
    auto bytes = lines.capacity();
    // What slowed the machine down for a while is not there when it is asked again.
    if (bytes && meter.noise() > 0 && CongruentLines(meter, known, report.decisions).capacity() != bytes) bytes.reset();
    if (lines.beyond()) {
        report.findings.erase(capacity);
        return report.refuse(name, "capacity", "times rise at {:.0f} bytes, but more lines than that, far apart, stay",
                             known.high);
    }
    if (!bytes) return;
    capacity->value->number = capacity->low = capacity->high = static_cast<double>(*bytes);
    capacity->method += "; to the byte by lines that meet in its sets";
}

/// Why the number of levels that times show cannot be right; empty = it may be.
std::string contradiction(const Meter& meter, std::size_t levels) {
    const unsigned counted = meter.capabilities().exact_cache_events();
    if (counted == 0 || counted == levels) return "";
    return fmt::format("times show {} levels, but misses of {} are counted", levels, counted);
}

/// The first rise that may be that of a level of its own, as nothing is counted; null = none. What lies below it is of
/// unknown number.
const SmallRise* small_rise(const Meter& meter, const LevelEdges& found) {
    return meter.capabilities().exact_cache_events() > 0 || found.small.empty() ? nullptr : &found.small.front();
}

std::string in_words(const SmallRise& rise) {
    return fmt::format(
        "up to {} times rise from {:.2f} to {:.2f} cycles, too little for a level: two of nearly the same latency, or "
        "one; no misses are counted that would decide",
        format_size(rise.bytes), rise.from, rise.to);
}

/// With noise and no counts, a rise is sure to be the end of a level only where its capacity is found.
void refuse_unsure(Meter& meter, TestReport& report, std::size_t levels) {
    if (meter.noise() == 0 || meter.capabilities().exact_cache_events() > 0) return;
    for (std::size_t i = 2; i <= levels; ++i) {
        const std::string level = fmt::format("L{}", i);
        if (report.find(level, "capacity") != nullptr || report.find(level, "latency") == nullptr) continue;
        std::erase_if(report.findings, [&](const Finding& finding) { return finding.level == level && finding.value; });
        report.refuse(level, "latency", unsure);
    }
}

/// Whether something that was taken for a level may be none.
bool is_unsure(const TestReport& report) {
    return std::ranges::any_of(report.findings, [](const Finding& finding) { return finding.reason == unsure; });
}

/// Refuses the number of levels, the latency of memory, and what was said of levels below L`below`.
void refuse_levels(TestReport& report, const std::string& reason, std::size_t below) {
    std::erase_if(report.findings,
                  [&](const Finding& finding) { return finding.level > fmt::format("L{}", below) && finding.value; });
    report.refuse("memory", "latency", reason);
    report.refuse("", "levels", reason);
}

constexpr const char* busy =
    "loads wait for {} that is still busy with those before them: they take less beside loads that L1 answers";
constexpr const char* fetched_early = "lines far apart take longer: those near each other are fetched early";

bool is_fetched_early(SpanSweep& sweep, std::uint64_t bytes, double latency, double rise) {
    return sweep.stride() < longest_stride && sweep.time(bytes, longest_stride) > latency * (1 + rise);
}

/// The number of levels and the latency of memory.
void report_memory(Meter& meter, TestReport& report, const LevelEdges& found, SpanSweep& sweep,
                   const LevelEdge* doubtful) {
    const std::vector<LevelEdge>& edges = found.edges;
    const std::vector<SpanTime>& points = sweep.points();
    const SpanTime& last = points.back();
    const std::string contradicted = contradiction(meter, edges.size());
    if (!contradicted.empty() && edges.size() > meter.capabilities().exact_cache_events())
        return refuse_levels(report, contradicted, 1);  // whatever else is refused: one of them is none
    if (last.cycles > points[points.size() - 2].cycles * 1.03)
        return refuse_levels(report, fmt::format("times still rise at {}", format_size(last.bytes)), edges.size());
    if (!sweep.reaches_memory())
        return refuse_levels(report,
                             fmt::format("lines of {} take less than lines that nobody has used: a level holds them",
                                         format_size(last.bytes)),
                             edges.size());
    if (doubtful != nullptr)
        return refuse_levels(
            report,
            fmt::format(
                "beyond {} times depend on where pages lie, and rise again: a level or sets that are filled unevenly",
                format_size(doubtful->low)),
            static_cast<std::size_t>(doubtful - edges.data()) + 1);
    if (!contradicted.empty()) return refuse_levels(report, contradicted, 1);
    const std::size_t close = meter.capabilities().exact_cache_events() > 0 ? 0 : close_level(edges);
    const SmallRise* small = small_rise(meter, found);
    if (small != nullptr)
        report.refuse("", "levels", in_words(*small));
    else if (close > 0)
        report.refuse("", "levels", in_words(edges[close - 1], edges[close]));
    const std::optional<double> memory = sure_latency(sweep, last, meter.noise());
    if (small != nullptr && found.small.back().edges == edges.size())
        report.refuse("memory", "latency", in_words(found.small.back()));
    else if (sweep.waits(last.bytes))
        report.refuse("memory", "latency", busy, "memory");
    else if (!memory)
        report.refuse("memory", "latency", unsteady);
    else if (is_fetched_early(sweep, last.bytes, *memory, clear_rise))
        report.refuse("memory", "latency", fetched_early);
    else
        report.answer("memory", "latency", *memory, *memory * (1 - 3 * meter.noise()), *memory, "cycles",
                      "times of the largest span");
    if (small == nullptr && close == 0 && is_unsure(report))
        report.refuse("", "levels", "of a level: {}", unsure);
    else if (small == nullptr && close == 0)
        report.answer("", "levels", edges.size(), "levels", "rises of times over spans");
}

/// Nothing is counted where others share caches.
bool others_take_lines(const Meter& meter, SpanSweep& sweep, const LevelEdge& edge) {
    const bool alone = meter.noise() == 0 || meter.capabilities().exact_cache_events() > 0;
    return !alone && sweep.loses_lines(edge.low / 100 * 95);
}

/// Of edges[i].
void report_latency(TestReport& report, const std::vector<LevelEdge>& edges, std::size_t i, SpanSweep& sweep,
                    double noise) {
    const std::string level = fmt::format("L{}", i + 1);
    if (!edges[i].settled) return report.refuse(level, "latency", "times still rise where the level ends");
    const SpanTime within = within_level(sweep, edges[i], edges[i - 1], noise);
    const auto latency = sure_latency(sweep, within, noise);
    if (!latency)
        report.refuse(level, "latency", unsteady);
    else if (i == 1 && sweep.lessened_by_l1(within) > most_lessened)
        report.refuse(level, "latency", "L1 answers some of the loads of {}", format_size(within.bytes));
    else if (sweep.waits(within.bytes))
        report.refuse(level, "latency", busy, "the level or a link to it");
    else if (is_fetched_early(sweep, within.bytes, *latency, surely_early))
        report.refuse(level, "latency", fetched_early);
    else
        report.answer(level, "latency", *latency, *latency * (1 - 3 * noise), *latency, "cycles",
                      "times before the end of the level");
}

void report_edges(Meter& meter, TestReport& report, const LevelEdges& found, SpanSweep& sweep) {
    const std::vector<LevelEdge>& edges = found.edges;
    const SmallRise* small = small_rise(meter, found);
    const double noise = meter.noise();
    const std::uint64_t page = meter.large_page();
    const std::vector<SpanTime>& points = sweep.points();
    const SpanTime& last = points.back();
    const bool settled = last.cycles <= points[points.size() - 2].cycles * 1.03;
    const LevelEdge* doubtful = doubtful_edge(edges, sweep, page);
    const std::size_t close = close_level(edges);
    for (std::size_t i = 1; i < edges.size(); ++i) {  // L1 has a test of its own
        const std::string level = fmt::format("L{}", i + 1);
        const LevelEdge& edge = edges[i];
        if (small != nullptr && i >= small->edges) {
            report.refuse(level, {"capacity", "latency"}, in_words(*small));
            continue;
        }
        if (close > 0 && (i == close || (i > close && meter.capabilities().exact_cache_events() == 0))) {
            report.refuse(level, {"capacity", "latency"}, in_words(edges[close - 1], edges[close]));
            continue;
        }
        // With noise a rise is seen where it is more than that.
        const double early = std::max(noise > 0 || !edge.settled ? 0.015 : 0.005, unseen_rise * noise);
        const auto low = static_cast<double>(edge.low) * (1 - early),
                   high = std::max(
                       static_cast<double>(edge.high),
                       static_cast<double>(edge.low) * (edge.low >= page || noise > 0 ? uneven_pages : uneven));
        if (others_take_lines(meter, sweep, edge)) {
            report.refuse(level, "capacity",
                          "others take lines of the level: up to {} are left of it, and fewer where loads that L1 "
                          "answers lie between",
                          format_size(edge.low));
        } else if (edge.low >= page && !alike_elsewhere(sweep, edge)) {
            const double beyond = i + 1 < edges.size() ? edges[i + 1].latency : last.cycles;
            const bool sure = settled && doubtful == nullptr;
            report_uneven(report, level, edge, sure ? std::optional(beyond) : std::nullopt, sweep);
        } else if (high - low > 0.1 * low) {
            report.refuse(level, "capacity", "times begin to rise somewhere between {} and {} bytes", low, high);
        } else {
            report.answer(level, "capacity", static_cast<double>(edge.low), low, high, "bytes",
                          "end of a quiet stretch of times over spans, bisected");
        }
        report_latency(report, edges, i, sweep, noise);
        make_exact(meter, report, static_cast<unsigned>(i + 1));
    }
    refuse_unsure(meter, report, edges.size());
    report_memory(meter, report, found, sweep, doubtful);
}

/// Whether all lines, close together, show the same levels. Lines far apart use sets unevenly where their distance is
/// no divisor of a way, or where the set is no field of the address.
bool same_when_dense(SpanSweep& sweep, const std::vector<LevelEdge>& edges, std::uint64_t line) {
    const std::vector<SpanTime>& points = sweep.points();
    const auto time = [&](std::uint64_t bytes) {
        return sweep.fields() ? sweep.time_local(bytes, line) : sweep.time(bytes, line);
    };
    for (std::size_t i = 1; i <= edges.size(); ++i) {
        const auto bytes = i < edges.size() ? edges[i].low / 100 * 95 : points.back().bytes;
        const std::uint64_t stride = sweep.stride_at(bytes);
        const double dense = time(bytes), sparse = sweep.time(bytes / stride * stride);
        if (dense > 1.1 * sparse) return false;  // less is well: longer lines of lower levels are used more often
        if (i == edges.size()) break;
        if (time(edges[i].high / 100 * 125) < dense * 1.05) return false;
    }
    return true;
}

/// Whether some TLB has been taken for a level: one that holds little of a large page. Beyond its end all lines of
/// pages take no longer; just beyond, a level would lose many of them, and much beyond, a next one may. With noise
/// interrupts are as much as is lost just beyond, so that it is not asked.
bool shows_tlb(SpanSweep& sweep, const std::vector<LevelEdge>& edges, std::uint64_t line, double noise) {
    for (std::size_t i = 1; i < edges.size(); ++i) {
        const double within = sweep.time_local(edges[i].low / 100 * 95, line);
        const auto rises = [&](std::uint64_t bytes, double share) {
            return sweep.time_local(bytes, line) >= within * (1 + share);
        };
        if (!rises(edges[i].high / 100 * 140, 0.05)) return true;
        if (noise == 0 && !rises(edges[i].high / 100 * 110, clear_rise / 2)) return true;
    }
    return false;
}

TestReport levels_of(Meter& meter, const L1Geometry& l1, std::uint64_t stride, std::uint64_t local) {
    TestReport report;
    SpanSweep sweep = sweep_to_memory(meter, l1, stride, local);
    Curve curve{.name = "times", .x_name = "span", .x_unit = "bytes"};
    for (const SpanTime& point : sweep.points()) {
        curve.x.push_back(static_cast<double>(point.bytes));
        curve.cycles.push_back(point.cycles);
    }
    if (sweep.points().size() < 2)
        return refused(
            std::move(report), "", {"levels"},
            fmt::format("an arena of {} is no larger than L1", format_size(meter.capabilities().largest_arena)));
    const LevelEdges found = find_level_edges(sweep, meter.noise(), report.decisions);
    const std::vector<LevelEdge>& edges = found.edges;
    if (stride > l1.line && !same_when_dense(sweep, edges, l1.line))
        return levels_of(meter, l1, sweep.fields() ? std::max(l1.line, stride / 4) : l1.line, local);
    if (local > least_page && shows_tlb(sweep, edges, l1.line, meter.noise()))
        return levels_of(meter, l1, sweep.apart(l1.capacity), least_page);
    report_edges(meter, report, found, sweep);
    report.curves.push_back(std::move(curve));
    return report;
}

/// Whether loads of many pieces of a large page take longer than as many that lie packed: a TLB holds pieces. L1 has
/// the lines of both.
bool translated_by_pieces(Meter& meter, const L1Geometry& l1) {
    const std::uint64_t line = std::max<std::uint64_t>(l1.line, 128);
    const std::uint64_t pieces = std::min({most_pieces, l1.capacity / line / 2, meter.large_page() / least_page});
    const Arena arena = meter.target().make_arena(meter.large_page(), meter.large_page());
    const PairedStrings strings = paired_strings(pieces, least_page, line, meter.seed());
    const auto [spread, packed] = meter.settled_in_turn(arena, strings.spread, strings.packed);
    return spread - packed > least_translation + meter.tolerance(packed);
}

/// Why spans tell nothing of levels; empty = they do.
std::string why_uneven(Meter& meter, const L1Geometry& l1) {
    if (!has_large_pages(meter))
        return "there are no large pages that a TLB holds, in such an arena: small ones may lie anywhere, so that sets "
               "fill unevenly, and TLBs are in the times";
    // Without noise and with counts what is seen is enough to tell both cases apart.
    if (meter.noise() > 0 && meter.capabilities().cache_events == 0 && translated_by_pieces(meter, l1))
        return "large pages are translated in pieces: what lies below the system, such as a hypervisor, may have put "
               "these anywhere, so that sets fill unevenly, and TLBs are in the times";
    return "";
}

TestReport uneven_refused(const std::string& reason) {
    TestReport report;
    report.refuse("", {"levels", "capacity"}, reason);
    return report;
}

std::uint64_t first_stride(const L1Geometry& l1) {
    return l1.scattered ? l1.line : std::min(std::max(l1.way(), l1.line), longest_stride);
}

}  // namespace

TestReport levels_robust(Meter& meter, const L1Geometry& l1) {
    const std::string reason = why_uneven(meter, l1);
    TestReport report = reason.empty() ? levels_of(meter, l1, first_stride(l1), meter.large_page())
                                       : levels_on_small_pages(meter, l1, reason);
    try {
        add_resident_capacities(meter, l1, !reason.empty(), report);
    } catch (const ProbeError& error) {  // what was found before is kept
        report.decisions.push_back(fmt::format("resident lines: {}", error.what()));
    }
    return report;
}

TestReport change_points_robust(Meter& meter, const L1Geometry& l1) {
    if (const std::string reason = why_uneven(meter, l1); !reason.empty()) return uneven_refused(reason);
    TestReport report;
    SpanSweep sweep = sweep_to_memory(meter, l1, first_stride(l1), meter.large_page());
    // Spans within L1 are not swept: they take its latency.
    std::vector<SpanTime> points(least_plateau, {l1.capacity, l1.latency});
    points.insert(points.end(), sweep.points().begin(), sweep.points().end());
    std::vector<double> times;
    times.reserve(points.size());
    for (const SpanTime& point : points) times.push_back(point.cycles);
    if (times.size() < least_plateau + 2)
        return refused(std::move(report), "", {"levels"}, "the arena is no larger than L1");
    const std::vector<Plateau> found = plateaus(times, meter.noise(), least_plateau);
    if (found.empty() || found.back().last + 1 < times.size())
        return refused(std::move(report), "", {"levels"}, "times do not stand still at the largest span");
    if (!sweep.reaches_memory())
        return refused(std::move(report), "", {"levels"},
                       "lines of the largest span take less than lines that nobody has used");
    const std::string method = "change points of isotonic log times";
    for (std::size_t i = 1; i + 1 < found.size(); ++i) {
        const std::string level = fmt::format("L{}", i + 1);
        const SpanTime& last = points[found[i].last];
        const std::uint64_t end = sweep.last_quiet({last, 0}, last.bytes, points[found[i].last + 1].bytes, clear_rise);
        const auto low = static_cast<double>(end), high = low * uneven_pages;
        report.decisions.push_back(fmt::format("{}: {:.2f} cycles up to {}", level, found[i].value, end));
        report.answer(level, "capacity", low, low * 0.985, high, "bytes", method + ", bisected");
        report.answer(level, "latency", found[i].value, found[i].value, found[i].value, "cycles", "mean of a plateau");
    }
    report.answer("", "levels", found.size() - 1, "levels", method);
    return report;
}

}  // namespace cachetally

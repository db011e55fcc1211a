// SPDX-License-Identifier: BSD-3-Clause
#include "probes/tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.hpp"
#include "probes/dongarra/curves.hpp"
#include "probes/dongarra/geometry.hpp"
#include "probes/ours/page_groups.hpp"
#include "probes/ours/sets.hpp"
#include "probes/ours/tlb_events.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t least_line = 32;
constexpr double least_growth = 1.9;  ///< of levels of which the one above may keep lines

void answer(TestReport& report, const std::string& level, const std::string& parameter, std::uint64_t value,
            const std::string& unit, const std::string& method) {
    if (value == 0)
        report.refuse(level, parameter, "the counts of misses show no clear edge within the arena");
    else
        report.answer(level, parameter, value, unit, method);
}

void report_page(TestReport& report, const std::string& level, const CountedGeometry& found) {
    answer(report, level, "page", found.block, "bytes", "papi_cacheBlock, cases 1 and 2");
}

bool on_small_pages(const Meter& meter) { return meter.large_page() < few_translations; }

/// `above`: bytes of the largest level above.
void report_capacity(Meter& meter, TestReport& report, unsigned number, const CountedGeometry& found,
                     std::uint64_t above) {
    const std::string level = fmt::format("L{}", number);
    // Lines that a level above keeps need no room: one that is smaller misses only when that one does.
    if (!found.all_arrive && static_cast<double>(found.capacity) < least_growth * static_cast<double>(above))
        return report.refuse(level, "capacity",
                             "misses begin beyond {}, and a level above, of {}, still keeps lines of those: "
                             "it may hold less",
                             format_size(found.capacity), format_size(above));
    if (found.high > 1.1 * found.low)
        return report.refuse(level, "capacity", "misses grow between {:.0f} and {:.0f} bytes", found.low, found.high);
    if (found.uneven)
        return report.refuse(level, "capacity", "on other pages others miss: pages fill the sets unevenly");
    if (found.walks)
        return report.refuse(level, "capacity", "lines of page tables share sets with those that are loaded");
    // To the byte where lines that meet in the sets of the level say so.
    CongruentLines lines(meter, {number, found.low, found.high, 0}, report.decisions);
    const auto bytes = lines.capacity();
    if (bytes)
        return answer(report, level, "capacity", *bytes, "bytes",
                      "papi_cacheSize; to the byte by lines that meet in its sets");
    if (lines.beyond())
        return report.refuse(level, "capacity",
                             "misses are clear at {:.0f} bytes, but more lines than that, far apart, stay", found.high);
    if (lines.uneven()) return report.refuse(level, "capacity", "as many lines stay on some pages as do not on others");
    if (found.high > static_cast<double>(meter.large_page()))
        return report.refuse(level, "capacity", "pages may fill its sets unevenly, and lines far apart do not agree");
    if (number > 1 && on_small_pages(meter))
        return report.refuse(level, "capacity", "lines of page tables share sets with those that are loaded");
    report.answer(level, "capacity", static_cast<double>(found.capacity), found.low, found.high, "bytes",
                  "papi_cacheSize");
}

void report_line(TestReport& report, const std::string& level, const CountedGeometry& found, bool robust) {
    constexpr char method[] = "papi_cacheBlock, cases 1 and 2";
    if (found.fetches_next)
        report.refuse(level, "line", "blocks of {} bytes come with those before them", found.block);
    else if (robust && found.block != 0 && found.line == 0)
        report.refuse(level, "line",
                      "{} bytes are fetched at a time, but may be parts of longer lines, or several lines",
                      found.block);
    else if (robust && found.line != found.block)
        report.answer(level, "line", found.line, "bytes",
                      fmt::format("what leaves at a time; {} bytes are fetched", found.block));
    else
        answer(report, level, "line", found.block, "bytes", method);
}

void report_ways(TestReport& report, const std::string& level, const CountedGeometry& found, bool robust) {
    if (robust && found.fetches_next)
        report.refuse(level, "ways", "other lines are fetched besides those that are loaded");
    else if (robust && found.ways != 0 && !found.ways_confirmed)
        report.refuse(level, "ways",
                      "{} locations fit one set, but at other distances not as many as they would in a "
                      "cache of so many ways",
                      found.ways);
    else
        answer(report, level, "ways", found.ways, "ways", "papi_cacheBlock, case 3");
}

void report_cache(Meter& meter, TestReport& report, unsigned number, const CountedGeometry& found,
                  std::uint64_t above) {
    const std::string level = fmt::format("L{}", number);
    if (found.capacity == 0)
        answer(report, level, "capacity", 0, "bytes", "");
    else
        report_capacity(meter, report, number, found, above);
    report_line(report, level, found, true);
    const bool found_capacity = report.find(level, "capacity") != nullptr;
    if (found.ways != 0 && (found.uneven || (!found_capacity && on_small_pages(meter))))
        report.refuse(level, "ways", "pages may fill its sets unevenly, so that lines far apart need not meet");
    else
        report_ways(report, level, found, true);
}

/// Lines of lower levels are no shorter than those above.
void measure_caches(Meter& meter, TestReport& report, bool robust) {
    std::uint64_t line_above = 0, above = 0;
    for (unsigned number = 1; number <= meter.capabilities().cache_events; ++number) {
        const std::string level = fmt::format("L{}", number);
        const std::uint64_t known = robust ? line_above : 0;
        const std::uint64_t step = robust ? std::max(known, least_line) : array_element;
        const CountedGeometry found = measure_geometry(
            meter, {robust, false, number - 1, step, std::max(known, array_element)}, level, report.decisions);
        if (!found.fetches_next) line_above = std::max(line_above, found.block);
        if (robust) {
            report_cache(meter, report, number, found, above);
            above = std::max(above, found.capacity);
            continue;
        }
        answer(report, level, "capacity", found.capacity, "bytes", "papi_cacheSize");
        report_line(report, level, found, false);
        report_ways(report, level, found, robust);
    }
}

void measure_tlbs(Meter& meter, TestReport& report, bool robust) {
    std::uint64_t above = 0;
    for (unsigned number = 1; number <= meter.capabilities().tlb_events; ++number) {
        const std::string level = fmt::format("TLB{}", number);
        const std::uint64_t step = std::min<std::uint64_t>(meter.page(), 4096);
        const CountedGeometry found =
            measure_geometry(meter, {robust, true, number - 1, step, 64}, level, report.decisions);
        const std::uint64_t entries = found.block == 0 ? 0 : found.capacity / found.block,
                            before = std::exchange(above, entries);
        if (robust && !holds_whole_pages(meter, number - 1, entries, found.block)) {
            report.refuse(level, {"entries", "page", "ways"},
                          "its entries hold parts of pages, but a TLB above holds more");
            continue;
        }
        if (robust && tlb_above_keeps_some(meter, number - 1, {entries, before, found.block})) {
            report.refuse(level, {"entries", "ways"}, tlb_above_keeps);
            report_page(report, level, found);
            continue;
        }
        if (robust && entries != 0 && pages_come_in_groups(meter, number - 1, entries, found.block)) {
            report.refuse(level, {"entries", "page", "ways"}, in_groups);
            continue;
        }
        answer(report, level, "entries", entries, "entries", "papi_cacheSize on TLB misses");
        report_page(report, level, found);
        report_ways(report, level, found, robust);
    }
}

/// Floating-point loads over an array that integer loads miss in L1: do they, too?
void measure_floating_point(Meter& meter, TestReport& report) {
    const Arena arena = meter.arena_up_to(1 << 20, meter.page());
    const Offsets array = strided_string(arena.bytes, 64);
    const double integer = meter.count(arena, {array, false}, {2, 2}).cache_misses.front();
    const double floating = meter.count(arena, {array, true}, {2, 2}).cache_misses.front();
    report.answer("L1", "fp_bypass", integer > 0.5 && floating == 0 ? "present" : "absent",
                  "misses of L1 by loads of either kind");
}

TestReport measure_all(Meter& meter, bool robust) {
    TestReport report;
    const Capabilities& can = meter.capabilities();
    if (can.cache_events == 0)
        return refused(
            std::move(report), "", {"levels"},
            "event counts are not to be had: " + (can.no_events.empty() ? "there is no cache" : can.no_events));
    measure_caches(meter, report, robust);
    measure_tlbs(meter, report, robust);
    if (can.floating_point) measure_floating_point(meter, report);
    if (!robust) add_event_curves(meter, report);
    return report;
}

}  // namespace

TestReport events_published(Meter& meter) { return measure_all(meter, false); }
TestReport events_robust(Meter& meter) { return measure_all(meter, true); }

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "probes/tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/units.hpp"
#include "probes/analysis.hpp"
#include "probes/ours/coloured_l1.hpp"
#include "probes/ours/hashed_l1.hpp"
#include "probes/xray/compact_test.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t longest_line = 2048;  ///< bytes: less than any part of a page that a TLB holds
constexpr std::uint64_t least_l1 = 1024;      ///< bytes: with noise, less is not believed

/// Of pages: where they choose the set, two of a direct-mapped cache of two pages conflict on half of the placements.
constexpr unsigned placements_asked = 12;
/// Locations of a string that shows conflicts: a miss in a lap of more takes less than noise.
constexpr std::uint64_t few_locations = 64;
constexpr unsigned line_confirmations = 2;
constexpr std::uint64_t largest_page_of_colours = std::uint64_t{1} << 20;  ///< bytes: larger ones hold any L1
constexpr unsigned most_attempts = 6;                                      ///< with noise and without counts

struct Found {
    unsigned ways = 0;
    std::uint64_t capacity = 0;
    std::string reason;          ///< why nothing was found
    bool alike = false;          ///< because no set of locations takes longer than another
    std::uint64_t in_a_row = 0;  ///< bytes that stay
};

/// Of many locations it may have been noise, or translation, that kept so many from being compact at half the stride:
/// then more of them are not, and `n` is so many.
bool more_conflict(CompactTest& compact, std::uint64_t stride, std::uint64_t& n) {
    if (n <= few_locations) return false;
    for (std::uint64_t more = 2 * n; compact.fits(stride, more); more *= 2)
        if (!compact(stride, more)) {
            n = more;
            return true;
        }
    return false;
}

/// Figure 8.
Found capacity_and_ways(CompactTest& compact, TestReport& report) {
    std::uint64_t stride = CompactTest::location, n = 1;
    while (compact(stride, n)) {
        n *= 2;
        if (n * stride > CompactTest::largest || !compact.fits(stride, n))
            return {0, 0, fmt::format("times do not rise up to {}", format_size(n * stride)), true};
    }
    std::uint64_t in_a_row = 0;
    for (std::uint64_t old = 0;; stride *= 2) {
        if (!compact.fits(stride, n)) return {0, 0, "the number of ways is not reached within the arena"};
        if (old != 0 && compact(stride, n) && !more_conflict(compact, stride, n))
            return {0, 0, "a longer stride made fewer conflicts"};
        n = bisect(0, n, [&](std::uint64_t locations) { return compact(stride, locations); }).high;
        report.decisions.push_back(fmt::format("stride {}: {} locations do not fit", stride, n));
        if (stride == CompactTest::location) in_a_row = (n - 1) * stride;
        if (n == old) break;
        if (n <= 1) return {0, 0, "a single location does not stay"};
        old = n;
    }
    return {static_cast<unsigned>(n - 1), stride / 2 * (n - 1), "", false, in_a_row};
}

/// Figure 10, from the size of a location; 0 = not found. A cache of one set has a line of the size of a way, which no
/// shift leaves.
std::uint64_t line_size(CompactTest& compact, const Found& found, bool robust) {
    const std::uint64_t way = found.capacity / found.ways;
    for (std::uint64_t line = CompactTest::location; line < way; line *= 2)
        if (compact.shifted(way, 2ULL * found.ways, line)) return line;
    return robust ? way : 0;
}

/// With noise asked again on new arenas: that a set was not compact may be noise, that one was is proof.
std::uint64_t confirmed_line_size(Meter& meter, CompactTest& compact, const Found& found, bool robust) {
    std::uint64_t least = line_size(compact, found, robust);
    for (unsigned i = 0; i < line_confirmations && robust && meter.noise() > 0; ++i)
        least = std::min(least, line_size(compact.place_anew(), found, robust));
    return least;
}

/// Whether sets of this geometry are full with as many locations as it has ways.
bool fills_sets(CompactTest& compact, const Found& found) {
    const std::uint64_t way = found.capacity / found.ways, ways = found.ways;
    const bool full = compact(way, ways) && !compact(way, ways + 1) && !compact(2 * way, ways + 1);
    return full && (way <= CompactTest::location || (compact(way / 2, 2 * ways) && !compact(way / 2, 2 * ways + 1)));
}

/// Why no cache of this geometry, whichever way it was found, behaves as measured; empty = one does.
std::string contradiction(CompactTest& compact, const Found& found, bool exact) {
    const std::uint64_t way = found.capacity / found.ways, ways = found.ways;
    const bool spans_pages = 2 * way * (ways + 1) > compact.page();
    const auto behaves = [&] {
        // Any lines whose distances are multiples of a way share a set; where sets are hashed they do not. A few hashed
        // sets look like one, of which a single draw may happen to fill each evenly. So do, where sets are an odd
        // number of times a power of two, so many of them: they seem to have so many times their ways.
        const unsigned draws = way <= longest_line || !std::has_single_bit(ways) ? 16 : 1;
        for (unsigned number = 0; number < draws; ++number)
            if (!compact.drawn(way, ways, number)) return false;
        return fills_sets(compact, found);
    };
    // Lines that hashes spread over sets meet in a lower level, which may be taken for L1: little of it stays.
    if (found.in_a_row < found.capacity / (exact ? 2 : 4))
        return fmt::format("of {} only {} stay in a row", format_size(found.capacity), format_size(found.in_a_row));
    if (!behaves()) return fmt::format("{} in {} ways would not behave as measured", format_size(found.capacity), ways);
    if (!spans_pages) return "";
    // Where the physical address chooses the set, and a way is longer than a page, pages may lie so that sets seem to
    // be others. They do not lie so each time.
    for (unsigned i = 0; i < placements_asked; ++i) {
        compact.place_anew();
        if (!fills_sets(compact, found))
            return fmt::format(
                "{} in {} ways on some pages, but not on others that were placed anew: sets are chosen by more of the "
                "physical address than a page of {} keeps",
                format_size(found.capacity), ways, format_size(compact.page()));
    }
    return "";
}

TestReport all_refused(TestReport report, const std::string& reason) {
    return refused(std::move(report), "L1", {"capacity", "ways", "line"}, reason);
}

/// With noise an answer that was not confirmed is asked for again. Nothing is counted where others share caches: then
/// what was found must be found twice, and nothing else.
bool made_twice(const Meter& meter) { return meter.noise() > 0 && meter.capabilities().cache_events == 0; }

/// What disturbs a machine may last longer than a measurement: where the whole test is not made twice, the time is
/// asked for again at its end.
double hit_latency(Meter& meter, CompactTest& compact) {
    const double hit = compact.hit_latency();
    return made_twice(meter) || meter.noise() == 0 ? hit : std::min(hit, compact.hit_latency_now());
}

/// Whose time that of a location is, is known where sets of locations are those of a cache; and where these are in
/// `doubt`, if a cache has it.
void report_latency(Meter& meter, TestReport& report, CompactTest& compact, const Found& found, bool doubt) {
    const double hit = hit_latency(meter, compact);
    if (found.alike)
        report.refuse("L1", "latency", found.reason + ": it is not known whose time this is");
    else if (doubt && !compact.hits_a_cache())
        report.refuse("L1", "latency",
                      "a location that is used again takes as long as lines that nobody has used: no cache has it");
    else
        report.answer("L1", "latency", hit, hit - meter.tolerance(hit), hit, "cycles", "a chase of one location");
}

/// Of an L1 of which no stride makes lines meet.
void report_scattered(TestReport& report, const FoundL1& found, const char* of_capacity, const char* of_line) {
    report.answer("L1", "capacity", found.capacity, "bytes", of_capacity);
    report.answer("L1", "ways", found.ways, "ways", "lines that meet, by leaving out groups");
    report.answer("L1", "line", found.line, "bytes", of_line);
}

/// Whether it is one.
bool answer_scattered(Meter& meter, TestReport& report, CompactTest& compact, bool by_pages) {
    const FoundL1 hashed = hashed_l1(compact, report.decisions);
    if (!hashed.why_not.empty()) report.decisions.push_back("no hash: " + hashed.why_not);
    FoundL1 coloured{.why_not = "lines meet on all pages alike"};
    if (!hashed.why_not.empty() && by_pages) {
        coloured = coloured_l1(compact, report.decisions);
        if (!coloured.why_not.empty()) report.decisions.push_back("no page colours: " + coloured.why_not);
    }
    if (!hashed.why_not.empty() && !coloured.why_not.empty()) return false;
    const double hit = hit_latency(meter, compact);
    report.answer("L1", "latency", hit, hit - meter.tolerance(hit), hit, "cycles", "a chase of one location");
    if (hashed.why_not.empty()) {
        report_scattered(report, hashed, "the longest span that stays", "every other line of a longer span stays");
        report.answer("L1", "indexing", "hashed", "no stride makes lines meet");
    } else {
        report_scattered(report, coloured, "page colours, each of as many pages as ways",
                         "the least shift by which lines of a colour do not meet");
        report.refuse("L1", "indexing", "more of the physical address than a page keeps chooses the set");
    }
    return true;
}

/// Whether sets that no stride tells are looked for, too.
enum class Sets : std::uint8_t { strided, scattered_too };

TestReport measure(Meter& meter, bool robust, std::uint64_t seed, Sets sets) {
    TestReport report;
    CompactTest compact(meter, robust, seed);
    const Found found = capacity_and_ways(compact, report);
    std::string reason = found.reason;
    if (robust && reason.empty()) reason = contradiction(compact, found, meter.noise() == 0);
    const bool by_pages = compact.page() < largest_page_of_colours;
    if (sets == Sets::scattered_too && !reason.empty() && !found.alike)
        if (answer_scattered(meter, report, compact, by_pages)) return report;
    const std::uint64_t line = reason.empty() ? confirmed_line_size(meter, compact, found, robust) : 0;
    if (robust && line > longest_line)
        reason = fmt::format(
            "what stays does so by pieces of {}, longer than any line: parts of pages, which a TLB holds, are in the "
            "times",
            format_size(line));
    report_latency(meter, report, compact, found, robust && !reason.empty());
    if (!reason.empty()) return all_refused(std::move(report), reason);
    report.answer("L1", "capacity", found.capacity, "bytes", "compact sets <S,n>");
    report.answer("L1", "ways", found.ways, "ways", "compact sets <S,n>");
    if (robust) report.answer("L1", "indexing", "modulo", "lines at any multiples of a way meet");
    if (line == 0)
        report.refuse("L1", "line", "no shift of half of a set made it compact");
    else
        report.answer("L1", "line", line, "bytes", "half of a set shifted <C/A,2A,b>");
    return report;
}

/// What was found with noise, and how often; the latest answer or refusal.
struct Attempts {
    TestReport report;
    std::vector<L1Geometry> found;
    bool contradicted = false;  ///< not always the same

    void add(TestReport attempt) {
        const auto geometry = l1_geometry(attempt);
        if (geometry && !found.empty()) keep_least_latency(attempt);
        if (geometry || found.empty()) report = std::move(attempt);
        if (!geometry) return;
        const auto differs = [&](const L1Geometry& each) {
            return each.capacity != geometry->capacity || each.line != geometry->line || each.ways != geometry->ways;
        };
        contradicted = contradicted || std::ranges::any_of(found, differs);
        found.push_back(*geometry);
    }

private:
    /// What disturbs a machine may last longer than a measurement.
    void keep_least_latency(TestReport& attempt) const {
        const Finding& before = *report.find("L1", "latency");
        const auto is_latency = [](const Finding& each) { return each.level == "L1" && each.parameter == "latency"; };
        Finding& now = *std::ranges::find_if(attempt.findings, is_latency);
        if (before.value->number < now.value->number) now = before;
    }
};

/// Where others take lines away, as who shares a level that includes L1 does, what is found is what is left of it:
/// another amount each time, or less than any cache has.
std::string why_taken(const Attempts& attempts) {
    const L1Geometry& last = attempts.found.back();
    if (attempts.contradicted) {
        const L1Geometry& before = attempts.found[attempts.found.size() - 2];
        return fmt::format("found once as {}, then as {}, with lines of {} and {} bytes: others may take lines away",
                           format_size(before.capacity), format_size(last.capacity), before.line, last.line);
    }
    if (last.capacity < least_l1)
        return fmt::format("what stays is {} bytes, less than any cache has: others may take lines away",
                           last.capacity);
    return "";
}

}  // namespace

TestReport xray_l1_published(Meter& meter) { return measure(meter, false, meter.seed(), Sets::strided); }
TestReport xray_l1_robust(Meter& meter) {
    if (meter.noise() == 0) return measure(meter, true, meter.seed(), Sets::scattered_too);
    const bool counted = !made_twice(meter);
    const unsigned most = counted ? 2 : most_attempts, needed = counted ? 1 : 2;
    Attempts attempts;
    const auto attempt = [&](Sets sets) {
        for (unsigned i = 0; i < most && attempts.found.size() < needed && !attempts.contradicted; ++i)
            attempts.add(measure(meter, true, meter.seed() + (counted ? 0 : i), sets));
    };
    attempt(Sets::strided);
    if (attempts.found.empty()) attempt(Sets::scattered_too);  // it takes long, and mostly noise is to blame
    if (attempts.found.empty()) return std::move(attempts.report);
    std::string reason = why_taken(attempts);
    if (reason.empty() && attempts.found.size() < needed)
        reason = fmt::format("found as {} once in {} attempts, and not again",
                             format_size(attempts.found.back().capacity), most);
    if (reason.empty()) return std::move(attempts.report);
    std::erase_if(attempts.report.findings, [](const Finding& finding) { return finding.parameter != "latency"; });
    return all_refused(std::move(attempts.report), reason);
}

std::optional<L1Geometry> l1_geometry(const TestReport& report) {
    const Finding* capacity = report.find("L1", "capacity");
    const Finding* line = report.find("L1", "line");
    const Finding* ways = report.find("L1", "ways");
    const Finding* latency = report.find("L1", "latency");
    if (capacity == nullptr || line == nullptr || ways == nullptr || latency == nullptr) return {};
    // The published test does not ask for it.
    const bool scattered = std::ranges::any_of(report.findings, [](const Finding& each) {
        return each.level == "L1" && each.parameter == "indexing" && !(each.value && each.value->word == "modulo");
    });
    return L1Geometry{static_cast<std::uint64_t>(capacity->value->number),
                      static_cast<std::uint64_t>(line->value->number), static_cast<unsigned>(ways->value->number),
                      latency->value->number, scattered};
}

}  // namespace cachetally

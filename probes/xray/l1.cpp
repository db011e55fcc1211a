// SPDX-License-Identifier: BSD-3-Clause
#include "probes/tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/units.hpp"
#include "probes/analysis.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t pointer = 8;                          ///< bytes of a location: the least stride
constexpr std::uint64_t largest_l1 = std::uint64_t{2} << 20;  ///< bytes that are searched for the first rise
constexpr std::uint64_t longest_line = 2048;                  ///< bytes: less than any part of a page that a TLB holds
constexpr std::uint64_t least_l1 = 1024;                      ///< bytes: with noise, less is not believed

constexpr std::size_t most_moved = 256;       ///< locations of a string that is tried in other sets, too
constexpr std::uint64_t moved_by = 21 * 128;  ///< bytes
/// Of pages: where they choose the set, two of a direct-mapped cache of two pages conflict on half of the placements.
constexpr unsigned placements_asked = 12;
constexpr std::uint64_t used_once = std::uint64_t{256} << 10;  ///< bytes whose lines are used for the first time
constexpr std::uint64_t apart = 256, most_translated = 4096;
constexpr double longer_at_first = 1.2;  ///< share by which lines take more when they are used first

/// Says whether sets of addresses are compact: whether all of them are hits.
class CompactTest {
public:
    CompactTest(Meter& meter, bool robust, std::uint64_t seed)
        : meter_(meter), robust_(robust), seed_(seed), arena_(new_arena()), hit_(meter.settled(arena_, {0})) {}

    double hit_latency() const { return hit_; }
    std::uint64_t page() const { return arena_.page; }

    /// From here on pages lie elsewhere.
    void place_anew() { arena_ = new_arena(); }

    /// Whether a location that is used again takes less than lines that nobody has used: then a cache has it. What
    /// translation takes is what one line of each page takes more.
    bool hits_a_cache() {
        const std::uint64_t bytes = std::min(arena_.bytes, used_once), page = std::min(arena_.page, most_translated);
        const auto all = first_use(page_local_string(bytes, page, std::min(apart, page), seed_));
        const auto translated = first_use(page_local_string(bytes, page, page, seed_));
        const double loads = all.second - translated.second;
        return loads > 0 && (all.first - translated.first) / loads > longer_at_first * hit_ + meter_.tolerance(hit_);
    }
    bool fits(std::uint64_t stride, std::uint64_t n) const { return stride * n + 3 * moved_by <= arena_.bytes; }

    bool operator()(std::uint64_t stride, std::uint64_t n) {
        return compact_somewhere(compact_string(stride, n), stride, moved_by);
    }
    /// Elsewhere, too, only places that are multiples of 2 * shift: any other may lie across the end of a longer line.
    bool shifted(std::uint64_t stride, std::uint64_t n, std::uint64_t shift) {
        return compact_somewhere(shifted_string(stride, n, shift), stride, std::max(moved_by, 42 * shift));
    }
    /// n of the first 4n multiples of the stride, or of as many as there are, drawn by this number.
    bool drawn(std::uint64_t stride, std::uint64_t n, unsigned number) {
        Offsets offsets = compact_string(stride, std::min(4 * n, (arena_.bytes - 3 * moved_by) / stride));
        shuffle(offsets.change(), seed_ + number);
        offsets.change().resize(n);
        std::ranges::sort(offsets.change());
        return compact_somewhere(std::move(offsets), stride, moved_by);
    }

private:
    Arena new_arena() const {
        return meter_.arena_up_to(16 * largest_l1, robust_ ? meter_.large_page() : meter_.page());
    }

    /// Cycles of all loads where nobody has used their lines, and the number of loads.
    std::pair<double, double> first_use(const Offsets& offsets) {
        const auto loads = static_cast<double>(offsets.size());
        return {meter_.run(new_arena(), {offsets}, {0, 1}).cycles * loads, loads};
    }

    /// Lines of others (of page tables, say) may stay in a set for good, with pseudo-LRU even beside lines that are
    /// used all the time. But no set anywhere holds more than its ways, so that one set that is compact is proof.
    bool compact_somewhere(Offsets offsets, std::uint64_t stride, std::uint64_t move) {
        if (compact(offsets, stride)) return true;
        if (!robust_ || offsets.size() > most_moved) return false;
        for (int times = 0; times < 2; ++times) {
            if (std::ranges::max(offsets) + move + pointer > arena_.bytes) return false;
            offsets = moved(offsets, move);
            if (compact(offsets, stride)) return true;
        }
        return false;
    }

    bool compact(Offsets offsets, std::uint64_t stride) {
        if (robust_) shuffle(offsets.change(), seed_);
        if (!meter_.takes_longer(arena_, offsets, hit_)) return true;
        if (!robust_ || offsets.size() * stride <= arena_.page) return false;
        const double time = meter_.settled(arena_, offsets);
        // The pages may be to blame: the same pages, without conflicts.
        const std::uint64_t step = 128;
        for (std::size_t i = 0; std::uint64_t & offset : offsets.change())
            offset = offset / arena_.page * arena_.page + i++ * step % arena_.page;
        const double blameless = meter_.settled(arena_, offsets);
        return time <= blameless + meter_.tolerance(blameless);
    }

    Meter& meter_;
    bool robust_;
    std::uint64_t seed_;  ///< of orders and places
    Arena arena_;
    double hit_;
};

struct Found {
    unsigned ways = 0;
    std::uint64_t capacity = 0;
    std::string reason;  ///< why nothing was found
    bool alike = false;  ///< because no set of locations takes longer than another
};

/// Figure 8.
Found capacity_and_ways(CompactTest& compact, TestReport& report) {
    std::uint64_t stride = pointer, n = 1;
    while (compact(stride, n)) {
        n *= 2;
        if (n * stride > largest_l1 || !compact.fits(stride, n))
            return {0, 0, fmt::format("times do not rise up to {}", format_size(n * stride)), true};
    }
    for (std::uint64_t old = 0;; stride *= 2) {
        if (!compact.fits(stride, n)) return {0, 0, "the number of ways is not reached within the arena"};
        if (old != 0 && compact(stride, n)) return {0, 0, "a longer stride made fewer conflicts"};
        n = bisect(0, n, [&](std::uint64_t locations) { return compact(stride, locations); }).high;
        report.decisions.push_back(fmt::format("stride {}: {} locations do not fit", stride, n));
        if (n == old) break;
        if (n <= 1) return {0, 0, "a single location does not stay"};
        old = n;
    }
    return {static_cast<unsigned>(n - 1), stride / 2 * (n - 1), ""};
}

/// Figure 10; 0 = not found. A cache of one set has a line of the size of a way, which no shift leaves.
std::uint64_t line_size(CompactTest& compact, const Found& found, bool robust) {
    const std::uint64_t way = found.capacity / found.ways;
    for (std::uint64_t line = robust ? pointer : 1; line < way; line *= 2)
        if (compact.shifted(way, 2ULL * found.ways, line)) return line;
    return robust ? way : 0;
}

/// Whether sets of this geometry are full with as many locations as it has ways.
bool fills_sets(CompactTest& compact, const Found& found) {
    const std::uint64_t way = found.capacity / found.ways, ways = found.ways;
    const bool full = compact(way, ways) && !compact(way, ways + 1) && !compact(2 * way, ways + 1);
    return full && (way <= pointer || (compact(way / 2, 2 * ways) && !compact(way / 2, 2 * ways + 1)));
}

/// Why no cache of this geometry, whichever way it was found, behaves as measured; empty = one does.
std::string contradiction(CompactTest& compact, const Found& found) {
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

/// Whose time that of a location is, is known where sets of locations are those of a cache; and where these are in
/// `doubt`, if a cache has it.
void report_latency(Meter& meter, TestReport& report, CompactTest& compact, const Found& found, bool doubt) {
    const double hit = compact.hit_latency();
    if (found.alike)
        report.refuse("L1", "latency", found.reason + ": it is not known whose time this is");
    else if (doubt && !compact.hits_a_cache())
        report.refuse("L1", "latency",
                      "a location that is used again takes as long as lines that nobody has used: no cache has it");
    else
        report.answer("L1", "latency", hit, hit - meter.tolerance(hit), hit, "cycles", "a chase of one location");
}

TestReport measure(Meter& meter, bool robust, std::uint64_t seed) {
    TestReport report;
    CompactTest compact(meter, robust, seed);
    const Found found = capacity_and_ways(compact, report);
    std::string reason = found.reason;
    if (robust && reason.empty()) reason = contradiction(compact, found);
    const std::uint64_t line = reason.empty() ? line_size(compact, found, robust) : 0;
    if (robust && line > longest_line)
        reason = fmt::format(
            "what stays does so by pieces of {}, longer than any line: parts of pages, which a TLB holds, are in the "
            "times",
            format_size(line));
    report_latency(meter, report, compact, found, robust && !reason.empty());
    if (!reason.empty()) return all_refused(std::move(report), reason);
    report.answer("L1", "capacity", found.capacity, "bytes", "compact sets <S,n>");
    report.answer("L1", "ways", found.ways, "ways", "compact sets <S,n>");
    if (line == 0)
        report.refuse("L1", "line", "no shift of half of a set made it compact");
    else
        report.answer("L1", "line", line, "bytes", "half of a set shifted <C/A,2A,b>");
    return report;
}

/// Where others take lines away, as who shares a level that includes L1 does, what is found is what is left of it:
/// another amount each time, or less than any cache has.
void refuse_taken(TestReport& report, const std::optional<L1Geometry>& again) {
    const L1Geometry found = *l1_geometry(report);
    const bool same = !again || (again->capacity == found.capacity && again->line == found.line);
    if (same && found.capacity >= least_l1) return;
    std::erase_if(report.findings, [](const Finding& finding) { return finding.parameter != "latency"; });
    report = all_refused(
        std::move(report),
        same
            ? fmt::format("what stays is {} bytes, less than any cache has: others may take lines away", found.capacity)
            : fmt::format("found once as {}, then as {}, with lines of {} and {} bytes: others may take lines away",
                          format_size(found.capacity), format_size(again->capacity), found.line, again->line));
}

}  // namespace

TestReport xray_l1_published(Meter& meter) { return measure(meter, false, meter.seed()); }
TestReport xray_l1_robust(Meter& meter) {
    TestReport report = measure(meter, true, meter.seed());
    if (meter.noise() == 0) return report;
    // An answer that was not confirmed with noise is asked for again, once.
    if (!l1_geometry(report)) report = measure(meter, true, meter.seed());
    if (!l1_geometry(report)) return report;
    // Nothing is counted where others share caches: then what was found must be found again.
    std::optional<L1Geometry> again;
    if (meter.capabilities().cache_events == 0) again = l1_geometry(measure(meter, true, meter.seed() + 1));
    refuse_taken(report, again);
    return report;
}

std::optional<L1Geometry> l1_geometry(const TestReport& report) {
    const Finding* capacity = report.find("L1", "capacity");
    const Finding* line = report.find("L1", "line");
    const Finding* ways = report.find("L1", "ways");
    const Finding* latency = report.find("L1", "latency");
    if (capacity == nullptr || line == nullptr || ways == nullptr || latency == nullptr) return {};
    return L1Geometry{static_cast<std::uint64_t>(capacity->value->number),
                      static_cast<std::uint64_t>(line->value->number), static_cast<unsigned>(ways->value->number),
                      latency->value->number};
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "probes/tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

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
constexpr std::uint64_t words_of_piece = 16;   ///< locations in a piece of a page that is a line, or two
constexpr std::uint64_t least_blameless = 32;  ///< bytes of a stride, less than which there are no fewer lines
/// Locations of a string that shows conflicts: a miss in a lap of more takes less than noise.
constexpr std::uint64_t few_locations = 64;
constexpr unsigned line_confirmations = 2;
constexpr unsigned most_attempts = 6;    ///< with noise and without counts
constexpr double longer_at_first = 1.2;  ///< share by which lines take more when they are used first

/// Says whether sets of addresses are compact: whether all of them are hits.
class CompactTest {
public:
    CompactTest(Meter& meter, bool robust, std::uint64_t seed)
        : meter_(meter), robust_(robust), seed_(seed), arena_(new_arena()), hit_(meter.settled(arena_, {0})) {}

    double hit_latency() const { return hit_; }
    std::uint64_t page() const { return arena_.page; }

    /// From here on pages lie elsewhere.
    CompactTest& place_anew() {
        arena_ = new_arena();
        return *this;
    }

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
        if (!longer(offsets)) return true;
        if (!robust_ || offsets.size() * stride <= arena_.page) return false;
        // The pages may be to blame.
        if (stride < least_blameless) return compact(one_of_each_piece(offsets), least_blameless);
        const auto [time, blameless] = meter_.settled_in_turn(arena_, offsets, without_conflicts(offsets));
        return time <= blameless + meter_.tolerance(blameless);
    }

    /// Where a location does not stay, a lap has at least one miss, which takes as long as a hit and more.
    bool longer(const Offsets& offsets) {
        const double miss = robust_ ? hit_ / static_cast<double>(offsets.size()) : 0;
        if (!meter_.takes_longer(arena_, offsets, hit_, miss)) return false;
        if (!robust_ || meter_.noise() == 0) return true;
        // What a hit takes now: the core's clock may be judged otherwise than at first, by so much.
        const double now = std::min(meter_.settled(arena_, {0}), hit_ * (1 + meter_.misjudged));
        return now <= hit_ || meter_.takes_longer(arena_, offsets, now, miss);
    }

    /// Of locations that lie so close that the same lines are used with fewer of them.
    static Offsets one_of_each_piece(const Offsets& offsets) {
        const std::uint64_t first = std::ranges::min(offsets);
        Offsets found = offsets;
        std::erase_if(found.change(), [&](std::uint64_t offset) { return (offset - first) % least_blameless != 0; });
        return found;
    }

    /// The same pages, each as often, but as few lines of each as there are words for its locations; these lie in other
    /// sets than those of the pages before.
    Offsets without_conflicts(const Offsets& offsets) const {
        std::map<std::uint64_t, std::uint64_t> of_page;  ///< locations
        for (const std::uint64_t offset : offsets) ++of_page[offset / arena_.page];
        std::map<std::uint64_t, std::uint64_t> next;  ///< word of a page, counted from the begin of a piece
        std::uint64_t piece = 0;
        for (const auto& [page, locations] : of_page) {
            next[page] = piece * words_of_piece;
            piece += (locations + words_of_piece - 1) / words_of_piece;
        }
        Offsets found = offsets;
        for (std::uint64_t& offset : found.change()) {
            const std::uint64_t page = offset / arena_.page;
            offset = page * arena_.page + next[page]++ * pointer % arena_.page;
        }
        return found;
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
    std::uint64_t stride = pointer, n = 1;
    while (compact(stride, n)) {
        n *= 2;
        if (n * stride > largest_l1 || !compact.fits(stride, n))
            return {0, 0, fmt::format("times do not rise up to {}", format_size(n * stride)), true};
    }
    for (std::uint64_t old = 0;; stride *= 2) {
        if (!compact.fits(stride, n)) return {0, 0, "the number of ways is not reached within the arena"};
        if (old != 0 && compact(stride, n) && !more_conflict(compact, stride, n))
            return {0, 0, "a longer stride made fewer conflicts"};
        n = bisect(0, n, [&](std::uint64_t locations) { return compact(stride, locations); }).high;
        report.decisions.push_back(fmt::format("stride {}: {} locations do not fit", stride, n));
        if (n == old) break;
        if (n <= 1) return {0, 0, "a single location does not stay"};
        old = n;
    }
    return {static_cast<unsigned>(n - 1), stride / 2 * (n - 1), ""};
}

/// Figure 10, from the size of a location; 0 = not found. A cache of one set has a line of the size of a way, which no
/// shift leaves.
std::uint64_t line_size(CompactTest& compact, const Found& found, bool robust) {
    const std::uint64_t way = found.capacity / found.ways;
    for (std::uint64_t line = pointer; line < way; line *= 2)
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
        if (geometry || found.empty()) report = std::move(attempt);
        if (!geometry) return;
        const auto differs = [&](const L1Geometry& each) {
            return each.capacity != geometry->capacity || each.line != geometry->line || each.ways != geometry->ways;
        };
        contradicted = contradicted || std::ranges::any_of(found, differs);
        found.push_back(*geometry);
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

TestReport xray_l1_published(Meter& meter) { return measure(meter, false, meter.seed()); }
TestReport xray_l1_robust(Meter& meter) {
    if (meter.noise() == 0) return measure(meter, true, meter.seed());
    // An answer that was not confirmed with noise is asked for again. Nothing is counted where others share caches:
    // then what was found must be found twice, and nothing else.
    const bool counted = meter.capabilities().cache_events > 0;
    const unsigned most = counted ? 2 : most_attempts, needed = counted ? 1 : 2;
    Attempts attempts;
    for (unsigned i = 0; i < most && attempts.found.size() < needed && !attempts.contradicted; ++i)
        attempts.add(measure(meter, true, meter.seed() + (counted ? 0 : i)));
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
    return L1Geometry{static_cast<std::uint64_t>(capacity->value->number),
                      static_cast<std::uint64_t>(line->value->number), static_cast<unsigned>(ways->value->number),
                      latency->value->number};
}

}  // namespace cachetally

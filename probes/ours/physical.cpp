// SPDX-License-Identifier: BSD-3-Clause
#include "probes/tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "probes/analysis.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

constexpr unsigned trials = 24, equal_trials = 5;
constexpr unsigned eviction_sets = 3;
constexpr std::uint64_t groups = 48;  // more than lines that stay: each pass leaves out many of the others
constexpr std::uint64_t most_pages = 8192;
constexpr unsigned others = 16;

using Pages = std::vector<std::uint64_t>;

class Physical {
public:
    /// Sets of L1 may be chosen by more than the offset in a page: pages `step` apart meet in one.
    Physical(Meter& meter, const L1Geometry& l1)
        : meter_(meter), step_(std::max<std::uint64_t>(1, l1.way() / meter.page())), l1_ways_(l1.ways) {
        renew();
    }

    /// Whether pages between those that meet in L1 are left out.
    bool skips_pages() const { return step_ > 1; }

    /// New pages.
    void renew() {
        arena_ = meter_.target().make_arena(most() * step_ * meter_.page(), meter_.page());
        arena_.written = true;
    }

    std::uint64_t most() const {
        return std::min(most_pages, meter_.capabilities().largest_arena / (step_ * meter_.page()));
    }

    /// Whether lines at the same offset of these pages do not all stay in L2. Lines of page tables may be among those
    /// of a set, but not at another offset, too.
    bool fail(const Pages& pages) { return fail_at(pages, 0) && fail_at(pages, arena_.page / 8 * 3); }

    /// Whether lines in the middle of some other pages meet with lines at the begin of these, which just fit: then a
    /// way is no multiple of a page.
    bool pages_overlap(const Pages& pages) {
        for (unsigned i = 0; i < others; ++i) {
            Offsets offsets = at(pages, 0);
            offsets.change().push_back(other(pages, i) * step_ * arena_.page + arena_.page / 2);
            if (misses(offsets)) return true;
        }
        return false;
    }

    bool fail(std::uint64_t count) { return fail(first(count)); }

    /// The least number of first pages that fail; 0 = none does. Looked for around the number found before.
    std::uint64_t first_failure() {
        std::uint64_t low = 1, high = std::min(std::max<std::uint64_t>(failed_before_, 8), most());
        std::uint64_t step = failed_before_ == 0 ? high : 1;
        if (fail(high)) {
            for (; high > low + step; step *= 2) {
                if (!fail(high - step)) {
                    low = high - step;
                    break;
                }
                high -= step;
            }
        } else {
            do {
                if (high == most()) return 0;
                low = high;
                high = std::min(high + step, most());
                step *= 2;
            } while (!fail(high));
        }
        return failed_before_ = bisect(low, high, [&](std::uint64_t count) { return !fail(count); }).high;
    }

    /// Group testing: leaves out what can be spared, a group at a time.
    Pages reduced(Pages pages) {
        for (bool smaller = true; smaller;) {
            smaller = false;
            const std::size_t size = std::max<std::size_t>(1, pages.size() / groups);
            for (std::size_t begin = 0; begin < pages.size();) {
                Pages rest(pages.begin(), pages.begin() + static_cast<std::ptrdiff_t>(begin));
                const std::size_t end = std::min(begin + size, pages.size());
                rest.insert(rest.end(), pages.begin() + static_cast<std::ptrdiff_t>(end), pages.end());
                if (!rest.empty() && fail(rest)) {
                    pages = std::move(rest);
                    smaller = true;
                } else {
                    begin = end;
                }
            }
        }
        return pages;
    }

    /// Whether pages that stay one by one beside all but one of a minimal set stay together, too, beside all but any.
    /// Not so if an exclusive level is meant: then some of the set are there to take L1 from the others, and pages that
    /// do so, too, are as good. `staying` is increased by how many pages stay.
    bool stay_together(const Pages& set, unsigned& staying) {
        Pages some;
        for (unsigned i = 0; i < others; ++i) {
            Pages pages(set.begin(), set.end() - 1);
            pages.push_back(other(set, i));
            if (!fail(pages)) some.push_back(pages.back());
        }
        staying += static_cast<unsigned>(some.size());
        some.resize(std::min<std::size_t>(some.size(), l1_ways_));
        for (std::size_t left_out = 0; left_out < set.size() && !some.empty(); ++left_out) {
            Pages pages = some;
            for (std::size_t i = 0; i < set.size(); ++i)
                if (i != left_out) pages.push_back(set[i]);
            if (fail(pages)) return false;
        }
        return !some.empty();
    }

    static Pages first(std::uint64_t count) {
        Pages pages(count);
        for (std::uint64_t i = 0; i < count; ++i) pages[i] = i;
        return pages;
    }

private:
    Offsets at(const Pages& pages, std::uint64_t offset) const {
        std::vector<std::uint64_t> offsets;
        for (const std::uint64_t page : pages) offsets.push_back(page * step_ * arena_.page + offset);
        return offsets;
    }

    /// Pages behind the last of these, which ascend.
    std::uint64_t other(const Pages& pages, unsigned i) const { return (pages.back() + 1 + i) % most(); }

    bool fail_at(const Pages& pages, std::uint64_t offset) { return misses(at(pages, offset)); }

    bool misses(const Offsets& offsets) {
        // long enough for lines to settle where the one to go is drawn; then few laps show whether all stay
        const Measurement seen =
            meter_.count(arena_, {offsets}, {laps_of(1024, offsets, 2, 32) + 1, laps_of(256, offsets, 2, 8)});
        return seen.cache_misses[1] * static_cast<double>(offsets.size()) > 0.02;
    }

    Meter& meter_;
    std::uint64_t step_;
    unsigned l1_ways_;
    std::uint64_t failed_before_ = 0;  ///< pages of the arena before
    Arena arena_;
};

TestReport all_refused(TestReport report, const std::string& reason) {
    return refused(std::move(report), "L2", {"ways", "capacity"}, reason);
}

/// How many pages just do not fit, of new pages each; nothing where as many as there are do.
std::vector<std::uint64_t> count_failures(Physical& physical) {
    std::vector<std::uint64_t> failures;
    for (unsigned i = 0; i < trials; ++i) {
        physical.renew();
        failures.push_back(physical.first_failure());
        if (failures.back() == 0) return {};
        const bool equal =
            std::ranges::count(failures, failures.front()) == static_cast<std::ptrdiff_t>(failures.size());
        if (equal && failures.size() == equal_trials) break;  // pages do not lie anywhere
    }
    return failures;
}

/// What minimal eviction sets on new pages show.
struct EvictionSets {
    std::uint64_t size = 0;  ///< lines of each; 0 = these do not agree
    bool exclusive = false;  ///< lines of another level are among those that stay
    bool overlap = false;    ///< lines at different offsets of pages meet
};

/// Whether pages do not fill sets of so many ways as they would, wherever they lie.
bool contradict(const ColourEstimate& found, const EvictionSets& sets) { return !sets.overlap && found.colours <= 1; }

/// Ends with the first set where that contradicts how many pages fit.
EvictionSets find_eviction_sets(Physical& physical, const std::vector<std::uint64_t>& failures, TestReport& report) {
    EvictionSets found;
    unsigned staying = 0;
    std::vector<std::uint64_t> sizes;
    while (sizes.size() < eviction_sets) {
        physical.renew();
        const std::uint64_t count = physical.first_failure();
        if (count == 0) return {};
        const Pages set = physical.reduced(Physical::first(count));
        sizes.push_back(set.size());
        report.decisions.push_back(fmt::format("of {} pages {} lines evict each other", count, set.size()));
        if (set.size() > 1) {
            const Pages but_one(set.begin(), set.end() - 1);
            found.overlap = found.overlap || physical.pages_overlap(but_one);
            found.exclusive = !physical.stay_together(set, staying) || found.exclusive;
        }
        found.size = sizes.front();
        const bool first = sizes.size() == 1 && found.size > 1;
        if (first && contradict(estimate_colours(failures, found.size - 1), found)) return found;
    }
    report.decisions.push_back(
        fmt::format("{} of {} other lines stay beside a set that is full", staying, eviction_sets * others));
    std::ranges::sort(sizes);
    found.size = sizes[0] == sizes[1] || sizes[1] == sizes[2] ? sizes[1] : 0;
    return found;
}

}  // namespace

TestReport physical_robust(Meter& meter, const L1Geometry& l1, const std::string& l1_policy) {
    TestReport report;
    const Capabilities& can = meter.capabilities();
    if (can.cache_events < 2)
        return all_refused(std::move(report), "misses of a second level cannot be counted on this target");
    if (l1.ways > 1 && l1_policy != "lru" && l1_policy != "fifo")
        return all_refused(std::move(report),
                           "L1 is not known to replace the oldest lines, and may keep some of many for good");
    Physical physical(meter, l1);
    const std::vector<std::uint64_t> failures = count_failures(physical);
    if (physical.skips_pages() && !failures.empty() &&
        std::ranges::count(failures, failures.front()) == std::ssize(failures))
        return all_refused(
            std::move(report),
            fmt::format(
                "{} pages a way of L1 apart are too many each time: they may not be drawn, and meet in some sets only",
                failures.front()));
    const EvictionSets sets = failures.empty() ? EvictionSets{} : find_eviction_sets(physical, failures, report);
    if (sets.size == 0)
        return all_refused(std::move(report),
                           "lines of as many pages as there are do not evict each other, or not always as many");
    const std::uint64_t ways = sets.size - 1;
    if (sets.exclusive || ways <= l1.ways)
        return all_refused(std::move(report),
                           fmt::format("{} lines stay, and no others beside them: lines of L1 may be among them, or "
                                       "all lines at the same offset of pages meet in one set",
                                       ways));
    const ColourEstimate found = estimate_colours(failures, ways);
    if (contradict(found, sets))
        return all_refused(
            std::move(report),
            fmt::format("{} lines stay, but pages do not fill sets of so many ways as they would", ways));
    report.decisions.push_back(
        fmt::format("{} .. {} classes of sets, most likely {}", found.low, found.high, found.colours));
    report.answer("L2", "ways", ways, "ways", "eviction sets by group testing");
    const auto bytes = [&](std::uint64_t colours) { return static_cast<double>(colours * ways * meter.page()); };
    if (sets.overlap)
        report.refuse("L2", "capacity", "lines at different offsets of pages meet: a way is no multiple of a page");
    else if (bytes(found.high) > 1.1 * bytes(found.low))
        report.refuse("L2", "capacity", "somewhere between {} and {} bytes", bytes(found.low), bytes(found.high));
    else
        report.answer("L2", "capacity", bytes(found.colours), bytes(found.low), bytes(found.high), "bytes",
                      "likelihood of how many pages fit");
    return report;
}

}  // namespace cachetally

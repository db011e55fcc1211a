#include "probes/ours/physical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "probes/analysis/occupancy.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

constexpr unsigned trials = 24;
constexpr unsigned eviction_sets = 3;
constexpr std::uint64_t groups = 33;
constexpr std::uint64_t most_pages = 8192;
constexpr unsigned others = 16;

using Pages = std::vector<std::uint64_t>;

class Physical {
public:
    explicit Physical(Meter& meter) : meter_(meter) { renew(); }

    /// New pages.
    void renew() { arena_ = meter_.target().make_arena(most() * meter_.page(), meter_.page()); }

    std::uint64_t most() const { return std::min(most_pages, meter_.capabilities().largest_arena / meter_.page()); }

    /// Whether lines at the same offset of these pages do not all stay in L2.
    bool fail(const Pages& pages) {
        Offsets offsets;
        for (const std::uint64_t page : pages) offsets.push_back(page * arena_.page);
        const auto laps = static_cast<unsigned>(std::clamp<std::size_t>(1024 / pages.size(), 2, 32));
        return meter_.target().run(arena_, {offsets}, {laps + 1, laps}).cache_misses[1] *
                   static_cast<double>(pages.size()) >
               0.02;
    }

    bool fail(std::uint64_t count) { return fail(first(count)); }

    /// The least number of first pages that fail; 0 = none does.
    std::uint64_t first_failure() {
        std::uint64_t low = 1, high = 8;
        while (high < most() && !fail(high)) low = high, high = std::min(2 * high, most());
        if (!fail(high)) return 0;
        while (high - low > 1) {
            const std::uint64_t middle = (low + high) / 2;
            (fail(middle) ? high : low) = middle;
        }
        return high;
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

    /// How many of some other pages stay beside a set of lines that just fits.
    unsigned staying_beside(Pages pages) {
        unsigned staying = 0;
        pages.back() = 0;
        for (unsigned i = 0; i < others; ++i) {
            pages.back() = most() - 1 - i;
            staying += !fail(pages);
        }
        return staying;
    }

    static Pages first(std::uint64_t count) {
        Pages pages(count);
        for (std::uint64_t i = 0; i < count; ++i) pages[i] = i;
        return pages;
    }

private:
    Meter& meter_;
    Arena arena_;
};

void refuse_all(TestReport& report, const std::string& reason) {
    report.refuse("L2", "ways", reason);
    report.refuse("L2", "capacity", reason);
}

/// Lines of minimal eviction sets on new pages; 0 = these do not agree.
std::uint64_t eviction_set_size(Physical& physical, TestReport& report, unsigned& staying) {
    std::vector<std::uint64_t> sizes;
    for (unsigned i = 0; i < eviction_sets; ++i) {
        physical.renew();
        const std::uint64_t count = physical.first_failure();
        if (count == 0) return 0;
        const Pages set = physical.reduced(Physical::first(count));
        sizes.push_back(set.size());
        staying += set.size() > 1 ? physical.staying_beside(set) : 0;
        report.decisions.push_back(fmt::format("of {} pages {} lines evict each other", count, set.size()));
    }
    std::ranges::sort(sizes);
    return sizes[0] == sizes[1] || sizes[1] == sizes[2] ? sizes[1] : 0;
}

}  // namespace

TestReport physical_hardened(Meter& meter, const L1Geometry& l1, const std::string& l1_policy) {
    TestReport report;
    const Capabilities& can = meter.capabilities();
    if (can.cache_events < 2) {
        refuse_all(report, "misses of a second level cannot be counted on this target");
        return report;
    }
    if (l1.ways > 1 && l1_policy != "lru" && l1_policy != "fifo") {
        refuse_all(report, "L1 is not known to replace the oldest lines, and may keep some of many for good");
        return report;
    }
    Physical physical(meter);
    unsigned staying = 0;
    const std::uint64_t size = eviction_set_size(physical, report, staying);
    if (size == 0) {
        refuse_all(report, "lines of as many pages as there are do not evict each other, or not always as many");
        return report;
    }
    report.decisions.push_back(
        fmt::format("{} of {} other lines stay beside a set that is full", staying, eviction_sets * others));
    const bool exclusive = staying == 0;
    if (size - 1 <= l1.ways || (exclusive && size - 1 <= l1.ways + 1)) {
        refuse_all(report, "a set has no more ways than one of L1, which keeps as many lines");
        return report;
    }
    if (exclusive) {
        refuse_all(report,
                   fmt::format("{} lines stay, but no other beside them: it is exclusive, or has one set for all "
                               "lines at the same offset of pages",
                               size - 1));
        return report;
    }
    const std::uint64_t ways = size - 1;
    const auto number = static_cast<double>(ways);
    report.answer("L2", "ways", number, number, number, "ways", "eviction sets by group testing");
    std::vector<std::uint64_t> failures;
    for (unsigned i = 0; i < trials; ++i) {
        physical.renew();
        failures.push_back(physical.first_failure());
    }
    const ColourEstimate found = estimate_colours(failures, ways);
    report.decisions.push_back(
        fmt::format("{} .. {} classes of sets, most likely {}", found.low, found.high, found.colours));
    const auto bytes = [&](std::uint64_t colours) { return static_cast<double>(colours * ways * meter.page()); };
    if (found.colours <= 1)
        report.refuse("L2", "capacity", "pages do not fill sets as pages that lie anywhere do");
    else if (bytes(found.high) > 1.1 * bytes(found.low))
        report.refuse("L2", "capacity",
                      fmt::format("somewhere between {} and {} bytes", bytes(found.low), bytes(found.high)));
    else
        report.answer("L2", "capacity", bytes(found.colours), bytes(found.low), bytes(found.high), "bytes",
                      "likelihood of how many pages fit");
    return report;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "probes/analysis.hpp"
#include "probes/tests.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t largest_translated = std::uint64_t{64} << 20;  ///< bytes that are searched
constexpr std::uint64_t word_of_location = 8;

/// Whether a TLB holds the pages of a set of locations, all of which L1 holds.
class TranslatedSets {
public:
    TranslatedSets(Meter& meter, const L1Geometry& l1)
        : meter_(meter),
          l1_(l1),
          arena_(meter.arena_up_to(largest_translated, meter.page())),
          hit_(meter.settled(arena_, {0})) {}

    bool fits(std::uint64_t stride, std::uint64_t n) const { return end_of(string(stride, n, 0)) <= arena_.bytes; }
    bool compact(std::uint64_t stride, std::uint64_t n, std::uint64_t shift = 0) {
        return !meter_.takes_longer(arena_, string(stride, n, shift), hit_);
    }

private:
    static std::uint64_t end_of(const Offsets& offsets) { return std::ranges::max(offsets) + word_of_location; }

    /// As many locations as L1 has ways share a set of it or, closer together, as many as fill all sets that they meet.
    Offsets string(std::uint64_t stride, std::uint64_t n, std::uint64_t shift) const {
        const std::uint64_t group = stride >= l1_.way() ? l1_.ways : l1_.capacity / stride;
        return grouped_string(stride, n, shift, {group, l1_.line});
    }

    Meter& meter_;
    L1Geometry l1_;
    Arena arena_;
    double hit_;
};

struct TranslatedWay {
    std::uint64_t ways = 0, bytes = 0;
    std::string reason;  ///< why nothing was found
};

/// Figure 8.
TranslatedWay translated_way(TranslatedSets& sets, std::uint64_t stride, std::vector<std::string>& decisions) {
    std::uint64_t n = 1;
    while (sets.compact(stride, n)) {
        n *= 2;
        if (!sets.fits(stride, n)) return {0, 0, "times do not rise within the arena"};
    }
    for (std::uint64_t old = 0;; stride *= 2) {
        if (!sets.fits(stride, n)) return {0, 0, "the number of ways is not reached within the arena"};
        if (old != 0 && sets.compact(stride, n)) return {0, 0, "a longer stride made fewer conflicts"};
        n = bisect(0, n, [&](std::uint64_t locations) { return sets.compact(stride, locations); }).high;
        decisions.push_back(fmt::format("stride {}: {} locations do not fit", stride, n));
        if (n == old) return {n - 1, stride / 2, ""};
        if (n <= 1) return {0, 0, "a single location does not stay"};
        old = n;
    }
}

/// Figure 10.
std::uint64_t translated_block(TranslatedSets& sets, const TranslatedWay& way) {
    for (std::uint64_t shift = word_of_location; shift < way.bytes; shift *= 2)
        if (sets.compact(way.bytes, 2 * way.ways, shift)) return shift;
    return way.bytes;
}

}  // namespace

TestReport xray_tlb_published(Meter& meter, const L1Geometry& l1) {
    TestReport report;
    TranslatedSets sets(meter, l1);
    const TranslatedWay way = translated_way(sets, meter.page(), report.decisions);
    if (!way.reason.empty()) return refused(std::move(report), "TLB1", {"entries", "ways", "page"}, way.reason);
    const std::uint64_t page = translated_block(sets, way);
    report.answer("TLB1", "entries", way.ways * way.bytes / page, "entries", "compact sets <S,n> that stay in L1");
    report.answer("TLB1", "ways", way.ways, "ways", "compact sets <S,n> that stay in L1");
    report.answer("TLB1", "page", page, "bytes", "half of a set shifted <C/A,2A,b>");
    return report;
}

}  // namespace cachetally

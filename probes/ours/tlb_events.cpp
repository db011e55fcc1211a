#include "probes/ours/tlb_events.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cachetally {
namespace {

constexpr std::uint64_t most_pages = 12288;
constexpr std::uint64_t least_page = 4096;
constexpr double clear_share = 0.05;  ///< of loads

/// The most pages that a TLB does not miss any of once it has seen them; 0 = none do not fit into the arena.
std::uint64_t pages_that_fit(Meter& meter, unsigned level) {
    const std::uint64_t page = meter.page(), most = std::min(meter.capabilities().largest_arena / page, most_pages);
    const Arena arena = meter.target().make_arena(most * page, page);
    // Random TLBs above may keep what does not fit for a lap or two.
    const auto laps = [](std::uint64_t pages) {
        return static_cast<unsigned>(std::clamp<std::uint64_t>(1024 / pages, 1, 16));
    };
    const auto share = [&](std::uint64_t pages) {
        Offsets offsets;
        // TLBs may hold parts of pages: each of these as often as the others.
        for (std::uint64_t i = 0; i < pages; ++i) offsets.push_back(i * page + i * (least_page + 128) % page);
        return meter.count(arena, {offsets}, {2, laps(pages)}).tlb_misses[level];
    };
    const auto misses = [&](std::uint64_t pages) {
        return share(pages) * static_cast<double>(pages * laps(pages)) > 0.5;
    };
    std::uint64_t low = 0, high = 1;
    while (high < most && !misses(high)) low = high, high = std::min(2 * high, most);
    if (high == most && !misses(high)) return 0;
    while (high - low > 1) {
        const std::uint64_t middle = (low + high) / 2;
        (misses(middle) ? high : low) = middle;
    }
    // Beyond the end of a TLB many loads miss; what interrupts take is few.
    return share(std::min(low + low / 4 + 1, most)) < clear_share ? 0 : low;
}

/// Entries of a TLB from its misses. Interrupts only add misses, so that the most pages that ever fit are told.
std::uint64_t entries_by_events(Meter& meter, unsigned level) {
    std::uint64_t most = 0;
    for (unsigned i = 0; i < (meter.noise() > 0 ? 3U : 1U); ++i) most = std::max(most, pages_that_fit(meter, level));
    return most;
}

/// A TLB that holds all pages of the arena, if it translates any of them: no more is known than what was said before.
void refuse_unseen(TestReport& report, const std::string& level) {
    std::erase_if(report.findings, [&](const Finding& finding) {
        return finding.parameter == "tlb_levels" || (finding.level == level && finding.value);
    });
    const std::string reason = level + " misses none of as many pages as there are";
    report.refuse(level, "entries", reason);
    report.refuse("", "tlb_levels", reason);
}

}  // namespace

void decide_tlbs_by_events(TestReport& report, Meter& meter) {
    const unsigned count = meter.capabilities().tlb_events;
    double levels = 0;
    for (unsigned i = 0; i < count; ++i) {
        const std::string level = fmt::format("TLB{}", i + 1);
        const auto entries = static_cast<double>(entries_by_events(meter, i));
        if (entries == 0) return refuse_unseen(report, level);
        ++levels;
        const Finding* found = report.find(level, "entries");
        report.decisions.push_back(fmt::format("{}: misses are counted beyond {} pages, times say {}", level, entries,
                                               found ? fmt::format("{}", found->value->number) : "nothing"));
        if (found != nullptr && found->value->number == entries) continue;
        std::erase_if(report.findings, [&](const Finding& finding) {
            return finding.level == level && (finding.parameter == "entries" || finding.value);
        });
        report.answer(level, "entries", entries, entries, entries, "entries", "counts of misses");
    }
    std::erase_if(report.findings, [&](const Finding& finding) {  // of TLBs that there are not
        return finding.level.starts_with("TLB") && finding.level > fmt::format("TLB{}", levels);
    });
    const Finding* found = report.find("", "tlb_levels");
    if (found != nullptr && found->value->number == levels) return;
    std::erase_if(report.findings, [&](const Finding& finding) { return finding.parameter == "tlb_levels"; });
    report.answer("", "tlb_levels", levels, levels, levels, "levels", "counts of misses");
}

}  // namespace cachetally

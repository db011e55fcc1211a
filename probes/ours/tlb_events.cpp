// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/tlb_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "probes/analysis.hpp"
#include "probes/ours/page_groups.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t most_pages = 12288;
constexpr std::uint64_t least_page = 4096;
constexpr double clear_share = 0.05;  ///< of loads
constexpr double nearly_each = 0.75;  ///< of loads; of twice as many that share entries it is half

/// Pieces of the arena, `bytes` each and as far apart, with a load in each: in different parts of them, or at their
/// begin.
struct Pieces {
    std::uint64_t bytes = 0;
    bool in_parts = true;
};

/// The most pieces that a TLB does not miss any of once it has seen them; 0 = none do not fit into the arena.
std::uint64_t pieces_that_fit(Meter& meter, unsigned level, const Pieces& pieces) {
    const std::uint64_t page = pieces.bytes, most = std::min(meter.capabilities().largest_arena / page, most_pages);
    const Arena arena = meter.target().make_arena(std::max(most * page, meter.page()), meter.page());
    // Random TLBs above may keep what does not fit for a lap or two.
    const auto laps = [](std::uint64_t pages) {
        return static_cast<unsigned>(std::clamp<std::uint64_t>(1024 / pages, 1, 16));
    };
    const auto share = [&](std::uint64_t pages) {
        std::vector<std::uint64_t> offsets;
        // TLBs may hold parts of pages: each of these as often as the others.
        for (std::uint64_t i = 0; i < pages; ++i)
            offsets.push_back(i * page + (pieces.in_parts ? i * (least_page + 128) : i * 128 % least_page) % page);
        return meter.count(arena, {offsets}, {2, laps(pages)}).tlb_misses[level];
    };
    const auto misses = [&](std::uint64_t pages) {
        return share(pages) * static_cast<double>(pages * laps(pages)) > 0.5;
    };
    std::uint64_t low = 0, high = 1;
    while (high < most && !misses(high)) low = high, high = std::min(2 * high, most);
    if (high == most && !misses(high)) return 0;
    low = bisect(low, high, [&](std::uint64_t pages) { return !misses(pages); }).low;
    // Beyond the end of a TLB many loads miss; what interrupts take is few.
    return share(std::min(low + low / 4 + 1, most)) < clear_share ? 0 : low;
}

/// Entries of a TLB from its misses. Interrupts only add misses, so that the most pages that ever fit are the answer.
std::uint64_t entries_by_events(Meter& meter, unsigned level, const Pieces& pieces) {
    std::uint64_t most = 0;
    for (unsigned i = 0; i < (meter.noise() > 0 ? 3U : 1U); ++i)
        most = std::max(most, pieces_that_fit(meter, level, pieces));
    return most;
}

/// Loads in several 4 KiB of pages, part by part, so that a TLB above has lost a page when it comes again.
class PartsOfPages {
public:
    PartsOfPages(Meter& meter, unsigned level, std::uint64_t pages, std::uint64_t page)
        : meter_(meter),
          level_(level),
          pages_(pages),
          page_(page),
          parts_(page / least_page),
          more_(pages + pages / 4 + 1) {}

    bool too_large() const { return parts_ < 2 || more_ * page_ > meter_.capabilities().largest_arena; }

    /// Whether all of them stay.
    bool all_stay() const {
        std::vector<std::uint64_t> offsets;
        for (std::uint64_t part = 0; part < parts_; part += std::max<std::uint64_t>(1, parts_ / enough))
            for (std::uint64_t i = 0; i < pages_; ++i) offsets.push_back(at(i, part));
        return stay(offsets);
    }

    /// Whether more pages stay with one load in each: parts that share a set are as few as can be.
    bool more_stay() const {
        std::vector<std::uint64_t> offsets;
        for (std::uint64_t i = 0; i < more_; ++i) offsets.push_back(at(i, i * parts_ / more_));
        return stay(offsets);
    }

private:
    static constexpr std::uint64_t enough = 4;

    std::uint64_t at(std::uint64_t number, std::uint64_t part) const {
        return number * page_ + page_ / parts_ * part + (part * pages_ + number) * 128 % least_page;
    }

    bool stay(const Offsets& offsets) const {
        const Arena arena = meter_.target().make_arena(std::max(more_ * page_, meter_.page()), meter_.page());
        return meter_.count(arena, {offsets}, {2, 2}).tlb_misses[level_] < clear_share;
    }

    Meter& meter_;
    unsigned level_;
    std::uint64_t pages_, page_, parts_, more_;
};

/// The bytes of which a TLB has an entry: beyond its reach each load misses that is so far from the one before.
std::uint64_t bytes_of_an_entry(Meter& meter, unsigned level, std::uint64_t reach) {
    const Arena arena = meter.arena_up_to(4 * reach + meter.page(), meter.page());
    std::uint64_t bytes = least_page;
    for (; bytes < meter.page(); bytes *= 2) {
        const Measurement run = meter.count(arena, {strided_string(arena.bytes, bytes)}, {2, 1});
        if (run.tlb_misses[level] > nearly_each) break;
    }
    return bytes;
}

/// Entries that hold parts of pages. A page apart these may fill the sets unevenly; parts after each other do not. 0 =
/// not to be seen: a TLB above may hold whole pages.
std::uint64_t entries_of_parts(Meter& meter, unsigned level, std::uint64_t in_parts) {
    const PartsOfPages others(meter, level, in_parts, meter.page());
    if (!others.more_stay() && entries_by_events(meter, level, {meter.page(), false}) == in_parts) return in_parts;
    if (level > 0) return 0;
    const std::uint64_t parts = entries_by_events(meter, level, {least_page});
    const std::uint64_t entries = parts * least_page / bytes_of_an_entry(meter, level, parts * least_page);
    return entries >= in_parts ? entries : 0;
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

void refuse_tlb(TestReport& report, const std::string& level, const std::string& reason) {
    std::erase_if(report.findings, [&](const Finding& finding) { return finding.level == level; });
    report.refuse(level, {"entries", "ways"}, reason);
}

}  // namespace

bool holds_whole_pages(Meter& meter, unsigned level, std::uint64_t pages, std::uint64_t page) {
    const PartsOfPages parts(meter, level, pages, page);
    return parts.too_large() || (parts.all_stay() && !parts.more_stay());
}

bool pages_come_in_groups(Meter& meter, unsigned level, std::uint64_t pages, std::uint64_t page) {
    constexpr std::uint64_t most_apart = 65536;
    const std::uint64_t most = std::min(meter.capabilities().largest_arena / page, most_apart);
    return come_in_groups(pages, most, [&](const std::vector<std::uint64_t>& numbers) {
        const Arena arena =
            meter.target().make_arena(std::max((std::ranges::max(numbers) + 1) * page, meter.page()), meter.page());
        std::vector<std::uint64_t> offsets;
        for (std::size_t i = 0; i < numbers.size(); ++i)
            offsets.push_back(numbers[i] * page + i * 128 % least_page % page);
        bool stay = false;
        for (unsigned i = 0; i < (meter.noise() > 0 ? 3U : 1U) && !stay; ++i)
            stay = meter.count(arena, {offsets}, {4, 4}).tlb_misses[level] < clear_share;
        meter.target().release(arena);
        return stay;
    });
}

bool tlb_above_keeps_some(Meter& meter, unsigned level, const PagesHeld& held) {
    if (level == 0 || held.pages == 0 || held.pages >= 4 * held.above) return false;
    const Arena arena = meter.target().make_arena(std::max(held.pages * held.page, meter.page()), meter.page());
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t i = 0; i < held.pages; ++i) offsets.push_back(i * held.page + i * 128 % least_page % held.page);
    return meter.count(arena, {offsets}, {16, 16}).tlb_misses[level - 1] < 1 - 1e-6;
}

void decide_tlbs_by_events(TestReport& report, Meter& meter) {
    const unsigned count = meter.capabilities().tlb_events;
    std::uint64_t above = 0;
    for (unsigned i = 0; i < count; ++i) {
        const std::string level = fmt::format("TLB{}", i + 1);
        const std::uint64_t whole = entries_by_events(meter, i, {meter.page()});
        if (whole == 0) return refuse_unseen(report, level);
        const bool kept = tlb_above_keeps_some(meter, i, {whole, std::exchange(above, whole), meter.page()});
        if (kept) {
            refuse_tlb(report, level, tlb_above_keeps);
            continue;
        }
        const bool parts = !holds_whole_pages(meter, i, whole, meter.page());
        if (!parts && pages_come_in_groups(meter, i, whole, meter.page())) {
            refuse_tlb(report, level, in_groups);
            continue;
        }
        const std::uint64_t entries = parts ? entries_of_parts(meter, i, whole) : whole;
        if (entries == 0) {
            refuse_tlb(report, level, "its entries hold parts of pages, which may fill its sets unevenly");
            continue;
        }
        const Finding* found = report.find(level, "entries");
        report.decisions.push_back(fmt::format("{}: misses are counted beyond {} pages, times say {}", level, entries,
                                               found ? fmt::format("{}", found->value->number) : "nothing"));
        if (found != nullptr && found->value->number == static_cast<double>(entries)) continue;
        std::erase_if(report.findings, [&](const Finding& finding) {
            return finding.level == level && (finding.parameter == "entries" || finding.value);
        });
        report.answer(level, "entries", entries, "entries", "counts of misses");
    }
    std::erase_if(report.findings, [&](const Finding& finding) {  // of TLBs that there are not
        return finding.level.starts_with("TLB") && finding.level > fmt::format("TLB{}", count);
    });
    const Finding* found = report.find("", "tlb_levels");
    if (found != nullptr && found->value->number == count) return;
    std::erase_if(report.findings, [&](const Finding& finding) { return finding.parameter == "tlb_levels"; });
    report.answer("", "tlb_levels", count, "levels", "counts of misses");
}

}  // namespace cachetally

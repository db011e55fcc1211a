// SPDX-License-Identifier: BSD-3-Clause
// What translation adds to the times of loads.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "cachetally/probe_meter.hpp"
#include "cachetally/probe_strings.hpp"
#include "probes/tests.hpp"

namespace cachetally {

/// Times of translation: of chains over pages, less those of as many lines that lie packed.
class TranslationTimes {
public:
    TranslationTimes(Meter& meter, const L1Geometry& l1)
        : meter_(meter),
          l1_(l1),
          unit_(std::max<std::uint64_t>(l1.line, 128)),
          arena_(meter.arena_up_to(most_pages * meter.page(), meter.page())) {}

    std::uint64_t most() const { return arena_.bytes / arena_.page; }

    /// Of a chase through the first `pages` pages.
    double step(std::uint64_t pages) {
        const auto [place, fresh] = known_.try_emplace(pages, 0);
        if (fresh) place->second = measured_step(pages);
        return place->second;
    }

    /// Whether that is more than `cycles`. With noise it is asked again, and is what it was at the least.
    bool exceeds(std::uint64_t pages, double cycles) {
        double least = step(pages);
        for (unsigned i = 0; i < asked_again() && least > cycles; ++i)
            least = known_[pages] = std::min(least, measured_step(pages));
        return least > cycles;
    }

    /// Of a chase with two loads in each of the first `pages` pages, per page.
    double step_of_two(std::uint64_t pages) {
        const PairedStrings strings = paired_strings(pages, arena_.page, unit_, meter_.seed());
        const std::uint64_t apart = arena_.page / 2 / unit_ * unit_;
        std::vector<std::uint64_t> spread, packed;
        for (const std::uint64_t offset : strings.spread) {
            spread.push_back(offset);
            spread.push_back(offset / arena_.page * arena_.page + (offset + apart) % arena_.page);
        }
        for (const std::uint64_t offset : strings.packed) {
            packed.push_back(offset);
            packed.push_back(offset + pages * unit_);
        }
        return difference(spread, packed) * 2;
    }

    /// Of a lap through these pages.
    double lap(const std::vector<std::uint64_t>& pages) {
        std::vector<std::uint64_t> spread;
        const std::uint64_t lines = arena_.page / unit_;
        for (std::size_t i = 0; i < pages.size(); ++i) spread.push_back(pages[i] * arena_.page + i % lines * unit_);
        return more_than_packed(std::move(spread)) * static_cast<double>(pages.size());
    }

    /// Where in a page its load lies: within a way of L1, so that lines share its sets as packed ones do; or anywhere,
    /// so that they share few sets of any cache, and few parts of pages where a TLB holds these.
    enum class Lines : std::uint8_t { in_a_way, anywhere };

    /// Of a chase through `n` pages, `stride` pages apart.
    double step(std::uint64_t stride, std::uint64_t n, Lines lines = Lines::in_a_way) {
        std::vector<std::uint64_t> spread;
        for (std::uint64_t i = 0; i < n; ++i)
            spread.push_back(i * stride * arena_.page + (lines == Lines::anywhere ? anywhere(i, n) : in_a_way(i)));
        return more_than_packed(std::move(spread));
    }

    /// Whether that is more than `cycles`, each time it is asked.
    bool exceeds(std::uint64_t stride, std::uint64_t n, Lines lines, double cycles) {
        for (unsigned i = 0; i <= asked_again(); ++i)
            if (step(stride, n, lines) <= cycles) return false;
        return true;
    }

    /// Whether so many pages that stay with one load in each do not with two, half a page apart: then entries hold
    /// parts of pages.
    bool holds_parts(std::uint64_t pages) {
        if (arena_.page <= least_part) return false;
        const double one = std::max(0.0, step(pages));
        return step_of_two(pages) > one * (1 + more_with_two) + clear_step;
    }

    /// Whether what so many pages take depends on which parts of them are loaded.
    bool depends_on_parts(std::uint64_t pages) {
        if (!has_parts() || !fits(1, pages)) return false;
        const double near = step(1, pages, Lines::in_a_way), far = step(1, pages, Lines::anywhere);
        return std::max(near, far) > std::max(0.0, std::min(near, far)) * (1 + more_with_two) + clear_step;
    }

    /// Whether more pages stay with their loads in other parts of them. Of many pages lines decide, not translation.
    bool more_stay(std::uint64_t pages) {
        const std::uint64_t more = pages + pages / 4 + 1;
        return has_parts() && pages <= few_pages && fits(1, more) &&
               step(1, more, Lines::anywhere) < step(pages) + least_miss;
    }

    /// Whether pages of which so many in a row stay share entries or sets in groups.
    bool come_in_groups(std::uint64_t pages);

    bool has_parts() const { return arena_.page > least_part; }

    bool fits(std::uint64_t stride, std::uint64_t n) const { return stride * n <= most(); }

private:
    static constexpr std::uint64_t most_pages = 6144, least_part = 4096, few_pages = 1024;
    static constexpr double more_with_two = 0.5, clear_step = 1;  ///< share, cycles per page
    static constexpr double least_miss = 0.3;                     ///< cycles per load of which some miss

    unsigned asked_again() const { return meter_.noise() > 0 ? 2 : 0; }

    double measured_step(std::uint64_t pages) {
        const PairedStrings strings = paired_strings(pages, arena_.page, unit_, meter_.seed());
        return difference(strings.spread, strings.packed);
    }

    std::uint64_t in_a_way(std::uint64_t number) const {
        // A way that is shorter than what lines are apart is that of one set: then all lines are alike.
        const std::uint64_t lines = (l1_.way() < unit_ ? arena_.page : std::min(l1_.way(), arena_.page)) / unit_;
        return number % lines * unit_;
    }

    /// The first of `n` in the first part of their pages, and so on: parts that share a set are as few as can be.
    std::uint64_t anywhere(std::uint64_t number, std::uint64_t n) const {
        const std::uint64_t part = std::min(arena_.page, least_part), parts = arena_.page / part;
        return number * parts / n * part + number * unit_ % part;
    }

    /// In random order.
    double more_than_packed(std::vector<std::uint64_t> spread) {
        shuffle(spread, meter_.seed());
        const Offsets packed = random_string(spread.size() * unit_, unit_, meter_.seed());
        return difference(std::move(spread), packed);
    }

    double difference(const Offsets& spread, const Offsets& packed) {
        const auto [a, b] = meter_.settled_in_turn(arena_, spread, packed);
        return a - b - meter_.tolerance(std::max(a, b));
    }

    Meter& meter_;
    L1Geometry l1_;
    std::uint64_t unit_;  ///< bytes between lines that are used: lower levels may have longer lines than L1
    Arena arena_;
    std::map<std::uint64_t, double> known_;
};

/// Whether loads on pages that were never used take longer than those on pages that were, where a TLB of `entries`
/// pages has lost these (0: where no TLB is known): then a further TLB keeps them. Table entries are in the caches in
/// both cases. False where the arena has too few pages to decide. (ours)
bool more_tlbs_hold_all(Meter& meter, std::uint64_t entries);

}  // namespace cachetally

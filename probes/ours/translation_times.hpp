// TranslationTimes: what translation adds to the times of loads.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "probes/strings/strings.hpp"
#include "probes/xray/l1.hpp"

namespace cachetally {

/// Times of translation: of chains over pages, less those of as many lines that lie packed.
class TranslationTimes {
public:
    TranslationTimes(Meter& meter, const L1Geometry& l1)
        : meter_(meter),
          l1_(l1),
          unit_(std::max<std::uint64_t>(l1.line, 128)),
          arena_(meter.target().make_arena(std::min(meter.capabilities().largest_arena, most_pages * meter.page()),
                                           meter.page())) {}

    std::uint64_t most() const { return arena_.bytes / arena_.page; }

    /// Of a chase through the first `pages` pages.
    double step(std::uint64_t pages) {
        const auto [place, fresh] = known_.try_emplace(pages, 0);
        if (fresh) {
            const PairedStrings strings = paired_strings(pages, arena_.page, unit_, meter_.seed());
            place->second = difference(strings.spread, strings.packed);
        }
        return place->second;
    }

    /// Of a chase with two loads in each of the first `pages` pages, per page.
    double step_of_two(std::uint64_t pages) {
        const PairedStrings strings = paired_strings(pages, arena_.page, unit_, meter_.seed());
        const std::uint64_t apart = arena_.page / 2 / unit_ * unit_;
        Offsets spread, packed;
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
        Offsets spread, packed;
        const std::uint64_t lines = arena_.page / unit_;
        for (std::size_t i = 0; i < pages.size(); ++i) {
            spread.push_back(pages[i] * arena_.page + i % lines * unit_);
            packed.push_back(i * unit_);
        }
        shuffle(spread, meter_.seed());
        shuffle(packed, meter_.seed());
        return difference(spread, packed) * static_cast<double>(pages.size());
    }

    /// Of a chase through `n` pages, `stride` pages apart.
    double step(std::uint64_t stride, std::uint64_t n) {
        Offsets spread, packed;
        // A way that is shorter than what lines are apart is that of one set: then all lines are alike.
        const std::uint64_t lines = (l1_.way() < unit_ ? arena_.page : std::min(l1_.way(), arena_.page)) / unit_;
        for (std::uint64_t i = 0; i < n; ++i) {
            spread.push_back(i * stride * arena_.page + i % lines * unit_);
            packed.push_back(i * unit_);
        }
        shuffle(spread, meter_.seed());
        shuffle(packed, meter_.seed());
        return difference(spread, packed);
    }

    bool fits(std::uint64_t stride, std::uint64_t n) const { return stride * n <= most(); }

private:
    static constexpr std::uint64_t most_pages = 6144;

    double difference(const Offsets& spread, const Offsets& packed) {
        const double a = meter_.settled(arena_, spread), b = meter_.settled(arena_, packed);
        return a - b - meter_.tolerance(std::max(a, b));
    }

    Meter& meter_;
    L1Geometry l1_;
    std::uint64_t unit_;  ///< bytes between lines that are used: lower levels may have longer lines than L1
    Arena arena_;
    std::map<std::uint64_t, double> known_;
};

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// The phases that tables and histograms are of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cachetally {

/// All phases, or those of some ranges.
class PhaseChoice {
public:
    struct Range {
        std::uint32_t first = 0, last = 0;
    };

    PhaseChoice() = default;
    explicit PhaseChoice(std::vector<Range> ranges) : ranges_(std::move(ranges)) {}

    /// Of some phases, in any order.
    static PhaseChoice of(std::vector<std::uint32_t> phases) {
        std::ranges::sort(phases);
        std::vector<Range> ranges;
        for (const std::uint32_t phase : phases)
            if (!ranges.empty() && phase <= ranges.back().last + 1)
                ranges.back().last = phase;
            else
                ranges.push_back({phase, phase});
        return PhaseChoice(std::move(ranges));
    }

    bool all() const { return ranges_.empty(); }
    bool contains(std::uint32_t phase) const {
        return all() || std::ranges::any_of(
                            ranges_, [&](const Range& range) { return range.first <= phase && phase <= range.last; });
    }
    /// The highest that is named; not for all.
    std::uint32_t highest() const { return std::ranges::max_element(ranges_, {}, &Range::last)->last; }

    /// "phase 4", "phases 3, 5-7"; not for all.
    std::string text() const {
        const bool one = ranges_.size() == 1 && ranges_[0].first == ranges_[0].last;
        std::string words = one ? "phase " : "phases ";
        for (const Range& range : ranges_) {
            if (!words.ends_with(' ')) words += ", ";
            words += std::to_string(range.first);
            if (range.last != range.first) words += "-" + std::to_string(range.last);
        }
        return words;
    }

private:
    std::vector<Range> ranges_;
};

}  // namespace cachetally

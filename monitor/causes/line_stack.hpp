// SPDX-License-Identifier: BSD-3-Clause
// LineStack: the lines that a cache was asked for, in the order of their last use.
#pragma once

#include <cstdint>
#include <vector>

#include "cachetally/types.hpp"

namespace cachetally {

/// The LRU stack of Mattson et al. 1970, "Evaluation techniques for storage hierarchies", with a border where
/// a fully associative cache of so many lines ends: lines before it are near. Kept as a log of uses, in which a use
/// that is no longer the line's last one leaves a gap.
class LineStack {
public:
    enum class Fate : std::uint8_t { never_here, here, replaced, invalidated };

    struct Line {
        std::uint32_t place = 0;       ///< of its last use in the log; 0: not in the stack
        Fate fate = Fate::never_here;  ///< kept for CauseWatch
    };

    /// `lines` of the cache. Unless lines are removed, the stack ends at its border.
    LineStack(std::uint64_t lines, bool lines_are_removed) : most_near_(lines), keeps_far_(lines_are_removed) {}

    /// The line of a number (LineNumbers), less than 2^31; valid until the next call.
    Line& line(std::uint32_t number) {
        if (number >= lines_.size()) [[unlikely]]
            lines_.resize(std::size_t{number} + 1);
        return lines_[number];
    }
    /// To be called some time before line(), which is faster then.
    void prefetch(std::uint32_t number) const {
        if (number < lines_.size()) __builtin_prefetch(&lines_[number], 1);
    }
    bool is_near(const Line& line) const { return line.place > far_; }

    /// Of a line that was asked of line() before, as all below.
    void use(std::uint32_t number) {
        if (number != log_.back()) move_up(number);
    }

    /// As if it had never been used; lines below it move up. Only of a stack made for it.
    void remove(std::uint32_t number);

private:
    /// A place of the log holds a line's number, or this bit and how far it is to the gap's other end.
    static constexpr std::uint32_t gap = std::uint32_t{1} << 31;

    void move_up(std::uint32_t number);
    /// The place of the last line before the border; that of the first one behind it, or 0.
    std::uint32_t last_near() { return cross_gap(far_ + 1, 1); }
    std::uint32_t first_far() { return cross_gap(far_, -1); }
    std::uint32_t cross_gap(std::uint32_t from, int step);
    void close_gaps();

    std::uint64_t most_near_, near_ = 0;
    bool keeps_far_;
    std::uint32_t far_ = 0;  ///< places up to this one are behind the border
    std::vector<Line> lines_;
    std::vector<std::uint32_t> log_{~gap};  ///< the first place stays unused
    std::size_t most_places_ = 4096;
};

}  // namespace cachetally

// LineStack: the lines that a cache was asked for, in the order of their last use.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/model/types.hpp"

namespace cachetally {

/// The LRU stack of Mattson et al. 1970, "Evaluation techniques for storage hierarchies", with a mark where
/// a fully associative cache of so many lines ends: lines before it are near.
class LineStack {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    enum class Fate : std::uint8_t { never_here, here, replaced, taken_away };

    struct Line {
        std::uint32_t newer = none, older = none;  ///< neighbours in the stack
        Fate fate = Fate::never_here;              ///< kept for CauseWatch
        bool near = false;                         ///< among the stack's first lines
        bool stacked = false;
    };

    /// `lines` of the cache.
    explicit LineStack(std::uint64_t lines) : most_near_(lines) {}

    /// The line of a number (LineNumbers); valid until the next call.
    Line& line(std::uint32_t number) {
        if (number >= lines_.size()) [[unlikely]]
            lines_.resize(std::size_t{number} + 1);
        return lines_[number];
    }

    /// Of a line that was asked of line() before, as all below.
    void use(std::uint32_t number) {
        if (number != newest_) move_up(number);
    }

    /// As if it had never been used; lines below it move up.
    void remove(std::uint32_t number);

private:
    void move_up(std::uint32_t number);
    void unlink(std::uint32_t number);

    std::uint64_t most_near_, near_ = 0;
    std::uint32_t newest_ = none;
    std::uint32_t border_ = none;  ///< the last near line
    std::vector<Line> lines_;
};

}  // namespace cachetally

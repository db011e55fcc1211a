// LineNumbers: numbers the lines that caches are asked for, in the order in which they first come.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/model/types.hpp"

namespace cachetally {

/// Caches that the same cores share number their lines together: what one has looked up, those below it find at hand.
class LineNumbers {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    explicit LineNumbers(std::uint32_t line_bytes);

    /// Given to a line that is new; it never changes.
    std::uint32_t number(Address line) {
        const Recent& recent = recent_[(line >> line_bits_) % recent_.size()];
        return recent.line == line && recent.number != none ? recent.number : look_up(line);
    }

    std::size_t size() const { return lines_.size(); }
    Address address(std::uint32_t number) const { return lines_[number].address; }
    /// For who uses it; `none` at first.
    std::uint32_t& structure(std::uint32_t number) { return lines_[number].structure; }

private:
    struct Line {
        Address address = 0;
        std::uint32_t structure = none;
    };
    struct Recent {
        Address line = 0;
        std::uint32_t number = none;
    };
    /// A hash table with open addressing. Neighbouring lines have places in one group, which is a line of the host's
    /// cache; the tag saves looks at lines that are others.
    struct Place {
        std::uint32_t number = none, tag = 0;
    };
    static constexpr unsigned group_bits = 3;

    [[gnu::noinline]] std::uint32_t look_up(Address line);
    std::uint32_t find_or_add(Address line);
    /// The place of a line, or the empty one where it belongs.
    Place& place_of(Address line);
    void grow();

    unsigned line_bits_;
    std::vector<Line> lines_;
    std::vector<Place> places_;
    std::array<Recent, 1024> recent_{};
};

}  // namespace cachetally

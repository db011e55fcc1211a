// SPDX-License-Identifier: BSD-3-Clause
// TagFormat: how entries stand in the words of a set. Compiled once per instruction set.
#if defined(CACHETALLY_TAG_FORMAT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CACHETALLY_TAG_FORMAT_INL
#undef CACHETALLY_TAG_FORMAT_INL
#else
#define CACHETALLY_TAG_FORMAT_INL
#endif

#include <algorithm>

#include "sim/model/tags/batch_loop-inl.hpp"
#include "sim/model/tags/cache_array.hpp"

HWY_BEFORE_NAMESPACE();
namespace cachetally::HWY_NAMESPACE {

/// Whether entries may stand in words of 32 bits.
inline bool may_be_packed(const ArrayGeometry& geometry) {
    return geometry.line_bits != 0 && is_power_of_two(geometry.sets) && padded_ways(geometry.ways) != 0;
}

/// How an entry stands in a word: of 64 bits, as it is; of 32 bits, the bits of the address above the number of the
/// set, where sets are a field of the address.
template <class Word>
struct TagFormat {
    explicit TagFormat(const ArrayGeometry&) {}
    bool fits(Address) const { return true; }
    Word pack(Address line, Entry state) const { return line | state; }
    Entry unpack(Word word, std::uint64_t) const { return word; }
    VictimFormat victim_format(Address) const { return {}; }
};

template <>
struct TagFormat<std::uint32_t> {
    static constexpr unsigned state_bits = 3, tag_bits = 32 - state_bits;

    explicit TagFormat(const ArrayGeometry& geometry)
        : line_bits(geometry.line_bits),
          tag_from(geometry.line_bits + log2_exact(geometry.sets)),
          bound(Address{1} << std::min(tag_from + tag_bits, 63U)) {}

    bool fits(Address line) const { return line < bound; }
    std::uint32_t pack(Address line, Entry state) const {
        return static_cast<std::uint32_t>(line >> tag_from) << state_bits | static_cast<std::uint32_t>(state);
    }
    Entry unpack(std::uint32_t word, std::uint64_t set) const {
        const Entry line = Entry{word >> state_bits} << tag_from | set << line_bits;
        return word == 0 ? 0 : line | (word & entry_bit::all);
    }
    VictimFormat victim_format(Address line_mask) const {
        return {static_cast<int>(tag_from - state_bits), ((Address{1} << tag_from) - 1) & line_mask};
    }

    unsigned line_bits, tag_from;
    Address bound;  ///< addresses below it fit; a power of two
};

}  // namespace cachetally::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

// SPDX-License-Identifier: BSD-3-Clause
// Scans of one set of tags, four at a time where the processor can.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "sim/model/cache_array.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace cachetally {

inline constexpr unsigned scan_width = 4;  ///< sets are padded with invalid entries to a multiple of this

/// Bits of an entry that tell whether it is a valid copy of a line.
inline constexpr Entry match_mask = ~entry_bit::all | entry_bit::valid;

#if defined(__AVX2__)

inline unsigned match_group(const Entry* tags, __m256i key) {
    const __m256i mask = _mm256_set1_epi64x(static_cast<long long>(match_mask));
    const __m256i valid = _mm256_and_si256(_mm256_load_si256(reinterpret_cast<const __m256i*>(tags)), mask);
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(valid, key))));
}

/// Positions, as bits, of the valid entry of `line`: one at most. A number of groups that is known.
template <unsigned groups>
unsigned match_tags(const Entry* set, Address line) {
    const __m256i key = _mm256_set1_epi64x(static_cast<long long>(line | entry_bit::valid));
    unsigned found = 0;
    for (unsigned group = 0; group < groups; ++group)
        found |= match_group(set + group * scan_width, key) << (group * scan_width);
    return found;
}

/// Position of the valid entry of `line` in `groups` groups of four tags; >= 4 * groups where it is not there. All
/// groups are looked at where their number is known to be small: which one it is cannot be predicted.
template <unsigned fixed_groups>
unsigned find_tag(const Entry* set, unsigned groups, Address line) {
    if constexpr (fixed_groups != 0) {
        return static_cast<unsigned>(
            __builtin_ctz(match_tags<fixed_groups>(set, line) | 1U << fixed_groups * scan_width));
    } else {
        const __m256i key = _mm256_set1_epi64x(static_cast<long long>(line | entry_bit::valid));
        for (unsigned group = 0; group < groups; ++group)
            if (const unsigned found = match_group(set + group * scan_width, key); found != 0)
                return group * scan_width + static_cast<unsigned>(__builtin_ctz(found));
        return groups * scan_width;
    }
}

/// Puts `entry` in front and moves the entries before `position` back by one; the one at `position` is overwritten.
/// Whole groups are written, since reading a group soon after one tag of it was written stalls the processor.
template <unsigned fixed_groups>
void move_to_front(Entry* set, unsigned groups, unsigned position, Entry entry) {
    if constexpr (fixed_groups != 0) {
        constexpr unsigned most = fixed_groups * scan_width;
        alignas(32) static constexpr auto ramp = [] {  // most times "replace", then most times "keep"
            std::array<Entry, 2 * most> mask{};
            for (unsigned i = most; i < 2 * most; ++i) mask[i] = ~Entry{0};
            return mask;
        }();
        const Entry* keep = ramp.data() + (most - 1 - position);
        __m256i carry = _mm256_set1_epi64x(static_cast<long long>(entry));
        for (unsigned group = 0; group < fixed_groups; ++group) {
            auto* tags = reinterpret_cast<__m256i*>(set) + group;
            const __m256i old = _mm256_load_si256(tags);
            const __m256i rotated = _mm256_permute4x64_epi64(old, 0b10'01'00'11);
            const __m256i moved = _mm256_blend_epi32(rotated, carry, 0b11);
            const __m256i kept = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(keep + group * scan_width));
            _mm256_store_si256(tags, _mm256_blendv_epi8(moved, old, kept));
            carry = rotated;
        }
    } else {
        (void)groups;
        std::memmove(set + 1, set, position * sizeof(Entry));
        set[0] = entry;
    }
}

#else

template <unsigned groups>
unsigned match_tags(const Entry* set, Address line) {
    unsigned found = 0;
    for (unsigned position = 0; position < groups * scan_width; ++position)
        found |= ((set[position] & match_mask) == (line | entry_bit::valid) ? 1U : 0U) << position;
    return found;
}

template <unsigned fixed_groups>
unsigned find_tag(const Entry* set, unsigned groups, Address line) {
    const unsigned end = (fixed_groups != 0 ? fixed_groups : groups) * scan_width;
    for (unsigned position = 0; position < end; ++position)
        if ((set[position] & match_mask) == (line | entry_bit::valid)) return position;
    return end;
}

template <unsigned fixed_groups>
void move_to_front(Entry* set, unsigned, unsigned position, Entry entry) {
    std::memmove(set + 1, set, position * sizeof(Entry));
    set[0] = entry;
}

#endif

}  // namespace cachetally

// Scans of one set of tags, four at a time where the processor can.
#pragma once

#include <cstdint>

#include "sim/model/cache_array.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace cachetally {

inline constexpr unsigned scan_width = 4;  ///< sets are padded with invalid entries to a multiple of this

/// Bits of an entry that tell whether it is a valid copy of a line.
inline constexpr Entry match_mask = ~entry_bit::all | entry_bit::valid;

#if defined(__AVX2__)

/// Position of the line whose valid tag is `key` in `groups` groups of four tags, or a number >= 4 * groups.
inline unsigned find_tag(const Entry* set, unsigned groups, Entry key) {
    const __m256i wanted = _mm256_set1_epi64x(static_cast<long long>(key));
    const __m256i mask = _mm256_set1_epi64x(static_cast<long long>(match_mask));
    for (unsigned group = 0; group < groups; ++group) {
        const __m256i tags = _mm256_load_si256(reinterpret_cast<const __m256i*>(set) + group);
        const __m256i equal = _mm256_cmpeq_epi64(_mm256_and_si256(tags, mask), wanted);
        const auto found = static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
        if (found != 0) return group * scan_width + static_cast<unsigned>(__builtin_ctz(found));
    }
    return groups * scan_width;
}

/// Puts `entry` in front and moves the entries before `position` back by one; the one at `position` is overwritten.
/// Whole groups are written, since reading a group soon after one tag of it was written stalls the processor.
inline void move_to_front(Entry* set, unsigned position, Entry entry) {
    auto* groups = reinterpret_cast<__m256i*>(set);
    __m256i carry = _mm256_set1_epi64x(static_cast<long long>(entry));
    const unsigned last = position / scan_width;
    for (unsigned group = 0; group < last; ++group) {
        const __m256i rotated = _mm256_permute4x64_epi64(_mm256_load_si256(groups + group), 0b10'01'00'11);
        _mm256_store_si256(groups + group, _mm256_blend_epi32(rotated, carry, 0b11));
        carry = rotated;
    }
    alignas(32) static constexpr Entry keep[4][4] = {
        {0, ~0ULL, ~0ULL, ~0ULL}, {0, 0, ~0ULL, ~0ULL}, {0, 0, 0, ~0ULL}, {0, 0, 0, 0}};
    const __m256i old = _mm256_load_si256(groups + last);
    const __m256i shifted = _mm256_blend_epi32(_mm256_permute4x64_epi64(old, 0b10'01'00'11), carry, 0b11);
    const __m256i kept = _mm256_load_si256(reinterpret_cast<const __m256i*>(keep[position % scan_width]));
    _mm256_store_si256(groups + last, _mm256_blendv_epi8(shifted, old, kept));
}

#else

inline unsigned find_tag(const Entry* set, unsigned groups, Entry key) {
    const unsigned end = groups * scan_width;
    for (unsigned position = 0; position < end; ++position)
        if ((set[position] & match_mask) == key) return position;
    return end;
}

inline void move_to_front(Entry* set, unsigned position, Entry entry) {
    for (; position > 0; --position) set[position] = set[position - 1];
    set[0] = entry;
}

#endif

}  // namespace cachetally

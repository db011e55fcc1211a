// SPDX-License-Identifier: BSD-3-Clause
// A set of 8 or 16 words in the order of their last use, the latest first. For x86-64 with AVX2 or AVX-512.
#pragma once

#include <immintrin.h>

#include <array>
#include <bit>
#include <cstdint>

namespace limit {

/// `source[k][i]`: where word i comes from when word k moves to the front.
template <unsigned ways>
struct MovesToFront {
    alignas(64) std::array<std::array<std::uint32_t, ways>, ways> source{};
    constexpr MovesToFront() {
        for (unsigned k = 0; k < ways; ++k)
            for (unsigned i = 0; i < ways; ++i) source[k][i] = i == 0 ? k : i <= k ? i - 1 : i;
    }
};
template <unsigned ways>
inline constexpr MovesToFront<ways> moves_to_front;

inline __m256i half(const std::uint32_t* words) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(words)); }
inline unsigned equal(__m256i a, __m256i b) {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b))));
}

/// Bit i: word i equals `word` but for the bits of `ignored`.
template <unsigned ways>
unsigned find(const std::uint32_t* words, std::uint32_t word, std::uint32_t ignored) {
    const auto value = static_cast<int>(word | ignored), mask = static_cast<int>(ignored);
    if constexpr (ways == 16) {
#ifdef __AVX512F__
        const __m512i set = _mm512_or_si512(_mm512_load_si512(words), _mm512_set1_epi32(mask));
        return _mm512_cmpeq_epi32_mask(set, _mm512_set1_epi32(value));
#else
        return find<8>(words, word, ignored) | find<8>(words + 8, word, ignored) << 8;
#endif
    } else {
        static_assert(ways == 8);
        return equal(_mm256_or_si256(half(words), _mm256_set1_epi32(mask)), _mm256_set1_epi32(value));
    }
}

/// Word k moves to the front and becomes `word`.
template <unsigned ways>
void move_to_front(std::uint32_t* words, unsigned k, std::uint32_t word) {
    const std::uint32_t* const source = moves_to_front<ways>.source[k].data();
    if constexpr (ways == 16) {
#ifdef __AVX512F__
        const __m512i moved =
            _mm512_maskz_permutexvar_epi32(0xffff, _mm512_load_si512(source), _mm512_load_si512(words));
        _mm512_store_si512(words, _mm512_mask_set1_epi32(moved, 1, static_cast<int>(word)));
#else
        // Only the first half can take from the other, and the second takes at most one word from the first.
        const std::uint32_t between = words[7];
        if (k < 8) return move_to_front<8>(words, k, word);
        move_to_front<8>(words, 7, word);
        move_to_front<8>(words + 8, k - 8, between);
#endif
    } else {
        static_assert(ways == 8);
        const __m256i moved = _mm256_permutevar8x32_epi32(half(words), half(source));
        const __m256i front = _mm256_castsi128_si256(_mm_cvtsi32_si128(static_cast<int>(word)));
        _mm256_store_si256(reinterpret_cast<__m256i*>(words), _mm256_blend_epi32(moved, front, 1));
    }
}

}  // namespace limit

// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/stretch.hpp"

#include <algorithm>
#include <cstddef>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace cachetally {
namespace {

struct Test {
    Address line_mask;
    std::uint64_t line_bytes;
    unsigned kinds;

    bool takes(const Reference& reference) const {
        return (reference.address & line_mask) + reference.size <= line_bytes &&
               (kinds >> static_cast<unsigned>(reference.kind) & 1U) != 0;
    }
    BlockEvent line_of(const Reference& reference) const {
        return {reference.address & ~line_mask, static_cast<EventKind>(reference.kind)};
    }
};

#if defined(__AVX2__)

static_assert(offsetof(Reference, address) == 0 && offsetof(Reference, size) == 12 && offsetof(Reference, kind) == 14 &&
              sizeof(BlockEvent) == sizeof(Address));

std::uint64_t sum(__m256i words) {
    alignas(32) std::array<std::uint64_t, 4> parts;
    _mm256_store_si256(reinterpret_cast<__m256i*>(parts.data()), words);
    return parts[0] + parts[1] + parts[2] + parts[3];
}

static_assert(static_cast<unsigned>(EventKind::store) == 1 && static_cast<unsigned>(EventKind::fetch) == 2);

/// Takes whole fours, up to the first four with one that is not to be taken. Returns how many.
std::size_t take_fours(const Reference* reference, std::size_t count, BlockEvent* out, const Test& test,
                       Stretch::Kinds& taken_kinds) {
    const auto all = [](std::uint64_t value) { return _mm256_set1_epi64x(static_cast<long long>(value)); };
    const __m256i line_mask = all(test.line_mask), line_bytes = all(test.line_bytes), kinds = all(test.kinds);
    const auto pick = [](char first, char second) {  // bytes of each half of a vector as the low ones of a word
        return _mm256_broadcastsi128_si256(
            _mm_setr_epi8(first, second, -1, -1, -1, -1, -1, -1, static_cast<char>(first + 8),
                          static_cast<char>(second < 0 ? -1 : second + 8), -1, -1, -1, -1, -1, -1));
    };
    const __m256i size_bytes = pick(4, 5), kind_byte = pick(6, -1);
    const auto two = [&](std::size_t first, std::size_t second) {
        const auto* words = reinterpret_cast<const __m128i*>(reference);
        return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(words + first)),
                                       _mm_loadu_si128(words + second), 1);
    };
    __m256i weights = _mm256_setzero_si256(), fetches = _mm256_setzero_si256();
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const __m256i even = two(i, i + 2), odd = two(i + 1, i + 3);
        const __m256i address = _mm256_unpacklo_epi64(even, odd), traits = _mm256_unpackhi_epi64(even, odd);
        const __m256i size = _mm256_shuffle_epi8(traits, size_bytes);
        const __m256i kind = _mm256_shuffle_epi8(traits, kind_byte);
        const __m256i end = _mm256_add_epi64(_mm256_and_si256(address, line_mask), size);
        const __m256i crosses = _mm256_cmpgt_epi64(end, line_bytes);
        const __m256i taken = _mm256_slli_epi64(_mm256_srlv_epi64(kinds, kind), 63);  // in the sign
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                            _mm256_or_si256(_mm256_andnot_si256(line_mask, address), kind));
        const int good = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_andnot_si256(crosses, taken)));
        if (good != 0xf) break;
        weights = _mm256_add_epi64(weights, kind);
        fetches = _mm256_add_epi64(fetches, _mm256_srli_epi64(kind, 1));
    }
    taken_kinds.fetches = static_cast<std::uint32_t>(sum(fetches));
    taken_kinds.stores = static_cast<std::uint32_t>(sum(weights)) - 2 * taken_kinds.fetches;  // a store weighs 1
    return i;
}

#endif

}  // namespace

Stretch find_stretch(std::span<const Reference> references, LineWish wish, BlockEvent* lines) {
    const Test test{wish.line_bytes - 1U, wish.line_bytes, wish.kinds};
    const std::size_t count = std::min(references.size(), Stretch::most);
    Stretch::Kinds kinds;
    std::size_t size = 0;
#if defined(__AVX2__)
    size = take_fours(references.data(), count, lines, test, kinds);
#endif
    for (; size < count && test.takes(references[size]); ++size) {
        lines[size] = test.line_of(references[size]);
        kinds.stores += references[size].kind == ReferenceKind::store ? 1 : 0;
        kinds.fetches += references[size].kind == ReferenceKind::fetch ? 1 : 0;
    }
    kinds.loads = static_cast<std::uint32_t>(size) - kinds.stores - kinds.fetches;
    return {.references = references.first(size), .lines = {lines, size}, .kinds = kinds};
}

void FoundLines::start(std::size_t references) {
    if (lines_.size() < references) lines_.resize(references);
    stretches_.clear();
    used_ = 0;
}

void FoundLines::find(std::span<const Reference> references, LineWish wish) {
    while (!references.empty()) {
        const Stretch stretch = find_stretch(references, wish, &lines_[used_]);
        used_ += stretch.size();
        if (stretch.size() != 0) stretches_.push_back(stretch);
        const bool full = stretch.size() == Stretch::most;
        references = references.subspan(std::min(references.size(), stretch.size() + (full ? 0 : 1)));
    }
}

}  // namespace cachetally

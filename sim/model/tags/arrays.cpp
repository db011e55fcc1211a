// SPDX-License-Identifier: BSD-3-Clause
// The choice of an array's type for a geometry, and of the instruction set for the host.
// First: what is included from within a header of the system counts as its part, and caches of compilers skip it.
#include "sim/model/replacement/table.hpp"
#include "sim/model/tags/cache_array.hpp"
#include "sim/model/tags/tag_store.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/model/tags/arrays.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include "sim/model/tags/ordered_array-inl.hpp"
#include "sim/model/tags/placed_array-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace cachetally::HWY_NAMESPACE {

using Made = std::unique_ptr<CacheArray>;

template <class Word>
Made make_ordered(const ArrayGeometry& geometry) {
    switch (padded_ways(geometry.ways)) {
        case 4: return std::make_unique<OrderedArray<Word, 4>>(geometry);
        case 8: return std::make_unique<OrderedArray<Word, 8>>(geometry);
        case 16: return std::make_unique<OrderedArray<Word, 16>>(geometry);
        case 32: return std::make_unique<OrderedArray<Word, 32>>(geometry);
        default: return std::make_unique<OrderedArray<Word, 0>>(geometry);
    }
}

Made make_in_order(const ArrayGeometry& geometry) {
    return may_be_packed(geometry) ? make_ordered<std::uint32_t>(geometry) : make_ordered<std::uint64_t>(geometry);
}

template <class Policy>
Made make(const ArrayGeometry& geometry) {
    if constexpr (InOrderPolicy<Policy>)
        return make_in_order(geometry);
    else
        return make_placed<Policy>(geometry);
}

#define CACHETALLY_MAKE(name, Policy) \
    Made make_##name(const ArrayGeometry& geometry) { return make<Policy>(geometry); }
CACHETALLY_REPLACEMENTS(CACHETALLY_MAKE)
#undef CACHETALLY_MAKE

}  // namespace cachetally::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachetally {

#define CACHETALLY_EXPORT(name, Policy)                                           \
    HWY_EXPORT(make_##name);                                                      \
    std::unique_ptr<CacheArray> make_best_##name(const ArrayGeometry& geometry) { \
        return HWY_DYNAMIC_DISPATCH(make_##name)(geometry);                       \
    }
#define CACHETALLY_ROW(name, Policy) {#name, !InOrderPolicy<Policy>, Policy::repetition, make_best_##name},

namespace {
CACHETALLY_REPLACEMENTS(CACHETALLY_EXPORT)
constexpr ReplacementRow rows[] = {CACHETALLY_REPLACEMENTS(CACHETALLY_ROW)};
}  // namespace

std::span<const ReplacementRow> built_in_replacements() { return rows; }

std::unique_ptr<CacheArray> make_cache_array(const ArrayGeometry& geometry) {
    return row_of(geometry.replacement).make(geometry);
}

}  // namespace cachetally
#endif

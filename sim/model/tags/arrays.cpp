// SPDX-License-Identifier: BSD-3-Clause
// The choice of an array's type for a geometry, and of the instruction set for the host.
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

template <class Policy>
Made make_placed(const ArrayGeometry& geometry) {
    switch (padded_ways(geometry.ways)) {
        case 4:
        case 8: return std::make_unique<PlacedArray<Policy, 8>>(geometry);
        case 16: return std::make_unique<PlacedArray<Policy, 16>>(geometry);
        default: return std::make_unique<PlacedArray<Policy, 0>>(geometry);
    }
}

Made make_array(const ArrayGeometry& geometry) {
    switch (geometry.replacement) {
        case Replacement::lru:
        case Replacement::fifo: break;
        case Replacement::tree_plru: return make_placed<TreePlru>(geometry);
        case Replacement::bit_plru: return make_placed<BitPlru>(geometry);
        case Replacement::random: return make_placed<RandomReplacement>(geometry);
        case Replacement::nru: return make_placed<Nru>(geometry);
        case Replacement::srrip: return make_placed<Srrip>(geometry);
    }
    const bool packed = geometry.line_bits != 0 && is_power_of_two(geometry.sets) && padded_ways(geometry.ways) != 0;
    return packed ? make_ordered<std::uint32_t>(geometry) : make_ordered<std::uint64_t>(geometry);
}

}  // namespace cachetally::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachetally {

HWY_EXPORT(make_array);

std::unique_ptr<CacheArray> make_cache_array(const ArrayGeometry& geometry) {
    return HWY_DYNAMIC_DISPATCH(make_array)(geometry);
}

Repetition repetition_of(Replacement replacement) {
    switch (replacement) {
        case Replacement::lru:
        case Replacement::fifo: return {};
        case Replacement::tree_plru: return TreePlru::repetition;
        case Replacement::bit_plru: return BitPlru::repetition;
        case Replacement::random: return RandomReplacement::repetition;
        case Replacement::nru: return Nru::repetition;
        case Replacement::srrip: return Srrip::repetition;
    }
    return {false, false};
}

}  // namespace cachetally
#endif

// SPDX-License-Identifier: BSD-3-Clause
// The choice of an array's type for a geometry.
#pragma once

#include "sim/model/compact_array.hpp"
#include "sim/model/ordered_array.hpp"
#include "sim/model/placed_array.hpp"
#include "sim/model/stamp_array.hpp"

namespace cachetally {

template <class Array>
struct ArrayType {
    using Type = Array;
};

template <class Make>
auto with_ordered_type(const ArrayGeometry& geometry, Make make) {
#if defined(__AVX2__)
    if (CompactArray<1>::suits(geometry)) return make(ArrayType<CompactArray<1>>());
    if (CompactArray<2>::suits(geometry)) return make(ArrayType<CompactArray<2>>());
#endif
    switch (groups_of(geometry.ways)) {
        case 1: return make(ArrayType<OrderedArray<1>>());
        case 2: return make(ArrayType<OrderedArray<2>>());
        case 3: return make(ArrayType<OrderedArray<3>>());
        case 4: return make(ArrayType<OrderedArray<4>>());
        default: return make(ArrayType<OrderedArray<0>>());
    }
}

/// Where hits dominate, stamps beat order by a quarter, up to the ways for which a scan of stamps is cheap.
template <class Make>
auto with_lru_type(const ArrayGeometry& geometry, Make make) {
    if (!geometry.mostly_hits) return with_ordered_type(geometry, make);
    switch (groups_of(geometry.ways)) {
        case 1: return make(ArrayType<StampArray<1>>());
        case 2: return make(ArrayType<StampArray<2>>());
        case 3: return make(ArrayType<StampArray<3>>());
        default: return with_ordered_type(geometry, make);
    }
}

/// Calls make(ArrayType<A>()) with the array A that suits the geometry.
template <class Make>
auto with_array_type(const ArrayGeometry& geometry, Make make) {
    switch (geometry.replacement) {
        case Replacement::lru: break;
        case Replacement::fifo: return with_ordered_type(geometry, make);
        case Replacement::tree_plru: return make(ArrayType<PlacedArray<TreePlru>>());
        case Replacement::bit_plru: return make(ArrayType<PlacedArray<BitPlru>>());
        case Replacement::random: return make(ArrayType<PlacedArray<RandomReplacement>>());
        case Replacement::nru: return make(ArrayType<PlacedArray<Nru>>());
        case Replacement::srrip: return make(ArrayType<PlacedArray<Srrip>>());
    }
    return with_lru_type(geometry, make);
}

}  // namespace cachetally

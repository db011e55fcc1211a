// The choice of an array for a geometry.
#include "sim/model/cache_array.hpp"

#include "sim/model/ordered_array.hpp"
#include "sim/model/placed_array.hpp"

namespace cachetally {
namespace {

std::unique_ptr<CacheArray> make_ordered(const ArrayGeometry& geometry) {
    switch (groups_of(geometry.ways)) {
        case 1: return std::make_unique<OrderedArray<1>>(geometry);
        case 2: return std::make_unique<OrderedArray<2>>(geometry);
        case 3: return std::make_unique<OrderedArray<3>>(geometry);
        case 4: return std::make_unique<OrderedArray<4>>(geometry);
        default: return std::make_unique<OrderedArray<0>>(geometry);
    }
}

/// Where hits dominate, stamps beat order by a quarter, up to the ways for which a scan of stamps is cheap.
std::unique_ptr<CacheArray> make_lru(const ArrayGeometry& geometry) {
    if (!geometry.mostly_hits) return make_ordered(geometry);
    switch (groups_of(geometry.ways)) {
        case 1: return std::make_unique<StampArray4>(geometry);
        case 2: return std::make_unique<StampArray8>(geometry);
        case 3: return std::make_unique<StampArray12>(geometry);
        default: return make_ordered(geometry);
    }
}

}  // namespace

std::unique_ptr<CacheArray> make_cache_array(const ArrayGeometry& geometry) {
    switch (geometry.replacement) {
        case Replacement::lru: return make_lru(geometry);
        case Replacement::fifo: return make_ordered(geometry);
        case Replacement::tree_plru: return std::make_unique<PlacedArray<TreePlru>>(geometry);
        case Replacement::bit_plru: return std::make_unique<PlacedArray<BitPlru>>(geometry);
        case Replacement::random: return std::make_unique<PlacedArray<RandomReplacement>>(geometry);
        case Replacement::nru: return std::make_unique<PlacedArray<Nru>>(geometry);
        case Replacement::srrip: return std::make_unique<PlacedArray<Srrip>>(geometry);
    }
    return nullptr;
}

}  // namespace cachetally

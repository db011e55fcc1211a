// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/cache_array.hpp"

#include "sim/model/array_types.hpp"

namespace cachetally {

std::unique_ptr<CacheArray> make_cache_array(const ArrayGeometry& geometry) {
    return with_array_type(geometry, [&]<class Array>(ArrayType<Array>) -> std::unique_ptr<CacheArray> {
        return std::make_unique<Array>(geometry);
    });
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

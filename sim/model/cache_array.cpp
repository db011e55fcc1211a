#include "sim/model/cache_array.hpp"

#include "sim/model/array_types.hpp"

namespace cachetally {

std::unique_ptr<CacheArray> make_cache_array(const ArrayGeometry& geometry) {
    return with_array_type(geometry, [&]<class Array>(ArrayType<Array>) -> std::unique_ptr<CacheArray> {
        return std::make_unique<Array>(geometry);
    });
}

}  // namespace cachetally

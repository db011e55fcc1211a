// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/granularity.hpp"

namespace cachetally {

KeyMap::KeyMap(std::uint32_t unit_bytes, std::uint32_t units_per_key)
    : shift_(log2_exact(unit_bytes)),
      units_(units_per_key),
      reciprocal_(units_per_key == 1 ? 0 : ~std::uint64_t{0} / units_per_key + 1),
      exact_below_(~std::uint64_t{0} / units_per_key) {}

KeyMap::KeyMap(const MonitorSpec& spec) : KeyMap(spec.unit(), spec.is_dynamic() ? 1 : spec.units_per_key()) {}

bool KeyMap::keeps_block_whole(std::uint32_t bytes) const {
    return bytes <= unit_bytes() || std::uint64_t{unit_bytes()} * units_ % bytes == 0;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// KeyMap: from addresses to the keys that counters are for.
#pragma once

#include <cstdint>

#include "monitor/spec.hpp"

namespace cachetally {

/// Unit = address / unit bytes; key = unit / units per key (dynamic: the unit itself).
class KeyMap {
public:
    explicit KeyMap(const MonitorSpec& spec) : KeyMap(spec.unit(), spec.is_dynamic() ? 1 : spec.units_per_key()) {}
    KeyMap(std::uint32_t unit_bytes, std::uint32_t units_per_key)
        : shift_(log2_exact(unit_bytes)),
          units_(units_per_key),
          reciprocal_(units_per_key == 1 ? 0 : ~std::uint64_t{0} / units_per_key + 1),
          exact_below_(~std::uint64_t{0} / units_per_key) {}

    std::uint64_t unit(Address address) const { return address >> shift_; }

    std::uint64_t key_of_unit(std::uint64_t unit) const {
        if (units_ == 1) return unit;
        if (unit > exact_below_) [[unlikely]]
            return unit / units_;
        return static_cast<std::uint64_t>(static_cast<Wide>(unit) * reciprocal_ >> 64);
    }
    std::uint64_t key(Address address) const { return key_of_unit(unit(address)); }

    std::uint32_t unit_bytes() const { return std::uint32_t{1} << shift_; }
    std::uint32_t units_per_key() const { return units_; }

    /// True where an aligned block of so many bytes lies within one key.
    bool keeps_block_whole(std::uint32_t bytes) const {
        return bytes <= unit_bytes() || std::uint64_t{unit_bytes()} * units_ % bytes == 0;
    }

private:
    __extension__ using Wide = unsigned __int128;

    unsigned shift_;
    std::uint32_t units_;
    std::uint64_t reciprocal_;   ///< floor(2^64 / units) + 1
    std::uint64_t exact_below_;  ///< multiplication is exact for units up to here
};

}  // namespace cachetally

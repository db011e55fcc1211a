// SPDX-License-Identifier: BSD-3-Clause
// A memory reference of a program: what sources produce and the hierarchy consumes.
#pragma once

#include "cachetally/types.hpp"

namespace cachetally {

enum class ReferenceKind : std::uint8_t { load, store, fetch };

/// Properties of a reference that some machines treat specially; or-ed together.
namespace reference_flag {
inline constexpr std::uint8_t floating_point = 1;  ///< loads of this kind bypass the L1 of some machines
}

/// One reference by one core (the core is that of the stream it comes from).
struct Reference {
    Address address = 0;     ///< virtual address of the first byte
    std::uint32_t site = 0;  ///< index into the source's table of program sites (thread, pc, function); 0 = unknown
    std::uint16_t size = 0;  ///< bytes, at least 1
    ReferenceKind kind = ReferenceKind::load;
    std::uint8_t flags = 0;  ///< reference_flag bits

    friend bool operator==(const Reference&, const Reference&) = default;
};
/// Of one of no bytes: its address. Nothing goes beyond the last address that there is.
constexpr Address last_byte(const Reference& reference) {
    const Address rest = reference.size > 0 ? reference.size - 1U : 0;
    return reference.address + rest < rest ? ~Address{0} : reference.address + rest;
}

static_assert(sizeof(Reference) == 16, "sources hand over references in bulk; keep them at two words");

}  // namespace cachetally

// The fields of a packed block that encoder and decoder share.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "sim/model/reference.hpp"

namespace cachetally::block_layout {

static_assert(std::endian::native == std::endian::little,
              "packed traces are little-endian, as are all machines so far");

/// At the beginning of a block; four packed streams follow.
struct Header {
    std::uint64_t checksum = 0;    ///< XXH3, 64 bits, of all that follows
    std::uint32_t references = 0;  ///< also the bytes of the stream of codes
    std::uint32_t delta_bytes = 0;
    std::uint32_t changes = 0;  ///< references whose traits are not those of the reference they are coded against
    std::uint32_t traits = 0;   ///< entries of the table of traits
    std::uint32_t controls = 0;
    std::array<std::uint32_t, 4> packed{};  ///< bytes of each stream as stored; equal to its size = not compressed
    std::uint32_t reserved = 0;
};
static_assert(sizeof(Header) == 48);

/// A control in the fourth stream.
struct StoredControl {
    std::uint32_t position, kind, argument;
};
static_assert(sizeof(StoredControl) == 12);

// A code: bits 0-3 say how many references back, less one; bits 4-6 the class of the delta's length; bit 7 a change.
inline constexpr std::uint8_t distance_bits = 0x0f;
inline constexpr unsigned length_shift = 4;
inline constexpr std::uint8_t change_bit = 0x80;
inline constexpr std::array<std::uint8_t, 8> delta_length{0, 1, 2, 3, 4, 5, 6, 8};

/// The traits of a reference, all but its address: site, size, kind and flags from the lowest bits to the highest.
inline std::uint64_t traits_of(const Reference& reference) {
    std::uint64_t traits;
    std::memcpy(&traits, reinterpret_cast<const char*>(&reference) + sizeof(Address), sizeof traits);
    return traits;
}
inline void set_traits(Reference& reference, std::uint64_t traits) {
    std::memcpy(reinterpret_cast<char*>(&reference) + sizeof(Address), &traits, sizeof traits);
}
static_assert(offsetof(Reference, site) == 8 && offsetof(Reference, size) == 12 && offsetof(Reference, kind) == 14 &&
              offsetof(Reference, flags) == 15);

inline bool traits_valid(std::uint64_t traits) {
    return ((traits >> 32) & 0xffff) != 0 && ((traits >> 48) & 0xff) <= 2;
}

inline bool traits_of_fetch(std::uint64_t traits) {
    return ((traits >> 48) & 0xff) == static_cast<std::uint64_t>(ReferenceKind::fetch);
}

/// Signed to unsigned, small magnitudes to small numbers.
inline std::uint64_t zigzag(std::uint64_t difference) {
    return (difference << 1) ^ (std::uint64_t{0} - (difference >> 63));
}
inline std::uint64_t unzigzag(std::uint64_t value) { return (value >> 1) ^ (std::uint64_t{0} - (value & 1)); }

}  // namespace cachetally::block_layout

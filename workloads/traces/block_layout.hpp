// SPDX-License-Identifier: BSD-3-Clause
// The fields of a packed block that encoder and decoder share.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cachetally/reference.hpp"
#include "workloads/traces/block.hpp"

namespace cachetally::block_layout {

static_assert(std::endian::native == std::endian::little,
              "packed traces are little-endian, as are all machines so far");

/// The streams of a block, in the order in which they follow the header.
enum class Stream : std::uint8_t { marks, codes, deltas, retained_traits, offsets, redundant_traits, tables };
inline constexpr std::size_t stream_count = 7;
inline constexpr std::array<const char*, stream_count> stream_names{
    "marks", "codes", "deltas", "traits of retained references", "offsets", "traits of redundant references", "tables"};

/// At the beginning of a block; the streams follow.
struct Header {
    std::uint64_t checksum = 0;    ///< XXH3, 64 bits, of all that follows
    std::uint32_t references = 0;  ///< also the bytes of the marks
    std::uint32_t retained = 0;    ///< references that are not redundant; also the bytes of the codes
    std::uint32_t delta_bytes = 0;
    std::uint32_t traits = 0;  ///< entries of the table of traits
    std::uint32_t controls = 0;
    std::uint32_t flags = 0;
    std::array<std::uint32_t, stream_count> packed{};  ///< bytes of each stream as stored; its size = not compressed
    std::uint32_t reserved = 0;
};
static_assert(sizeof(Header) == 64);

namespace header_flag {
inline constexpr std::uint32_t data_only = 1;    ///< no reference is a fetch
inline constexpr std::uint32_t wide_traits = 2;  ///< indices of traits have 2 bytes instead of 1
inline constexpr std::uint32_t all = 3;
}  // namespace header_flag

/// A control, behind the table of traits.
struct StoredControl {
    std::uint32_t position, kind, argument;
};
static_assert(sizeof(StoredControl) == 12);

// A code: bits 0-3 say how many retained references back, less one; bits 4-6 the class of the delta's length; bit 7 a
// store.
inline constexpr std::size_t lead = 16;  ///< zeros before the first retained reference
inline constexpr unsigned distance_bits = 0x0f, length_shift = 4, store_shift = 7;
inline constexpr std::array<std::uint8_t, 8> delta_length{0, 1, 2, 3, 4, 5, 6, 8};
inline constexpr std::array<std::uint64_t, 8> delta_mask{
    0,          0xff,         0xffff,         0xffffff,
    0xffffffff, 0xffffffffff, 0xffffffffffff, ~std::uint64_t{0}};  ///< the largest of each class

/// By slot of lines: the address that the first redundant reference's offset is from. It lies in no neighbouring slot,
/// so that a redundant reference before any retained one of its slot cannot be right.
inline std::array<Address, PackedFilter::lines> first_addresses() {
    std::array<Address, PackedFilter::lines> addresses;
    for (unsigned slot = 0; slot < PackedFilter::lines; ++slot)
        addresses[slot] = Address{PackedFilter::line_bytes} * (slot ^ (PackedFilter::lines / 2));
    return addresses;
}

/// The traits of a reference, all but its address: site, size, kind and flags from the lowest bits to the highest.
inline std::uint64_t traits_of(const Reference& reference) {
    std::uint64_t traits;
    std::memcpy(&traits, reinterpret_cast<const char*>(&reference) + sizeof(Address), sizeof traits);
    return traits;
}
inline Reference reference_of(Address address, std::uint64_t traits) {
    Reference reference;
    std::memcpy(reinterpret_cast<char*>(&reference), &address, sizeof address);
    std::memcpy(reinterpret_cast<char*>(&reference) + sizeof address, &traits, sizeof traits);
    return reference;
}
static_assert(offsetof(Reference, site) == 8 && offsetof(Reference, size) == 12 && offsetof(Reference, kind) == 14 &&
              offsetof(Reference, flags) == 15);

inline std::uint64_t size_of_traits(std::uint64_t traits) { return traits >> 32 & 0xffff; }
inline std::uint64_t kind_of_traits(std::uint64_t traits) { return traits >> 48 & 0xff; }
inline bool traits_valid(std::uint64_t traits) { return size_of_traits(traits) != 0 && kind_of_traits(traits) <= 2; }
inline bool traits_of_fetch(std::uint64_t traits) {
    return kind_of_traits(traits) == static_cast<std::uint64_t>(ReferenceKind::fetch);
}

/// Signed to unsigned, small magnitudes to small numbers.
inline std::uint64_t zigzag(std::uint64_t difference) {
    return (difference << 1) ^ (std::uint64_t{0} - (difference >> 63));
}
inline std::uint64_t unzigzag(std::uint64_t value) { return (value >> 1) ^ (std::uint64_t{0} - (value & 1)); }

}  // namespace cachetally::block_layout

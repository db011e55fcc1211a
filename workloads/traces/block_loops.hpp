// SPDX-License-Identifier: BSD-3-Clause
// The hot loops of unpacking. They check nothing that could make them read or write elsewhere: that is their callers'
// part. Internal to BlockDecoder.
#pragma once

#include <cstdint>
#include <span>

#include "cachetally/event.hpp"
#include "cachetally/reference.hpp"
#include "workloads/traces/block.hpp"

namespace cachetally::block_loops {

/// Bytes that may be read behind the end of every stream.
inline constexpr std::size_t slack = 16;

/// The addresses of retained references: each is one of the `lead` before it, moved by a delta. There are 8 bytes of
/// deltas for every code. Returns the end of the deltas that were used.
const std::uint8_t* add_deltas(std::span<const std::uint8_t> codes, const std::uint8_t* deltas, Address* addresses);

/// All references from retained and redundant ones. Indices of traits are less than the table's size.
struct Merge {
    std::span<const std::uint8_t> marks;
    const std::uint8_t* codes;
    const Address* retained;
    const std::uint8_t* offsets;
    const void *retained_traits, *redundant_traits;  ///< indices of 1 or 2 bytes
    bool wide;
    const std::uint64_t* table;
};

/// What the references of a merge have in common.
struct Merged {
    Address addresses = 0;   ///< all, or-ed together
    bool consistent = true;  ///< redundant ones lie in the line of their slot, and kinds and straddling are as marked
};
Merged merge(const Merge& merge, Reference* out);

/// The line and kind of each retained reference of a block without fetches.
void find_lines(std::span<const std::uint8_t> codes, const Address* retained, BlockEvent* out);

}  // namespace cachetally::block_loops

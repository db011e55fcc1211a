// SPDX-License-Identifier: BSD-3-Clause
// Sieve: tells the references after which every usual first level is as it was before.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/model/event.hpp"
#include "sim/model/reference.hpp"

namespace cachetally {

/// A reference is settled when the last one of its slot of lines was for the same line, the last one of its slot of
/// pages for the same page, and, if it stores, the last of its slot of lines that was not settled was a store. It hits,
/// and changes nothing but counts, in every first-level cache and TLB whose sets refine the slots (below) and where
/// a repetition leaves the order of replacement as it is; for one line size and cache alone this is trace stripping
/// (Puzak 1985, "Analysis of cache replacement algorithms"); pages and stores are ours.
class Sieve {
public:
    static constexpr unsigned lines = 64, line_bytes = 64;    ///< for caches of a multiple of 64 sets of 64-byte lines
    static constexpr unsigned pages = 16, page_bytes = 4096;  ///< for TLBs of a multiple of 16 sets of 4 KiB pages

    static constexpr unsigned slot_of(Address address) { return address / line_bytes % lines; }

    /// More than one line is touched.
    static constexpr bool straddles(const Reference& reference) {
        return reference.address % line_bytes + reference.size > line_bytes;
    }

    /// Takes the next reference; true where it is settled. One that straddles lines never is, and its other lines and
    /// pages leave their slots empty.
    bool settles(const Reference& reference);

    /// Nothing is settled from here on.
    void clear() { *this = {}; }

private:
    struct Line {
        Address number = none;
        bool stored = false;
    };
    static constexpr Address none = ~Address{0};

    void pass_straddling(const Reference& reference);

    std::array<Line, lines> lines_;
    std::array<Address, pages> pages_ = empty_pages();

    static constexpr std::array<Address, pages> empty_pages() {
        std::array<Address, pages> empty;
        empty.fill(none);
        return empty;
    }
};

/// What a sieve found of a reference, in a byte: settled, its slot of lines (and `stores`, or not); else `kept`, or-ed
/// with `straddles` where it does.
namespace sieve_mark {
inline constexpr std::uint8_t slot = 0x3f, kept = 0x40, stores = 0x80, straddles = 0x01;

/// 1 or 0, for sums.
constexpr unsigned is_kept(std::uint8_t mark) { return mark / kept & 1U; }

/// Of a settled one.
constexpr EventKind kind_of(std::uint8_t mark) { return static_cast<EventKind>(mark / stores); }
}  // namespace sieve_mark

/// Loads and stores as a sieve leaves them: the marks of all, and the lines and kinds of those kept.
struct SievedBlocks {
    std::span<const std::uint8_t> marks;
    std::span<const BlockEvent> kept;
};

/// The lines of all references from those kept, one piece after the other.
class SlotLines {
public:
    void expand(const SievedBlocks& blocks, std::vector<BlockEvent>& out);

    /// A kept reference that is not in the pieces.
    void pass(BlockEvent kept) { lines_[Sieve::slot_of(kept.block())] = kept.block(); }

private:
    std::array<Address, Sieve::lines> lines_{};
};

}  // namespace cachetally

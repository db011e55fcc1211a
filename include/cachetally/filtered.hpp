// SPDX-License-Identifier: BSD-3-Clause
// Filtered references: the retained ones, and marks of those that are redundant.
#pragma once

#include <cstdint>
#include <span>

#include "cachetally/event.hpp"

namespace cachetally {

/// What a filter may assume of the first levels behind it. An access is redundant if the last one of its line slot was
/// to the same line, the last one of its page slot to the same page, and, if it stores, the line was stored to since
/// its last retained access. It hits, and changes nothing but counts, in every cache and TLB whose sets refine the
/// slots and whose policy is idle when a set's latest line is used again. For one line size and a cache alone this is
/// trace stripping (Puzak 1985, "Analysis of cache replacement algorithms"); pages and stores are ours.
struct FilterShape {
    static constexpr unsigned most_line_slots = 64, most_page_slots = 16;
    /// The slots of lines, by any address of the line. Within the offset of all pages: virtual and physical are alike.
    static constexpr unsigned slot_of(Address address) { return address / 64 % most_line_slots; }

    unsigned line_bits = 0;    ///< base-2 logarithm of the line size
    unsigned line_slots = 1;   ///< in use: a power of two
    unsigned page_bits = 0;    ///< 0: pages do not matter
    unsigned page_slots = 1;   ///< in use: a power of two
    bool retains_all = false;  ///< a policy is not idle: accesses are found, but none is redundant

    /// Whether what this shape finds redundant is so for `wanted`, too.
    bool serves(const FilterShape& wanted) const;

    friend bool operator==(const FilterShape&, const FilterShape&) = default;
};

/// That of packed traces.
inline constexpr FilterShape packed_shape{6, 64, 12, 16};

/// What a filter found of one access, in a byte: retained; or its slot, and that it loads, stores or fetches.
namespace filter_mark {
inline constexpr std::uint8_t slot = 0x3f, loads = 0, retained = 0x40, stores = 0x80, fetches = 0xc0;

constexpr bool is_retained(std::uint8_t mark) { return (mark & ~slot) == retained; }

/// Of a redundant one.
constexpr EventKind kind_of(std::uint8_t mark) {
    return mark < retained ? EventKind::load : mark < fetches ? EventKind::store : EventKind::fetch;
}
}  // namespace filter_mark

/// Accesses in order, one per line that a reference touches: marks of all; lines and kinds of the retained ones.
struct FilteredEvents {
    std::span<const std::uint8_t> marks = {};
    std::span<const BlockEvent> retained = {};
};

/// The same of a core's references, by virtual addresses.
struct FilteredAccesses : FilteredEvents {
    // In program order; where fetches go apart.
    std::span<const std::uint16_t> positions = {};       ///< of the retained
    std::span<const std::uint16_t> mark_positions = {};  ///< of all
    // Reference::site; where FilterPlan::sites.
    std::span<const std::uint32_t> retained_sites = {};
    std::span<const std::uint32_t> sites = {};  ///< of all
    /// Redundant accesses by kind.
    struct Redundant {
        std::uint32_t loads = 0, stores = 0, fetches = 0;
        std::uint32_t all() const { return loads + stores + fetches; }
    } redundant = {};
};

/// References of one core as its first levels see them: `most` accesses, and those of one more reference, at most.
struct FilteredBlock {
    static constexpr std::size_t most = 512;

    FilteredAccesses data = {};     ///< and fetches, where these take the same way
    FilteredAccesses fetches = {};  ///< where they take another way
    std::uint32_t references = 0;   ///< of the program
};

/// How a core's references reach its first levels.
struct FilterPlan {
    FilterShape data, fetches;
    enum class Fetches : std::uint8_t { with_data, apart, nowhere } way = Fetches::nowhere;
    bool sites = false;  ///< somebody looks at the sites of references

    friend bool operator==(const FilterPlan&, const FilterPlan&) = default;
};

}  // namespace cachetally

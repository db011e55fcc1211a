// CacheArray: the tags of a cache (or TLB) with their replacement order. Knows sets and ways, not what a miss means.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/model/types.hpp"
#include "sim/topology/machine.hpp"

namespace cachetally {

/// A tag: the address of the line, whose low bits are free, or-ed with state bits; 0 = invalid.
using Entry = std::uint64_t;

namespace entry_bit {
inline constexpr Entry valid = 1;
inline constexpr Entry dirty = 2;
inline constexpr Entry prefetched = 4;  ///< brought in by this level's prefetcher and not used since
inline constexpr Entry all = 7;         ///< lines are at least 8 bytes, so these bits are free
}  // namespace entry_bit

constexpr Address line_of(Entry entry) { return entry & ~entry_bit::all; }
constexpr bool is_dirty(Entry entry) { return (entry & entry_bit::dirty) != 0; }

/// What an access does to the line that it finds.
struct Touch {
    bool use = true;  ///< counts as a use for replacement
    Entry set = 0;    ///< state bits to set
    Entry clear = 0;  ///< state bits to clear
};

/// `where` chooses the set (it differs from `line` in virtually indexed caches only); lines are aligned addresses.
class CacheArray {
public:
    virtual ~CacheArray() = default;

    /// Looks a line up and applies `touch` if it is there. Returns the entry as it was before; 0 = not there.
    virtual Entry access(Address where, Address line, Touch touch) = 0;

    /// Inserts a line that is not there, as used, with these state bits. Returns the victim; 0 = there was room.
    virtual Entry insert(Address where, Address line, Entry state) = 0;

    /// Makes room for an insertion into a set: removes and returns the victim; 0 = there is room already.
    virtual Entry make_room(Address where) = 0;

    /// Removes a line; returns its entry; 0 = not there.
    virtual Entry remove(Address where, Address line) = 0;

    /// The entry of a line without touching it; 0 = not there.
    virtual Entry find(Address where, Address line) const = 0;
};

struct ArrayGeometry {
    std::uint64_t sets = 1;
    unsigned ways = 1;
    std::uint64_t block = 64;  ///< bytes per entry: line, or page
    Indexing indexing = Indexing::modulo;
    Replacement replacement = Replacement::lru;
    std::uint64_t seed = 1;  ///< of random replacement, already distinct per copy
};

std::unique_ptr<CacheArray> make_cache_array(const ArrayGeometry& geometry);

/// True when a second access to the line that was just inserted changes nothing (not so where the first hit counts).
constexpr bool insertion_is_use(Replacement replacement) { return replacement != Replacement::srrip; }

}  // namespace cachetally

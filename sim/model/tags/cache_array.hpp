// SPDX-License-Identifier: BSD-3-Clause
// CacheArray: the tags of a cache (or TLB) with their replacement order. Knows sets and ways, not what a miss means.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "cachetally/machine.hpp"
#include "cachetally/types.hpp"
#include "sim/model/batching/request_batch.hpp"
#include "sim/model/indexing/indexing.hpp"
#include "sim/model/replacement/policy.hpp"

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

/// What an access does to the line that it finds; small, so that it travels in a register.
struct alignas(4) Touch {
    bool use = true;          ///< counts as a use for replacement
    std::uint8_t set = 0;     ///< state bits to set
    std::uint8_t clear = 0;   ///< state bits to clear
    std::uint8_t unused = 0;  ///< makes it a whole word

    Entry applied_to(Entry entry) const { return (entry & ~Entry{clear}) | set; }
};

/// Of an access that inserts its line if that is not there.
struct ReplaceResult {
    std::uint64_t miss = 0;  ///< 1 or 0, for sums
    Entry old = 0;           ///< the line's entry as it was before or, if it was missing, its victim's (0: none)
};

/// What requests have overwritten in an array, each in its turn, so that it can be undone; and whom they have replaced.
struct ArrayLog {
    static constexpr std::size_t asked_slots = 2048;
    static constexpr std::uint8_t missed = 0x80;

    std::vector<Entry> old;               ///< the entry of the line or, where it was missing, of the victim (0: none)
    std::vector<std::uint8_t> positions;  ///< where it stood, or-ed with `missed`
    std::size_t size = 0, packed = 0;     ///< requests; the first ones whose entries stand in words of 32 bits
    std::vector<Address> victims;
    std::size_t victim_count = 0;
    std::array<std::uint16_t, asked_slots> asked;  ///< requests by set, modulo their number
    bool asked_often = false;                      ///< one of these is more than the ways

    void clear() {
        size = packed = victim_count = 0;
        asked.fill(0);
        asked_often = false;
    }
    void make_room(std::size_t count) {
        if (old.size() > size + count) return;
        old.resize(2 * (size + count) + 1);
        positions.resize(old.size());
        victims.resize(old.size());
    }
    std::span<const Address> all_victims() const { return {victims.data(), victim_count}; }
};

/// A batch on its way through a cache whose misses and victims go down in the plain way.
struct ArrayBatch {
    std::span<const BlockEvent> requests;
    const std::uint16_t* positions = nullptr;  ///< where requests stand in program order; null if nobody asks
    // Room for twice as many as requests; positions if those of the requests are given.
    BlockEvent* out = nullptr;
    std::uint16_t* out_positions = nullptr;
    Address line_mask = 0;  ///< of the bits of a line's address
    bool write_back_traffic = true;
    ArrayLog* log = nullptr;  ///< with room for all; where the array keeps_log()
};

/// Sets are numbered by an IndexingPolicy; lines are aligned addresses.
class CacheArray {
public:
    virtual ~CacheArray() = default;

    /// Looks a line up and applies `touch` if it is there. Returns the entry as it was before; 0 = not there.
    virtual Entry access(std::uint64_t set, Address line, Touch touch) = 0;

    /// Inserts a line that is not there, as used, with these state bits. Returns the victim; 0 = there was room.
    virtual Entry insert(std::uint64_t set, Address line, Entry state) = 0;

    /// access() or, if the line is not there, insert() with `state`: both in one pass over the set.
    virtual ReplaceResult replace(std::uint64_t set, Address line, Touch touch, Entry state) = 0;

    /// replace() of the lines of accesses (their bits in `line_mask`) by uses that change no state. Writes the indices
    /// of the accesses whose lines were missing, and returns their number.
    virtual std::size_t replace_all(std::span<const BlockEvent> accesses, Address line_mask,
                                    const IndexingPolicy& index, std::uint16_t* missing) = 0;

    /// replace() of a batch, as uses that make stores and write-backs dirty; writes what goes down of it, and returns
    /// its end. At most KindLanes::most requests.
    virtual BlockEvent* handle(const ArrayBatch& batch, const IndexingPolicy& index, BatchCounts& counts) = 0;

    /// Makes room for an insertion into a set: removes and returns the victim; 0 = there is room already.
    virtual Entry make_room(std::uint64_t set) = 0;

    /// Removes a line; returns its entry; 0 = not there.
    virtual Entry remove(std::uint64_t set, Address line) = 0;

    /// The entry of a line without touching it; 0 = not there.
    virtual Entry find(std::uint64_t set, Address line) const = 0;

    /// Whether it holds one of these lines, `offset` bytes further on.
    virtual bool holds_any(std::span<const Address> lines, Address offset, const IndexingPolicy& index) const = 0;

    /// Makes a copy, or makes one that was made of this very array equal again.
    virtual void copy_to(std::unique_ptr<CacheArray>& copy) const = 0;

    /// Whether handle() can log what it does, so that undo() can take it back, where sets are a field of the address.
    virtual bool keeps_log() const { return false; }
    virtual void undo(std::span<const BlockEvent> /*requests*/, const ArrayLog& /*log*/,
                      const IndexingPolicy& /*index*/) {}

    /// Equal digests of a set mean that equal accesses will be answered alike from now on (but for a chance of 2^-64).
    virtual std::uint64_t digest(std::uint64_t set) const = 0;
};

/// Adds a word to a digest.
constexpr std::uint64_t digest_of(std::uint64_t digest, std::uint64_t word) { return splitmix64(digest ^ word); }

struct ArrayGeometry {
    std::uint64_t sets = 1;
    unsigned ways = 1;
    Replacement replacement = Replacement::lru;
    std::uint64_t seed = 1;  ///< of random replacement, already distinct per copy
    unsigned line_bits = 0;  ///< where sets are a field of the address, its lowest bit; else 0
    EmptyWay empty_way = EmptyWay::lowest;
};

std::unique_ptr<CacheArray> make_cache_array(const ArrayGeometry& geometry);

/// What is known of a policy; its number in the span is its enumerator.
struct ReplacementRow {
    std::string_view name;
    bool keeps_ways;  ///< lines stay in their ways, so that EmptyWay::policy has a meaning
    Repetition repetition;
    std::unique_ptr<CacheArray> (*make)(const ArrayGeometry& geometry);
};

/// The rows of sim/model/replacement/table.hpp.
std::span<const ReplacementRow> built_in_replacements();

/// The policies of the program. A source of its own, so that a program may link another with more rows.
std::span<const ReplacementRow> replacement_rows();
inline const ReplacementRow& row_of(Replacement replacement) {
    return replacement_rows()[static_cast<std::size_t>(replacement)];
}

}  // namespace cachetally

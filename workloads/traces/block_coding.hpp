// SPDX-License-Identifier: BSD-3-Clause
// The hot loops of packing: from references to the streams of a block. Internal to BlockEncoder.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cachetally/reference.hpp"
#include "workloads/traces/block.hpp"
#include "workloads/traces/block_layout.hpp"

namespace cachetally::block_coding {

/// The different traits of a block in the order of their first appearance; a hash table of them.
class TraitTable {
public:
    /// Throws std::invalid_argument for those that no reference may have.
    std::uint16_t index_of(std::uint64_t traits) {
        const Entry& entry = entries_[place_of(traits)];
        if (entry.traits == traits && entry.block == block_) [[likely]]
            return static_cast<std::uint16_t>(entry.index);
        return look_up(traits);
    }
    const std::vector<std::uint64_t>& all() const { return all_; }
    bool wide() const { return all_.size() > 256; }
    bool data_only() const;
    void clear() { all_.clear(), ++block_; }

private:
    struct Entry {
        std::uint64_t traits = 0;
        std::uint32_t block = 0;  ///< that it is of; those of earlier ones are free
        std::uint32_t index = 0;
    };
    std::size_t place_of(std::uint64_t traits) const { return (traits * 0x9E3779B97F4A7C15U >> 40U) & mask_; }
    std::uint16_t look_up(std::uint64_t traits);
    Entry& find(std::uint64_t traits);
    void grow();

    std::vector<Entry> entries_ = std::vector<Entry>(1024);  ///< a power of two, 4 times the traits at least
    std::size_t mask_ = entries_.size() - 1;
    std::vector<std::uint64_t> all_;
    std::uint32_t block_ = 1;
};

/// The streams of a block, not yet compressed. Behind each there is room for what loops write ahead.
struct CodedBlock {
    static constexpr std::size_t most = largest_block_references + 1;

    std::array<std::uint8_t, most> marks, codes, offsets;
    std::array<std::uint16_t, most> retained_traits, redundant_traits;
    std::array<Address, block_layout::lead + most> addresses;  ///< the lead, then those of retained references
    std::array<std::uint8_t, 8 * most> deltas;
    std::size_t references, retained, delta_bytes;
};

/// Tells retained from redundant references: all but the deltas, and what the codes say of them. Throws
/// std::invalid_argument for references that cannot be packed.
void split(std::span<const Reference> references, TraitTable& traits, CodedBlock& block);

/// Codes each retained reference against the one before it that needs fewest bytes; among equals the distance used
/// last, then the nearest. `fast`: looks at few, and takes one byte for as good as none.
void code_retained(CodedBlock& block, bool fast);

}  // namespace cachetally::block_coding

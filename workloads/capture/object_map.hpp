// SPDX-License-Identifier: BSD-3-Clause
// ObjectMap: which object of a program lies at an address, as blocks come and go.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cachetally/types.hpp"

namespace cachetally {

/// Blocks of addresses that do not overlap, each of an object, such as all that one place of a program allocates.
class ObjectMap {
public:
    struct Block {
        Address base = 0;
        std::uint64_t bytes = 0;   ///< 0: it is gone
        std::uint32_t object = 0;  ///< 0: none
        Address origin = 0;        ///< where its elements begin; parts of it may have gone since it was added

        bool contains(Address address) const { return address - base < bytes; }
    };

    /// From now on; what was there gives way. `bytes` at least 1, of which `before` come before the elements.
    void add(Address base, std::uint64_t bytes, std::uint32_t object, std::uint64_t before = 0);

    /// All that lies within goes.
    void remove_all(Address base, std::uint64_t bytes);

    /// The block at an address; where there was none, one of object 0. It stays where it is; when it is gone it
    /// contains nothing, until it is used for another block.
    const Block& find(Address address);

private:
    using Blocks = std::map<Address, Block*>;
    static constexpr unsigned page_bits = 12, granule_bits = 4;
    /// What was found, by granules of a page; blocks that are gone contain nothing.
    using Page = std::array<const Block*, std::size_t{1} << (page_bits - granule_bits)>;

    Block& insert(Address base, std::uint64_t bytes, std::uint32_t object, Address origin);
    Blocks::iterator erase(Blocks::iterator block);
    Blocks::iterator first_ending_behind(Address address);

    Blocks blocks_;
    std::deque<Block> all_;
    std::vector<Block*> free_;
    std::unordered_map<Address, std::unique_ptr<Page>> pages_;
    Address latest_number_ = ~Address{0};
    Page* latest_ = nullptr;
};

}  // namespace cachetally

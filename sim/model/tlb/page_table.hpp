// SPDX-License-Identifier: BSD-3-Clause
// PageTable: where pages lie in physical memory, decided at first touch, and where their table entries lie.
#pragma once

#include <map>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"
#include "cachetally/machine.hpp"
#include "cachetally/types.hpp"

namespace cachetally {

/// A page is touched for which no frame is left.
class MemoryFull : public std::runtime_error {
public:
    MemoryFull()
        : std::runtime_error("memory is full: no frame is left for another page; give the machine more memory") {}
};

class PageTable {
public:
    /// `memory_bytes` of physical memory, in which frames are found.
    PageTable(const PagesConfig& config, std::uint64_t memory_bytes);

    /// True where all pages have the same size.
    bool uniform() const { return ranges_.empty(); }
    bool identity() const { return config_.mapping == Mapping::identity; }

    /// Base-2 logarithm of the size of the page that holds a virtual address.
    unsigned page_bits(Address address) const { return ranges_.empty() ? default_bits_ : bits_in_ranges(address); }

    /// Physical address; maps the page if this is its first touch. Throws MemoryFull.
    Address translate(Address address) {
        if (config_.mapping == Mapping::identity) return address;
        const Recent& recent = recent_[(address >> 12) % recent_pages];
        if (recent.page == address >> 12) [[likely]]
            return address + recent.offset;
        return look_up(address);
    }

    /// Physical address, where it was asked for lately; false where translate() has to be asked.
    bool knows(Address address, Address& physical) const {
        const Recent& recent = recent_[(address >> 12) % recent_pages];
        physical = address + recent.offset;
        return recent.page == address >> 12;
    }

    /// Whether the pages from `first` on, in 2^bits bytes, all have this size and are mapped, to frames that follow
    /// each other from an aligned one on.
    bool is_one_run(Address first, unsigned page_bits, unsigned bits) const;

    /// The virtual address that is mapped to a physical one; a physical address that nothing is mapped to stays as it
    /// is.
    Address virtual_address(Address physical) const;

    /// Physical address of the table entry that a walk for `address` reads at depth `depth` (0: root).
    Address entry_address(Address address, unsigned page_bits, unsigned depth) const;

    /// Depth of the radix tree for a page size: entries that a walk reads.
    static constexpr unsigned walk_depth(unsigned page_bits) { return (48 - page_bits + 8) / 9; }
    static constexpr unsigned deepest_walk = (48 - 12 + 8) / 9;  ///< that of the smallest pages

private:
    struct Recent {
        Address page = ~Address{0};  ///< number of a 4 KiB piece of a virtual page
        Address offset = 0;          ///< physical minus virtual, modulo 2^64
    };

    unsigned bits_in_ranges(Address address) const;
    bool is_mapped_to(Address page, Address frame) const;
    Address look_up(Address address);
    Address allocate(Address page, unsigned bits);
    Address draw(std::uint64_t first, std::uint64_t step, std::uint64_t choices, unsigned bits);
    bool is_free(Address frame, std::uint64_t bytes) const;

    PagesConfig config_;
    std::uint64_t memory_bytes_;
    unsigned default_bits_;
    Address tables_;                                              ///< where the table entries begin
    std::vector<PageRange> ranges_;                               ///< ascending
    std::unordered_map<Address, Address> frame_of_;               ///< page base to frame base
    std::map<Address, std::pair<std::uint64_t, Address>> taken_;  ///< frame base to its bytes and page base
    Address next_ = 0;                                            ///< end of the last frame (contiguous)
    Random random_;
    static constexpr std::size_t recent_pages = 4096;
    std::vector<Recent> recent_{recent_pages};  ///< direct-mapped, to save hashing
};

}  // namespace cachetally

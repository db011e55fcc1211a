// SPDX-License-Identifier: BSD-3-Clause
// The page table of the reference simulator: frames by first touch, and the way back from frames to pages.
#pragma once

#include <optional>
#include <vector>

#include "cachetally/machine.hpp"
#include "tests/differential/slow_set.hpp"

namespace cachetally::differential {

class SlowPages {
public:
    explicit SlowPages(const MachineDescription& machine);

    /// Bytes of the page that holds a virtual address.
    std::uint64_t page_size(Address address) const;
    Address translate(Address address);
    Address virtual_address(Address physical) const;

    /// Whether `bytes` from an address on are mapped pages of one size whose frames lie as the pages do: one after the
    /// other, and the first at a multiple of `bytes`.
    bool lie_together(Address from, std::uint64_t bytes) const;

    /// Addresses of the entries that a walk reads, from the root down.
    std::vector<Address> walk_entries(Address address) const;

private:
    struct Page {
        Address base, frame;
        std::uint64_t size;
    };
    std::optional<Address> frame_of(Address page) const;
    bool taken(Address frame, std::uint64_t size) const;
    Address choose_frame(Address base, std::uint64_t size);

    const PagesConfig& config_;
    std::uint64_t memory_bytes_;
    std::vector<Page> pages_;  ///< in order of first touch
    SlowRandom random_;
};

}  // namespace cachetally::differential

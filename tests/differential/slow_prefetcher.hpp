// SPDX-License-Identifier: BSD-3-Clause
// The prefetchers of the reference simulator: which addresses they want after a demand access.
#pragma once

#include <map>
#include <vector>

#include "cachetally/machine.hpp"

namespace cachetally::differential {

class SlowPrefetcher {
public:
    SlowPrefetcher() = default;
    SlowPrefetcher(const PrefetchConfig& config, unsigned line) : config_(config), line_(line) {}

    /// Byte addresses to prefetch after a demand access, in order. `trigger`: it missed, or was the first hit on a line
    /// that was prefetched.
    std::vector<Address> after(Address address, std::uint32_t site, bool trigger);

private:
    std::vector<Address> next_line(Address address) const;
    std::vector<Address> stride(Address address, std::uint32_t site);
    std::vector<Address> stream(Address address);

    struct StrideEntry {
        bool by_site = false;
        std::uint64_t key = 0;
        Address last = 0;
        std::int64_t stride = 0;
        int confidence = 0;
    };
    struct Stream {
        bool used = false;
        std::int64_t last = 0;
        std::int64_t direction = 0;
        unsigned advances = 0;
        std::uint64_t last_trigger = 0;
    };

    PrefetchConfig config_;
    unsigned line_ = 64;
    std::map<std::uint64_t, StrideEntry> table_;  ///< by key modulo entries
    std::vector<Stream> streams_;
    std::uint64_t triggers_ = 0;
};

}  // namespace cachetally::differential

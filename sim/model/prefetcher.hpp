// SPDX-License-Identifier: BSD-3-Clause
// Prefetcher: watches the demand accesses of a level and says which lines it would bring in.
#pragma once

#include <memory>
#include <vector>

#include "sim/model/types.hpp"
#include "sim/topology/machine.hpp"

namespace cachetally {

/// A demand access as a prefetcher sees it.
struct Observation {
    Address address = 0;  ///< physical, of the reference
    Address line = 0;     ///< physical, of the line
    std::uint32_t site = 0;
    bool trigger = false;  ///< it missed, or was the first hit on a line that was prefetched
};

class Prefetcher {
public:
    virtual ~Prefetcher() = default;

    /// Appends the addresses that it asks for, nearest first; the cache leaves out what crosses a page or is there
    /// already.
    virtual void observe(const Observation& observation, std::vector<Address>& wanted) = 0;

    /// False where only triggers matter, so that repeated accesses to a line need not be shown.
    virtual bool sees_every_access() const { return false; }
};

/// Null for PrefetchKind::none. Definitions: docs/counting.md.
std::unique_ptr<Prefetcher> make_prefetcher(const PrefetchConfig& config, unsigned line_bytes);

}  // namespace cachetally

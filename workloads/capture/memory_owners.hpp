// SPDX-License-Identifier: BSD-3-Clause
// MemoryOwners: which memory several objects had, one after another.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "cachetally/types.hpp"

namespace cachetally {

class MemoryOwners {
public:
    static constexpr std::uint32_t several = 0;

    /// From now on this memory, `bytes` at least 1, is of `object`, or of several where others had it. Those are told
    /// to `other`, each once or oftener; `several` are, too.
    void take(Address base, std::uint64_t bytes, std::uint32_t object, const std::function<void(std::uint32_t)>& other);

private:
    struct Range {
        Address last = 0;
        std::uint32_t owner = several;
    };
    using Ranges = std::map<Address, Range>;  ///< by their first address; none overlap

    Ranges::iterator first_from(Address address);
    void cut_before(Address address);
    void join(Address base, Address last);

    Ranges ranges_;
};

}  // namespace cachetally

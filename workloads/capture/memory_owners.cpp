// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/memory_owners.hpp"

#include <iterator>

namespace cachetally {

/// The first that ends at the address or behind it.
MemoryOwners::Ranges::iterator MemoryOwners::first_from(Address address) {
    auto next = ranges_.upper_bound(address);
    if (next != ranges_.begin() && std::prev(next)->second.last >= address) --next;
    return next;
}

void MemoryOwners::cut_before(Address address) {
    const auto range = first_from(address);
    if (range == ranges_.end() || range->first >= address) return;
    ranges_.emplace_hint(std::next(range), address, range->second);
    range->second.last = address - 1;
}

/// Neighbours of one owner become one, so that memory of many small blocks takes little room.
void MemoryOwners::join(Address base, Address last) {
    auto range = base > 0 ? first_from(base - 1) : ranges_.begin();
    while (range != ranges_.end() && range->first <= last) {
        const auto next = std::next(range);
        if (next == ranges_.end() || next->first != range->second.last + 1 ||
            next->second.owner != range->second.owner) {
            range = next;
            continue;
        }
        range->second.last = next->second.last;
        ranges_.erase(next);
    }
}

void MemoryOwners::take(Address base, std::uint64_t bytes, std::uint32_t object,
                        const std::function<void(std::uint32_t)>& other) {
    const Address last = base + (bytes - 1);
    const auto whole = first_from(base);
    if (whole != ranges_.end() && whole->first <= base && whole->second.last >= last && whole->second.owner == object)
        return;
    cut_before(base);
    if (last + 1 != 0) cut_before(last + 1);
    Address free = base;  // all before it has an owner
    for (auto range = first_from(base); range != ranges_.end() && range->first <= last; ++range) {
        if (range->first > free) ranges_.emplace_hint(range, free, Range{range->first - 1, object});
        free = range->second.last + 1;
        if (range->second.owner == object) continue;
        other(range->second.owner);
        range->second.owner = several;
    }
    if (free <= last && (free != 0 || base == 0)) ranges_.emplace(free, Range{last, object});
    join(base, last);
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// A batch of requests of a cache that hits, misses and writes back in the plain way: many at a time, in a loop that
// knows the type of its array. The other way is Cache::request(), one by one.
#pragma once

#include <algorithm>

#include "sim/model/cache.hpp"

namespace cachetally {

/// Numbers of requests by kind, but for write-backs, which are what is left: lanes of one register.
class KindLanes {
public:
    static constexpr unsigned width = 12, kinds = 5;  ///< load, store, fetch, page_walk, prefetch
    static constexpr std::size_t most = (1U << width) - 1;

    void add(unsigned kind, std::uint64_t one_or_zero) { lanes_ += one_or_zero << (kind * width & 63); }
    std::uint64_t of(unsigned kind) const { return lanes_ >> (kind * width) & most; }
    std::uint64_t sum() const {
        std::uint64_t sum = 0;
        for (unsigned kind = 0; kind < kinds; ++kind) sum += of(kind);
        return sum;
    }

private:
    std::uint64_t lanes_ = 0;
};

/// What a batch loop counts.
struct BatchCounts {
    KindLanes requests, misses;
    std::uint64_t all_misses = 0, write_backs_out = 0, first_fills = 0;
};

/// What a batch loop needs to know of a cache.
struct PlainCache {
    Address line_mask;  ///< of the bits of a line's address
    bool write_back_traffic;
};

/// Where a batch loop writes what goes down, and (if not null) where that stands in program order.
struct BatchEnd {
    BlockEvent* request;
    std::uint16_t* position;
};

/// Uses or inserts the lines of `requests` by `tags`, writes what goes down to `out`, and returns its end. What may go
/// down is written whether it does or not, and then perhaps overwritten: a branch would cost more. `far`: the sets are
/// too many for a host's nearest caches, and whether they hit cannot be predicted.
template <bool far, bool placed, class Tags>
BlockEvent* handle_plainly(Tags tags, const PlainCache& cache, std::span<const BlockEvent> requests, BatchEnd out,
                           [[maybe_unused]] const std::uint16_t* positions, BatchCounts& counts) {
    constexpr unsigned ahead = 12;
    constexpr auto write_back = static_cast<unsigned>(EventKind::write_back);
    constexpr auto store = static_cast<unsigned>(EventKind::store);
    const std::uint64_t traffic = cache.write_back_traffic ? 1 : 0;
    const Address line_mask = cache.line_mask;
    const BlockEvent* const begin = requests.data();
    const std::size_t size = requests.size();
    const auto write = [&](BlockEvent request, std::size_t i, std::uint64_t stays) {
        *out.request = request;
        out.request += stays;
        if constexpr (placed) {
            *out.position = positions[i];
            out.position += stays;
        }
    };
    BatchCounts counted;
    for (std::size_t i = 0; i < size; ++i) {
        if constexpr (far) tags.expect(begin[std::min(i + ahead, size - 1)].bits() & line_mask);
        const Address line = begin[i].bits() & line_mask;
        const auto kind = static_cast<unsigned>(begin[i].kind());
        const std::uint64_t demand = kind != write_back;
        const std::uint64_t dirties = kind == write_back || kind == store;
        const auto [miss, old] = tags.replace(line, dirties * entry_bit::dirty);
        counted.requests.add(kind, demand);
        if (!far && miss == 0) continue;
        const std::uint64_t dirty = miss & traffic & (old / entry_bit::dirty);
        counted.misses.add(kind, miss & demand);
        counted.all_misses += miss;
        const unsigned asks = kind == store ? static_cast<unsigned>(EventKind::load) : kind;
        write({line, static_cast<EventKind>(asks)}, i, miss & demand);
        write({tags.line_of_old(old, line), EventKind::write_back}, i, dirty);
        counted.write_backs_out += dirty;
        if ((old & entry_bit::valid) == 0) [[unlikely]]
            ++counted.first_fills;
    }
    counts = counted;
    return out.request;
}

}  // namespace cachetally

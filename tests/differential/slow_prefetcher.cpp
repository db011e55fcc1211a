// SPDX-License-Identifier: BSD-3-Clause
// The prefetchers of the reference simulator, as docs/counting.md describes them.
#include "tests/differential/slow_prefetcher.hpp"
#include "sim/model/prefetch/table.hpp"

#include <algorithm>
#include <stdexcept>

namespace cachetally::differential {

std::vector<Address> SlowPrefetcher::after(Address address, std::uint32_t site, bool trigger) {
    std::vector<Address> wanted;
    switch (static_cast<prefetchers::row::Number>(config_.kind)) {
        case prefetchers::row::none: break;
        case prefetchers::row::next_line:
            if (trigger) wanted = next_line(address);
            break;
        case prefetchers::row::adjacent_line: {
            const Address number = address / line_;
            if (trigger) wanted = {(number % 2 == 0 ? number + 1 : number - 1) * line_};
            break;
        }
        case prefetchers::row::stride: wanted = stride(address, site); break;
        case prefetchers::row::stream:
            if (trigger) wanted = stream(address);
            break;
        default: throw std::logic_error("the slow simulator does not know this prefetcher");
    }
    std::erase_if(wanted, [&](Address each) { return each / 4096 != address / 4096; });
    return wanted;
}

std::vector<Address> SlowPrefetcher::next_line(Address address) const {
    std::vector<Address> wanted;
    for (unsigned i = 0; i < config_.degree; ++i) {
        wanted.push_back((address / line_ + config_.distance + i) * line_);
    }
    return wanted;
}

std::vector<Address> SlowPrefetcher::stride(Address address, std::uint32_t site) {
    const bool by_site = site != 0;
    const std::uint64_t key = by_site ? site : address / 4096;
    StrideEntry& entry = table_.try_emplace(key % config_.entries, StrideEntry{false, ~std::uint64_t{0}}).first->second;
    if (entry.by_site != by_site || entry.key != key) {
        entry = {by_site, key, address, 0, 0};
        return {};
    }
    const auto stride = static_cast<std::int64_t>(address - entry.last);
    entry.last = address;
    if (stride == entry.stride) {
        entry.confidence = std::min(entry.confidence + 1, 3);
    } else {
        entry.confidence = std::max(entry.confidence - 1, 0);
        if (entry.confidence == 0) entry.stride = stride;
    }
    if (entry.confidence < 2 || entry.stride == 0) return {};
    std::vector<Address> wanted;
    for (unsigned i = 0; i < config_.degree; ++i) {
        const auto steps = static_cast<std::int64_t>(config_.distance + i);
        wanted.push_back(address + static_cast<Address>(entry.stride * steps));
    }
    return wanted;
}

std::vector<Address> SlowPrefetcher::stream(Address address) {
    const auto line = static_cast<std::int64_t>(address / line_);
    const std::int64_t reach = config_.distance + config_.degree;
    streams_.resize(config_.entries);
    ++triggers_;
    for (Stream& stream : streams_) {
        if (!stream.used) continue;
        const std::int64_t ahead = line - stream.last;
        if (stream.direction == 0 && (ahead == 1 || ahead == -1)) {
            stream.direction = ahead;
        } else if (stream.direction == 0 || ahead * stream.direction < 1 || ahead * stream.direction > reach) {
            continue;
        }
        stream.last = line;
        stream.last_trigger = triggers_;
        if (++stream.advances < 2) return {};
        std::vector<Address> wanted;
        for (unsigned i = 0; i < config_.degree; ++i) {
            const std::int64_t steps = config_.distance + i;
            wanted.push_back(static_cast<Address>(line + stream.direction * steps) * line_);
        }
        return wanted;
    }
    // Unused streams have last_trigger 0 and so come first, the lowest number first.
    Stream& oldest = *std::min_element(streams_.begin(), streams_.end(), [](const Stream& a, const Stream& b) {
        return a.last_trigger < b.last_trigger;
    });
    oldest = {true, line, 0, 0, triggers_};
    return {};
}

}  // namespace cachetally::differential

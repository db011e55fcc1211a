// SPDX-License-Identifier: BSD-3-Clause
// SiteCauses: why one copy of a cache misses, by the sites of references, and what evicts what, by their objects.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "monitor/attribution/attribution.hpp"
#include "monitor/attribution/site_counts.hpp"
#include "monitor/causes/eviction_graph.hpp"
#include "monitor/causes/miss_causes.hpp"
#include "monitor/histogram.hpp"
#include "sim/model/indexing/indexing.hpp"

namespace cachetally {

/// Numbers of objects: those of one name have the least of theirs in common.
class ObjectNumbers {
public:
    explicit ObjectNumbers(const std::vector<std::string>& names);
    /// One that has no name is that of fetches.
    std::uint32_t operator[](std::uint32_t object) const { return object < numbers_.size() ? numbers_[object] : 0; }

private:
    std::vector<std::uint32_t> numbers_;
};

/// A line is of the object that the last request for it was for: objects may share a line, and follow each other at a
/// place. What no program refers to (page tables, monitors' records) is object 0, as fetches are. Lines have the
/// numbers of CauseWatch.
class SiteCauses {
public:
    /// `sites` must live as long as this; `map` gives the virtual addresses of lines.
    /// `cores`: told apart.
    SiteCauses(const SiteTable& sites, const CacheConfig& cache, AddressMap map, unsigned cores);

    void asked(std::uint32_t number, std::uint32_t site, EventKind kind) {
        std::uint32_t& object = object_of(number);
        if (kind == EventKind::page_walk) object = 0;
        if ((bit(kind) & referring) != 0) object = sites_[site].object;
    }
    void missed(std::uint32_t site, unsigned core, MissCause cause, std::uint32_t times) {
        misses_[static_cast<unsigned>(cause)].add(site, times, core);
    }
    /// A line that nobody asked for is prefetched here.
    void came(std::uint32_t number, std::uint32_t site) {
        std::uint32_t& object = object_of(number);
        if (object == unknown) object = sites_[site].object;
    }
    /// `line`: of the victim; `site`: of the reference that caused it.
    void evicted(std::uint32_t by, std::uint32_t victim, std::uint32_t site, Address line);
    void end_phase();

    /// To the rows of the sites' misses, for one of the levels whose causes are known.
    void add_misses(Attribution& attribution, std::size_t level) const;
    static ObjectEvictions evictions(const std::string& level, const std::vector<const SiteCauses*>& copies,
                                     const ObjectNumbers& numbers);

private:
    static constexpr std::uint32_t unknown = ~std::uint32_t{0};
    static constexpr std::uint32_t referring =
        bit(EventKind::load) | bit(EventKind::store) | bit(EventKind::fetch) | bit(EventKind::prefetch);

    struct Meeting {
        std::uint32_t by, victim;
        std::uint64_t set;
        friend bool operator==(const Meeting&, const Meeting&) = default;
    };
    struct MeetingHash {
        std::size_t operator()(const Meeting& meeting) const {
            const std::uint64_t pair = std::uint64_t{meeting.by} << 32 | meeting.victim;
            return (pair * 0x9e3779b97f4a7c15 ^ meeting.set) * 0xd6e8feb86659fd93 >> 16;
        }
    };
    using Meetings = std::unordered_map<Meeting, std::uint64_t, MeetingHash>;
    using Pairs = std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint64_t>;  // phase last

    std::uint32_t& object_of(std::uint32_t number) {
        if (number >= objects_.size()) objects_.resize(number + std::size_t{1}, unknown);
        return objects_[number];
    }
    void fold(const Meetings& from, Meetings& meetings, Pairs& pairs, const ObjectNumbers* numbers) const;

    const SiteTable& sites_;
    IndexingPolicy sets_;
    AddressMap map_;                      ///< empty where sets are those of the address
    std::vector<std::uint32_t> objects_;  ///< by number of a line
    std::array<SiteCounts, miss_cause_count> misses_;
    std::uint32_t phase_ = 0;
    Meetings of_phase_, meetings_;  ///< the phase at hand, and those before
    Pairs pairs_;                   ///< of the phases before
};

}  // namespace cachetally

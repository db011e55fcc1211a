// SPDX-License-Identifier: BSD-3-Clause
// CauseWatch: finds out, on the links around one copy of a cache, why it misses and what evicts what.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cachetally/listener.hpp"
#include "cachetally/topology.hpp"
#include "monitor/causes/line_causes.hpp"
#include "monitor/causes/line_numbers.hpp"
#include "monitor/causes/line_stack.hpp"
#include "monitor/causes/miss_causes.hpp"
#include "monitor/causes/sharing_watch.hpp"
#include "monitor/causes/site_causes.hpp"
#include "monitor/histogram.hpp"
#include "monitor/level_lines.hpp"

namespace cachetally {

/// A cache of which causes can be told, and the links around it.
struct CauseLinks {
    std::size_t component = 0;  ///< into Topology::components()
    std::vector<std::size_t> above;
    std::size_t below = 0;
};

/// In the order of the machine description. Left out are caches that are filled by victims (exclusive and victim
/// levels), and the point of coherence, where other nodes answer what the cache is not asked for.
std::vector<CauseLinks> cause_links(const Topology& topology);

class CauseWatch {
public:
    /// `regions`, `numbers`, of the cache's line, and `sites`, if any, must live as long as this; `map` gives the
    /// addresses in which regions are. `cores`: told apart.
    CauseWatch(const MachineDescription& machine, const CacheConfig& cache, const RegionFinder& regions, AddressMap map,
               LineNumbers& numbers, const SiteTable* sites = nullptr, unsigned cores = 1);
    CauseWatch(const CauseWatch&) = delete;
    CauseWatch& operator=(const CauseWatch&) = delete;

    /// To be put on all links into the copy, and on that out of it.
    LinkListener& above() { return above_; }
    LinkListener& below() { return below_; }

    /// What becomes of lines is reported to `watch`, too, and at once, from now on.
    struct Place {
        std::uint32_t level = 0, node = 0;
        bool is_last = false;  ///< in its node
    };
    void report_to(SharingWatch& watch, Place place) {
        sharing_ = &watch;
        place_ = place;
    }

    /// Counts misses by line, too, from now on.
    void count_lines() { by_line_.emplace(); }
    /// Of several copies together, ascending by (phase, address); empty if they do not count lines.
    static std::vector<LineCauses> lines(const std::vector<CauseWatch*>& copies);

    /// What was found so far, of several copies together.
    static LevelCauses sum(const std::string& level, const std::vector<CauseWatch*>& copies);
    /// The same by the sites of references; only with these.
    const SiteCauses& by_site();

private:
    class Side final : public LinkListener {
    public:
        Side(CauseWatch& watch, std::uint32_t kinds, bool below) : watch_(watch), kinds_(kinds), below_(below) {}
        std::uint32_t kinds() const override { return kinds_; }
        bool accepts_merged(std::uint32_t) const override { return false; }  // links are looked at in turn
        void on_event(const LinkEvent& event, Injector&) override { watch_.take(event); }
        void on_control(const Control& control, Tick, Injector&) override {
            if (below_) watch_.follow(control);
        }

    private:
        CauseWatch& watch_;
        std::uint32_t kinds_;
        bool below_;
    };

    using Line = LineStack::Line;
    using Fate = LineStack::Fate;

    /// An event that waits to be looked at: many at a time, as their lines are anywhere in the host's memory.
    struct Waiting {
        Address line, by;
        std::uint32_t times;  ///< that a line was asked for in a row
        std::uint32_t site;
        EventKind kind;
        std::uint8_t core;
    };
    struct Known {
        std::uint32_t number, structure;
        std::uint32_t by, by_number;  ///< of the line that takes the place: its structure and number
    };

    void take(const LinkEvent& event);
    void catch_up();
    const LineNumbers::Line& known_line(Address address);
    void asked(const Waiting& event, const Known& known);
    void happened(const Waiting& event, const Known& known);
    void count_miss(const Line& line, const Waiting& event, const Known& known, std::uint32_t times);
    void follow(const Control& control);

    std::uint32_t line_bytes_;
    bool victims_allocate_;
    const RegionFinder& regions_;
    AddressMap map_;
    Side above_, below_;
    LineNumbers& numbers_;
    LineStack lines_;
    std::optional<SiteCauses> by_site_;
    std::optional<LineCauseCounts> by_line_;
    bool by_core_;
    SharingWatch* sharing_ = nullptr;
    Place place_;
    std::uint32_t phase_ = 0;
    Counting counting_;
    std::size_t waiting_ = 0;
    std::array<Waiting, 256> events_;

    /// Of which the last one is at hand: the next is of the same structures more often than not.
    template <class Key, class Count>
    struct Counts {
        std::map<Key, Count> counts;
        typename std::map<Key, Count>::value_type* at_hand = nullptr;

        Count& operator[](const Key& key) {
            if (at_hand == nullptr || at_hand->first != key) at_hand = &*counts.try_emplace(key).first;
            return at_hand->second;
        }
    };
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    Counts<Key, CauseCounts> misses_;       // structure, phase, core
    Counts<Key, std::uint64_t> evictions_;  // by, victim, phase
};

}  // namespace cachetally

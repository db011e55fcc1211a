// SPDX-License-Identifier: BSD-3-Clause
// CorePipeline: one core's references without regard to time, level by level: all translations of a block, then all its
// accesses to the first level, then all that misses there. Exact because nothing comes back from below but time; where
// inclusive levels may take lines away, too, by Speculation.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/engine/block_path.hpp"
#include "sim/engine/core_port.hpp"
#include "sim/engine/speculation.hpp"
#include "sim/model/batching/redundancy_filter.hpp"
#include "sim/model/cache/cache.hpp"
#include "sim/model/link/request_port.hpp"
#include "sim/model/tlb/page_table.hpp"
#include "sim/model/tlb/tlb.hpp"

namespace cachetally {

class CorePipeline final : public BlockPath {
public:
    /// `fetches`: where they take another way than data; else empty.
    CorePipeline(std::uint8_t core, const CorePort& data, const CorePort& fetches, const FilterPlan& filter,
                 PageWalker& walker, PageTable& pages);

    void start(Background* background) override;
    void stop() override;

    /// What comes of it below the first level is handed over when there is enough, to the `background` of start() or at
    /// once. Returns how long the first level and the TLBs took.
    Tick run(const FilteredBlock& block) override;
    void hand_over() override;
    Tick waited() override { return std::exchange(waited_, 0); }

private:
    /// Requests to the second level that are handed over: few enough to stay in a host's nearest cache.
    static constexpr std::size_t enough = 512;

    /// One way while a block runs through it.
    struct Stream {
        CorePort way;
        Tick latency = 0;  ///< of an access that hits
        const FilteredAccesses* given = nullptr;
        std::vector<std::uint16_t> missing;    ///< retained accesses that the first TLB misses, by index
        std::vector<BlockEvent> physical;      ///< where the page table changes addresses
        std::span<const BlockEvent> accesses;  ///< the retained ones, by physical addresses
        std::vector<std::uint16_t> positions;  ///< of what the first cache sends down
        std::vector<BlockEvent> sent;          ///< the same, of which listeners are not notified yet
        std::uint64_t disturbed = 0;  ///< slots that a walk came into, or that lost their line, since their last
                                      ///< retained access or store
        LatestLines latest{};
        Cache::Disturbances disturbances;

        Cache& cache() const { return *way.port->cache(); }
    };

    /// A retained access that no TLB so far has translated.
    struct Missing {
        std::uint16_t index, position;
        bool fetch;
    };

    std::span<Stream> streams() { return {streams_.data(), apart_ ? 2U : 1U}; }
    Tick translate();
    void gather_missing();
    Tick look_up_below(Tlb& tlb);
    Tick walk();
    void find_physical();
    void go_through(Stream& stream);
    void insert_disturbed(Stream& stream, std::span<const BlockEvent> reads);
    const std::uint16_t* positions_of(const Stream& stream);
    void put(BlockEvent request, std::uint16_t position, Address line);
    void access(Stream& stream, std::span<const BlockEvent> requests, const std::uint16_t* positions,
                std::span<const BlockEvent> lines);
    void bring_together();
    void hand_over(RequestPort& port);
    bool meet() const { return apart_ || walks_below_; }
    RequestPort& below() { return meet() ? together_ : streams_[0].cache().below(); }
    void start_batching();
    void stop_batching();
    void begin_speculation();
    void save();
    void end_speculation();
    void make_again();

    std::uint8_t core_;
    bool apart_;                     ///< fetches take another way than data
    bool placed_ = false;            ///< a block has both, so that it matters where each access stands
    bool walks_below_ = false;       ///< page walks enter beside the first level
    bool positioned_ = false;        ///< a block's ways and walks meet below, so that positions matter
    bool by_virtual_lines_ = false;  ///< a first level's sets are chosen by them
    FilterPlan filter_plan_;
    PageWalker& walker_;
    PageTable& pages_;
    std::array<Stream, 2> streams_;
    RequestPort together_;  ///< what the first caches and the walker send down, where they meet
    Background* background_ = nullptr;
    Tick waited_ = 0;

    std::vector<Missing> missing_;    ///< of both streams, in program order
    std::vector<BlockEvent> missed_;  ///< their virtual lines
    std::vector<std::uint16_t> still_missing_;
    std::vector<BlockEvent> reads_;     ///< of page walks
    std::vector<Missing> read_before_;  ///< by read: the access that waits for it
    // The requests of a first cache, if they are not the retained accesses alone.
    std::vector<BlockEvent> requests_;
    std::vector<std::uint16_t> request_positions_;
    std::vector<BlockEvent> virtual_requests_;  ///< the same by virtual lines, where these choose sets
    std::vector<std::uint16_t> counting_;       ///< 0, 1, 2 ...
    FilteredAccesses::Redundant made_;          ///< redundant accesses that are made after all

    std::optional<Speculation> speculation_;
    AccessLog log_;                              ///< of the blocks of it
    std::vector<std::uint16_t> read_positions_;  ///< of save()
    std::size_t careful_ = 0, penalty_ = 0;      ///< blocks that are made one by one: now, and at the next failure
};

}  // namespace cachetally

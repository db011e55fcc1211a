// SPDX-License-Identifier: BSD-3-Clause
// Speculation: batches through levels of which some are inclusive. They are exact as long as no line that is taken away
// from above was there; else they are undone.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cachetally/filtered.hpp"
#include "sim/model/cache/cache.hpp"

namespace cachetally {

/// By slot of a filter: the physical line of its last retained access.
using LatestLines = std::array<Address, FilterShape::most_line_slots>;

/// The levels of one core from its first ones down to the last inclusive one.
class Speculation {
public:
    explicit Speculation(std::span<Cache* const> firsts);

    /// False where no level takes lines away.
    bool is_needed() const { return !levels_.empty(); }

    /// So many requests to the second level, or blocks, that copies of the upper levels cost little.
    std::size_t enough_requests() const { return enough_requests_; }
    std::size_t enough_blocks() const { return enough_blocks_; }

    void begin();

    /// Hands the batch of `port`, which leads to the second level, down to the last inclusive one. Nobody is notified.
    /// False if that was not exact: then roll_back().
    bool hand_down(RequestPort& port);

    /// Notifies the listeners, and hands down the rest. Returns for how long somebody waits.
    Tick commit(RequestPort& port, std::uint8_t core);

    /// To what was at begin(). Batches are empty then.
    void roll_back(RequestPort& port);

private:
    /// A cache from which another takes lines away; `level` is its own, or `elsewhere` for one of another core.
    struct Upper {
        Cache* cache;
        std::size_t level;
    };
    static constexpr std::size_t elsewhere = ~std::size_t{0};

    struct Level {
        Cache* cache;
        bool copied;  ///< another may take its lines away
        std::vector<Upper> above;
        Cache::Checkpoint checkpoint;
    };

    void add_above(Cache& cache, std::vector<Upper>& above) const;
    bool took_away(const Level& level, std::span<const BlockEvent> requests);
    static bool took_recent(const Level& level, std::span<const BlockEvent> requests);

    std::vector<Level> levels_;  ///< first ones first
    std::size_t firsts_ = 0;
    std::size_t enough_requests_ = 0, enough_blocks_ = 0;
    Tick waited_ = 0;  ///< by hand_down()
};

/// The accesses of some blocks, kept so that they can be made again one by one.
class AccessLog {
public:
    struct Access {
        BlockEvent event;
        bool fetch;  ///< goes the way of fetches that are apart
    };
    /// Of one way; accesses are the retained ones by physical addresses.
    struct Way {
        std::span<const std::uint8_t> marks;
        std::span<const std::uint16_t> mark_positions;
        std::span<const BlockEvent> accesses;
    };

    /// `latest`: of the ways, before the first block.
    void clear(const LatestLines& data, const LatestLines& fetches);
    std::size_t blocks() const { return blocks_.size(); }

    /// `placed`: both ways have accesses. `reads` of page walks go before the data access, or the access of either way,
    /// of their position.
    void add(bool placed, const Way& data, const Way& fetches, std::span<const BlockEvent> reads,
             std::span<const std::uint16_t> read_positions);

    /// All accesses, redundant ones as well, in program order.
    std::span<const Access> expand();

    /// Of a way, after expand().
    const LatestLines& latest(unsigned way) const { return ways_[way].latest; }

private:
    struct Saved {
        std::vector<std::uint8_t> marks;
        std::vector<std::uint16_t> positions;
        std::vector<BlockEvent> accesses;
        LatestLines latest{};
        std::size_t mark = 0, access = 0;  ///< of expand()
    };
    /// Where it ends.
    struct Block {
        std::array<std::size_t, 2> marks;
        std::size_t reads;
        bool placed;
    };

    void expand(const Block& block);

    std::array<Saved, 2> ways_;
    std::vector<BlockEvent> reads_;
    std::vector<std::uint16_t> read_positions_;
    std::vector<Block> blocks_;
    std::size_t read_ = 0;
    std::vector<Access> expanded_;
};

}  // namespace cachetally

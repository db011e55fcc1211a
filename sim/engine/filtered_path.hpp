// SPDX-License-Identifier: BSD-3-Clause
// FilteredPath: one core's filtered references, of which the retained ones are made one by one. For machines whose
// levels answer each other, such as inclusive ones, so that they cannot be gone through one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/engine/block_path.hpp"
#include "sim/engine/core_port.hpp"
#include "sim/model/cache/cache.hpp"
#include "sim/model/tlb/page_table.hpp"
#include "sim/model/tlb/tlb.hpp"

namespace cachetally {

class FilteredPath final : public BlockPath {
public:
    /// `fetches`: where they take another way than data; else empty.
    FilteredPath(std::uint8_t core, const CorePort& data, const CorePort& fetches, const FilterPlan& filter,
                 PageTable& pages);
    ~FilteredPath() override;

    Tick run(const FilteredBlock& block) override;

private:
    struct Line {
        Address physical = 0;
        std::uint64_t set = 0;
    };

    /// Data, and fetches where these do not take another way; or fetches.
    struct Stream {
        CorePort way;
        Cache* cache = nullptr;
        unsigned slot_mask = 0;  ///< of the slots in use
        bool watched = false;    ///< somebody listens next to the core
        Cache::Disturbances disturbances;
        /// Slots with a line that has left or aged since its last retained access: those that seem to repeat it are
        /// made, up to a store or a retained one of another line. To make more of them than necessary changes nothing.
        std::uint64_t disturbed = 0;
        std::array<Line, FilterShape::most_line_slots> latest{};  ///< of the last retained access, by slot

        const FilteredAccesses* given = nullptr;
        std::size_t next = 0;                       ///< retained access
        std::size_t mark = 0, marked = 0;           ///< the next mark, and the retained ones before it
        std::array<std::uint64_t, 3> hits{};        ///< by kind
        std::uint64_t lookups = 0, made_after = 0;  ///< that changed nothing in the TLB; redundant accesses made
        std::vector<BlockEvent> physical;

        bool is_over() const { return next == given->retained.size(); }
        std::uint64_t bit_of(Address line) const {
            return std::uint64_t{1} << (FilterShape::slot_of(line) & slot_mask);
        }
    };

    void begin(Stream& stream, const FilteredAccesses& given);
    Tick make_retained(Stream& stream, Tick time);
    Tick make_marks(Tick time);
    void pass_marks(std::size_t position);
    Tick access(Stream& stream, Line line, RequestInfo info, Tick time);
    Tick end(Stream& stream);
    Stream& first();

    std::uint8_t core_;
    bool placed_ = false;  ///< the block has both
    PageTable& pages_;
    std::array<Stream, 2> streams_;
};

}  // namespace cachetally

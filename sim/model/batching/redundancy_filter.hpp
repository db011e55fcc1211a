// SPDX-License-Identifier: BSD-3-Clause
// RedundancyFilter: finds the references that every usual first level answers without changing its state.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cachetally/filtered.hpp"
#include "cachetally/reference.hpp"

namespace cachetally {

/// Of marks.
FilteredAccesses::Redundant count_redundant(std::span<const std::uint8_t> marks);

/// Finds the lines of all events from the retained ones, one piece after the other.
class SlotLines {
public:
    void expand(const FilteredEvents& events, std::vector<BlockEvent>& out);

private:
    std::array<Address, FilterShape::most_line_slots> latest_{};
};

/// Makes filtered blocks of references; remembers what came before.
class RedundancyFilter {
public:
    explicit RedundancyFilter(const FilterPlan& plan);

    /// Forgets what came before.
    void clear();

    /// A block of the first references; valid until the next call. `data_only`: there are no fetches among them.
    FilteredBlock filter(std::span<const Reference> references, bool data_only = false);

private:
    /// Accesses of the block that is being made, and what decides about the next ones.
    class Stream {
    public:
        Stream(const FilterShape& shape, bool sites);
        void forget();
        void clear() { accesses_ = retained_count_ = 0; }

        /// Adds accesses of references while these lie within a line and are of a kind less than `kinds`. Returns the
        /// first that is not added.
        const Reference* add_plain(const Reference* next, const Reference* end, unsigned kinds);

        /// Adds the accesses of a reference, the first of them at `position` if that is asked for. Returns their
        /// number.
        template <bool placed>
        std::size_t add(const Reference& reference, std::size_t position);

        /// Of references: which are to be added by add_picked().
        std::array<std::uint16_t, FilteredBlock::most> picked;
        std::size_t picked_count = 0;

        /// Adds the accesses of those that are picked, each of which lies within a line. The first reference is at
        /// `position`.
        void add_picked(const Reference* references, std::size_t position);

        Address line_mask() const { return line_mask_; }
        std::size_t size() const { return accesses_; }
        template <bool placed>
        FilteredAccesses all() const;

    private:
        template <bool with_pages>
        class Latest;
        template <bool pages, bool sites>
        const Reference* add_plain_by(const Reference* next, const Reference* end, unsigned kinds);
        template <bool pages, bool sites>
        void add_picked_by(const Reference* references, std::size_t position);
        template <bool placed>
        void add(Address access, Address address, std::uint32_t site, std::size_t position);

        FilterShape shape_;
        bool with_sites_;
        Address line_mask_;                                        ///< of the offset within a line
        std::array<Address, FilterShape::most_line_slots> lines_;  ///< words of an MRU filter
        std::array<Address, FilterShape::most_page_slots> pages_;
        std::size_t accesses_ = 0, retained_count_ = 0;
        std::vector<std::uint8_t> marks_;
        std::vector<BlockEvent> retained_;
        std::vector<std::uint16_t> positions_, mark_positions_;
        std::vector<std::uint32_t> retained_sites_, sites_;
    };
    FilteredBlock filter_together(std::span<const Reference> references, bool leaves_fetches);
    FilteredBlock filter_apart(std::span<const Reference> references);
    std::size_t pick(std::span<const Reference> references);

    FilterPlan plan_;
    Stream data_, fetches_;
};

}  // namespace cachetally

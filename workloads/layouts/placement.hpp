// SPDX-License-Identifier: BSD-3-Clause
// Placement: where a program's memory lies instead, and a source whose references go there.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "workloads/layouts/shape.hpp"
#include "workloads/layouts/structures.hpp"

namespace cachetally {

/// What is changed of one data structure: it moves to memory of its own, at the same offset within 1 GiB, with its
/// extents in order.
struct StructureChange {
    std::uint32_t structure = no_structure;
    std::vector<Extent> extents = {};  ///< of the structure, ascending, without overlap
    Shape shape = {};                  ///< of each extent
    std::uint64_t shift = 0;           ///< bytes that it lies higher
    std::uint64_t alignment = 1;       ///< of each extent, a power of two
    /// What else moves along where it lies within the extents, such as what an allocator keeps between blocks.
    std::uint32_t along = no_structure;
};

/// How far up each segment moves, modulo 2^64.
using MemoryLayout = std::vector<std::uint64_t>;

/// Nothing moves.
inline MemoryLayout recorded_layout(std::span<const Segment> segments) { return MemoryLayout(segments.size()); }

/// Moves each segment by a random multiple of its unit, up to 64 MiB from its neighbours; their order stays. Those
/// above 2^46 (mapped files, stacks) move down, others up. All stay where they are if there is no room.
MemoryLayout random_layout(std::span<const Segment> segments, std::uint64_t seed);

/// A map of addresses. Bytes of a changed structure follow its change, all others the segment that they are in; bytes
/// in none stay. No two bytes go to one address but where a structure has given way to another at its addresses.
class Placement {
public:
    /// `segments` ascend without overlap. Changes are of different structures; throws std::invalid_argument otherwise,
    /// and if there is no room.
    Placement(const std::vector<Segment>& segments, const MemoryLayout& layout,
              const std::vector<StructureChange>& changes);

    struct Piece {
        Address address = 0;
        std::uint64_t bytes = 0;  ///< from there on that stay together, at least 1
    };
    Piece at(std::uint32_t structure, Address address) const;

private:
    struct Moved {
        Address base = 0;
        std::uint64_t bytes = 0;
        Address to = 0;
        Shape shape = {};
    };
    static Piece in_gap(std::span<const Moved> stretches, Address address);
    void place(const StructureChange& change, Address area, const std::vector<Segment>& segments,
               const MemoryLayout& layout);

    std::vector<Moved> segments_;
    std::vector<std::vector<Moved>> changed_;  ///< by structure
};

/// The references of a source as they are in another placement; one that does not stay together is several. What the
/// source says besides stays, regions included.
class PlacedSource final : public ReferenceSource {
public:
    PlacedSource(std::unique_ptr<ReferenceSource> source, StructureFinder structures,
                 std::shared_ptr<const Placement> placement)
        : source_(std::move(source)), structures_(std::move(structures)), placement_(std::move(placement)) {
        placed_.resize(source_->cores());
    }

    unsigned cores() const override { return source_->cores(); }
    Batch next(unsigned core) override;
    std::vector<Region> regions() const override { return source_->regions(); }
    std::vector<std::string> functions() const override { return source_->functions(); }
    std::vector<std::string> phase_names() const override { return source_->phase_names(); }
    const SiteTable* sites() const override { return source_->sites(); }
    SiteNames site_names() const override { return source_->site_names(); }
    double progress() const override { return source_->progress(); }

private:
    std::unique_ptr<ReferenceSource> source_;
    StructureFinder structures_;
    std::shared_ptr<const Placement> placement_;
    std::vector<std::vector<Reference>> placed_;  ///< by core
};

}  // namespace cachetally

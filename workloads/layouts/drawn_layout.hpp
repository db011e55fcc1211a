// SPDX-License-Identifier: BSD-3-Clause
// Drawn layouts: where a program's memory lies instead, wherever it lay when it ran. Two runs of a program that differ
// by the place of their stack, heap or mapped files alone are the same references in a drawn layout (ours).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "workloads/layouts/placement.hpp"
#include "workloads/layouts/structures.hpp"

namespace cachetally {

/// What a source touches, from one reading.
struct MemorySurvey {
    /// Ascending, without overlap. Regions and blocks of the heap of 4 KiB and more are segments of their own, at most
    /// the 256 longest; what lies between is one up to the next gap of 16 KiB.
    std::vector<Segment> segments;
    std::uint64_t references = 0;
    std::uint64_t fetches = 0;  ///< of these
};

/// Reads the source to its end, or so many references (0: all). `go_on` is asked now and then; throws
/// std::runtime_error where it says no, and what the source throws.
MemorySurvey survey_memory(ReferenceSource& source, std::uint64_t most_references, const std::function<bool()>& go_on);

/// Where the segments lie in layout `number` of `count`, from 0: each at a multiple of its unit in 16 MiB of its own,
/// in their order. Over all layouts, places and distances are spread evenly, within any power of two of bytes. Where a
/// segment goes depends on how many of its kind are longer (from 2^46 on: are above it), and not on addresses. What is
/// at 2^47 and above stays. Throws std::invalid_argument where there is no room.
MemoryLayout drawn_layout(const std::vector<Segment>& segments, unsigned number, unsigned count);

/// The references of a source with its segments moved, and its regions with them. A reference moves as its first byte
/// does; what is in no segment stays.
class MovedSource final : public ReferenceSource {
public:
    /// `layout`: of the segments.
    MovedSource(std::unique_ptr<ReferenceSource> source, std::vector<Segment> segments, MemoryLayout layout);

    unsigned cores() const override { return source_->cores(); }
    Batch next(unsigned core) override;
    std::vector<Region> regions() const override;
    std::vector<std::string> functions() const override { return source_->functions(); }
    std::vector<std::string> phase_names() const override { return source_->phase_names(); }
    const SiteTable* sites() const override { return source_->sites(); }
    SiteNames site_names() const override;
    double progress() const override { return source_->progress(); }

private:
    Address moved(Address address) const;
    std::size_t segment_of(Address address) const;

    std::unique_ptr<ReferenceSource> source_;
    std::vector<Segment> segments_;
    MemoryLayout layout_;
    mutable std::size_t latest_ = 0;
    std::vector<std::vector<Reference>> moved_;  ///< by core
};

}  // namespace cachetally

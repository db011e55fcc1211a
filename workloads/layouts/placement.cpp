// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/layouts/placement.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/random.hpp"

namespace cachetally {
namespace {

constexpr Address middle = Address{1} << 46, area_bytes = Address{1} << 42, congruent = Address{1} << 30;
constexpr std::uint64_t farthest = std::uint64_t{1} << 26;

Address end_of(const Segment& segment) { return segment.base + segment.bytes; }

/// Whether moved segments are in order, apart, and below 2^47 or where they were.
bool fits(std::span<const Segment> segments, const MemoryLayout& layout) {
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const Address base = segments[i].base + layout[i];
        if (base + segments[i].bytes < base) return false;
        if (i > 0 && base < end_of(segments[i - 1]) + layout[i - 1]) return false;
    }
    return true;
}

/// The first area of addresses that no segment comes near.
Address first_area(std::span<const Segment> segments, const MemoryLayout& layout, Address from) {
    for (Address area = round_up(from, area_bytes); area + area_bytes > area; area += area_bytes) {
        bool is_free = true;
        for (std::size_t i = 0; i < segments.size() && is_free; ++i)
            for (const Address base : {segments[i].base, segments[i].base + layout[i]})
                is_free = is_free && (base >= area + area_bytes || base + segments[i].bytes <= area);
        if (is_free) return area;
    }
    throw std::invalid_argument("there is no room in the address space for another layout");
}

}  // namespace

MemoryLayout random_layout(std::span<const Segment> segments, std::uint64_t seed) {
    Random random(seed);
    MemoryLayout layout(segments.size());
    const auto distance = [&](const Segment& segment) { return random.below(farthest / segment.unit) * segment.unit; };
    std::uint64_t up = 0, down = 0;
    for (std::size_t i = 0; i < segments.size() && segments[i].base < middle; ++i)
        layout[i] = up = round_up(up, segments[i].unit) + distance(segments[i]);
    for (std::size_t i = segments.size(); i-- > 0 && segments[i].base >= middle;) {
        if (segments[i].base >= 2 * middle) continue;  // what no program's memory is at
        down = round_up(down, segments[i].unit) + distance(segments[i]);
        layout[i] = std::uint64_t{0} - down;
    }
    return fits(segments, layout) ? layout : recorded_layout(segments);
}

Placement::Placement(const std::vector<Segment>& segments, const MemoryLayout& layout,
                     const std::vector<StructureChange>& changes) {
    for (std::size_t i = 0; i < segments.size(); ++i)
        segments_.push_back({segments[i].base, segments[i].bytes, segments[i].base + layout[i]});
    Address area = 0;
    for (const StructureChange& change : changes) {
        if (change.structure >= changed_.size()) changed_.resize(change.structure + std::size_t{1});
        if (!changed_[change.structure].empty()) throw std::invalid_argument("a structure is changed twice");
        if (change.extents.empty()) continue;
        area = first_area(segments, layout, area + area_bytes);
        place(change, area, segments, layout);
    }
}

void Placement::place(const StructureChange& change, Address area, const std::vector<Segment>& segments,
                      const MemoryLayout& layout) {
    const Address first = change.extents.front().base;
    std::uint64_t moved = 0;  // as the segment is
    for (std::size_t i = 0; i < segments.size(); ++i)
        if (first - segments[i].base < segments[i].bytes) moved = layout[i];
    Address to = area + (first + moved + change.shift) % congruent, end_before = first;
    for (const Extent& extent : change.extents) {
        to = round_up(to + (extent.base - end_before), change.alignment);
        changed_[change.structure].push_back({extent.base, extent.bytes, to, change.shape});
        end_before = extent.base + extent.bytes;
        to += change.shape.bytes(extent.bytes);
    }
    if (to > area + area_bytes) throw std::invalid_argument("a structure is too large to be laid out otherwise");
    if (change.along == no_structure) return;
    if (change.along >= changed_.size()) changed_.resize(change.along + std::size_t{1});
    std::vector<Moved>& along = changed_[change.along];
    for (const Moved& moved_extent : changed_[change.structure]) {  // what several claim is the first one's
        const auto next = std::ranges::upper_bound(along, moved_extent.base, {}, &Moved::base);
        const bool is_taken =
            (next != along.end() && next->base - moved_extent.base < moved_extent.bytes) ||
            (next != along.begin() && moved_extent.base - std::prev(next)->base < std::prev(next)->bytes);
        if (!is_taken) along.insert(next, Moved(moved_extent));
    }
}

Placement::Piece Placement::in_gap(std::span<const Moved> stretches, Address address) {
    const auto next = std::ranges::upper_bound(stretches, address, {}, &Moved::base);
    const Address end = next == stretches.end() ? ~Address{0} : next->base;
    const std::uint64_t rest = std::max<std::uint64_t>(end - address, 1);
    if (next == stretches.begin()) return {address, rest};
    const Moved& before = *std::prev(next);
    const std::uint64_t offset = address - before.base;
    if (offset >= before.bytes) return {address, rest};
    const Shape::Piece piece = before.shape.at(offset, before.bytes);
    return {before.to + piece.offset, piece.bytes};
}

Placement::Piece Placement::at(std::uint32_t structure, Address address) const {
    if (structure < changed_.size() && !changed_[structure].empty()) {
        const std::vector<Moved>& extents = changed_[structure];
        const auto next = std::ranges::upper_bound(extents, address, {}, &Moved::base);
        if (next != extents.begin() && address - std::prev(next)->base < std::prev(next)->bytes)
            return in_gap(extents, address);
    }
    return in_gap(segments_, address);
}

Batch PlacedSource::next(unsigned core) {
    const Batch batch = source_->next(core);
    std::vector<Reference>& placed = placed_[core];
    placed.clear();
    for (const Reference& reference : batch.references) {
        const std::uint32_t structure = structures_.find(reference);
        Address address = reference.address;
        for (std::uint64_t left = reference.size; left != 0;) {
            const Placement::Piece piece = placement_->at(structure, address);
            Reference part = reference;
            part.address = piece.address;
            part.size = static_cast<std::uint16_t>(std::min(left, piece.bytes));
            address += part.size;
            left -= part.size;
            Reference* const last = left + part.size == reference.size ? nullptr : &placed.back();
            if (last != nullptr && last->address + last->size == part.address)
                last->size = static_cast<std::uint16_t>(last->size + part.size);
            else
                placed.push_back(part);
        }
        if (reference.size == 0) placed.push_back(reference);
    }
    return {placed, batch.control};
}

}  // namespace cachetally

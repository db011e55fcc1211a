// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/redundancy_filter.hpp"

#include <algorithm>

#include "sim/model/mru_filter.hpp"

namespace cachetally {

bool FilterShape::serves(const FilterShape& wanted) const {
    return !wanted.retains_all && line_bits == wanted.line_bits && line_slots <= wanted.line_slots &&
           (wanted.page_bits == 0 || (page_bits == wanted.page_bits && page_slots <= wanted.page_slots));
}

RedundancyFilter::Stream::Stream(const FilterShape& shape)
    : shape_(shape),
      line_mask_((Address{1} << shape.line_bits) - 1),
      slot_mask_(shape.line_slots - 1),
      page_mask_(shape.page_slots - 1) {
    lines_.fill(mru_bit::nothing);
    pages_.fill(~Address{0});
}

void RedundancyFilter::Stream::clear() {
    marks_.clear();
    retained_.clear();
    positions_.clear();
    mark_positions_.clear();
    redundant_ = {};
}

inline void RedundancyFilter::Stream::add(Address address, EventKind kind, std::uint16_t position) {
    const BlockEvent access(address & ~line_mask_, kind);
    const unsigned slot = FilterShape::slot_of(access.block());
    Address& latest = lines_[slot & slot_mask_];
    bool redundant = mru_is_redundant(latest, access);
    if (shape_.page_bits != 0) {
        const Address page = address >> shape_.page_bits;
        Address& latest_page = pages_[page & page_mask_];
        redundant &= latest_page == page;
        latest_page = page;
    }
    const bool stores = kind == EventKind::store, fetches = kind == EventKind::fetch;
    mark_positions_.push_back(position);
    if (redundant && !shape_.retains_all) {
        marks_.push_back(static_cast<std::uint8_t>(slot | (stores    ? filter_mark::stores
                                                           : fetches ? filter_mark::fetches
                                                                     : filter_mark::loads)));
        (stores ? redundant_.stores : fetches ? redundant_.fetches : redundant_.loads) += 1;
        return;
    }
    latest = access.block() | (stores ? mru_bit::all : mru_bit::no_store);
    marks_.push_back(filter_mark::retained);
    retained_.push_back(access);
    positions_.push_back(position);
}

FilteredAccesses RedundancyFilter::Stream::accesses() const {
    return {{marks_, retained_}, positions_, mark_positions_, redundant_};
}

void RedundancyFilter::clear() {
    data_ = Stream(plan_.data);
    fetches_ = Stream(plan_.fetches);
}

RedundancyFilter::RedundancyFilter(const FilterPlan& plan) : plan_(plan), data_(plan.data), fetches_(plan.fetches) {}

FilteredBlock RedundancyFilter::filter(std::span<const Reference> references) {
    data_.clear();
    fetches_.clear();
    std::uint16_t position = 0;
    std::size_t done = 0;
    for (; done < references.size() && position < FilteredBlock::most; ++done) {
        const Reference& reference = references[done];
        const bool fetch = reference.kind == ReferenceKind::fetch;
        if (fetch && plan_.way == FilterPlan::Fetches::nowhere) continue;
        const bool apart = fetch && plan_.way == FilterPlan::Fetches::apart;
        Stream& stream = apart ? fetches_ : data_;
        const Address line_bytes = Address{1} << (apart ? plan_.fetches : plan_.data).line_bits;
        const auto kind = static_cast<EventKind>(reference.kind);
        const Address last = last_byte(reference);
        stream.add(reference.address, kind, position++);
        for (Address next = align_down(reference.address, line_bytes) + line_bytes; next - 1 < last; next += line_bytes)
            stream.add(next, kind, position++);
    }
    return {data_.accesses(), fetches_.accesses(), static_cast<std::uint32_t>(done)};
}

void SlotLines::expand(const FilteredEvents& events, std::vector<BlockEvent>& out) {
    out.resize(events.marks.size());
    const BlockEvent* retained = events.retained.data();
    BlockEvent* to = out.data();
    for (const std::uint8_t mark : events.marks) {
        if (filter_mark::is_retained(mark)) {
            latest_[FilterShape::slot_of(retained->block())] = retained->block();
            *to++ = *retained++;
        } else {
            *to++ = BlockEvent(latest_[mark & filter_mark::slot], filter_mark::kind_of(mark));
        }
    }
}

}  // namespace cachetally

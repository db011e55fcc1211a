// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/batching/redundancy_filter.hpp"

#include <algorithm>
#include <utility>

#include "sim/model/batching/mark_counts.hpp"
#include "sim/model/batching/mru_filter.hpp"

namespace cachetally {

bool FilterShape::serves(const FilterShape& wanted) const {
    return !wanted.retains_all && line_bits == wanted.line_bits && line_slots <= wanted.line_slots &&
           (wanted.page_bits == 0 || (page_bits == wanted.page_bits && page_slots <= wanted.page_slots));
}

namespace {

/// A reference of the most bytes, with the shortest lines.
constexpr std::size_t most_accesses_of_one = 65536 / 8 + 1;

/// Words of an MRU filter and accesses that differ by less are of one line, and nothing but a first store.
constexpr Address least_difference = 3;

/// The word that an access leaves.
constexpr Address mru_word(Address access) {
    static_assert(mru_bit::all == 0 && mru_bit::no_store == 2);
    return access / BlockEvent::alignment * BlockEvent::alignment | (access % BlockEvent::alignment == 1 ? 0 : 2);
}

constexpr std::array<std::uint8_t, 3> mark_of_kind{filter_mark::loads, filter_mark::stores, filter_mark::fetches};

}  // namespace

FilteredAccesses::Redundant count_redundant(std::span<const std::uint8_t> marks) {
    const MarkCounts counts = count_marks(marks);
    return {static_cast<std::uint32_t>(marks.size() - counts.retained - counts.stores - counts.fetches),
            static_cast<std::uint32_t>(counts.stores), static_cast<std::uint32_t>(counts.fetches)};
}

RedundancyFilter::Stream::Stream(const FilterShape& shape, bool sites)
    : shape_(shape),
      with_sites_(sites),
      line_mask_((Address{1} << shape.line_bits) - 1),
      marks_(FilteredBlock::most + most_accesses_of_one),
      retained_(marks_.size()),
      positions_(marks_.size()),
      mark_positions_(marks_.size()),
      retained_sites_(marks_.size()),
      sites_(marks_.size()) {
    forget();
}

void RedundancyFilter::Stream::forget() {
    lines_.fill(mru_bit::nothing);
    pages_.fill(~Address{0});
}

/// What a stream's loops keep in registers of the latest lines and pages.
template <bool with_pages>
class RedundancyFilter::Stream::Latest {
public:
    Latest(const FilterShape& shape, Address* lines, Address* pages)
        : lines_(lines),
          pages_(pages),
          slots_(shape.line_slots - 1),
          page_slots_(shape.page_slots - 1),
          page_bits_(shape.page_bits),
          different_(shape.retains_all ? 0 : least_difference) {}

    /// Takes the page of an access, and whether it is redundant.
    bool is_repeated(Address access, Address address) const {
        bool redundant = (lines_[FilterShape::slot_of(access) & slots_] ^ access) < different_;
        if constexpr (with_pages) {
            Address& latest_page = pages_[address >> page_bits_ & page_slots_];
            if (latest_page != address >> page_bits_) [[unlikely]] {
                redundant = false;
                latest_page = address >> page_bits_;
            }
        }
        return redundant;
    }
    void keep(Address access) const { lines_[FilterShape::slot_of(access) & slots_] = mru_word(access); }

private:
    Address *lines_, *pages_;
    unsigned slots_, page_slots_, page_bits_;
    Address different_;
};

const Reference* RedundancyFilter::Stream::add_plain(const Reference* next, const Reference* end, unsigned kinds) {
    end = next + std::min<std::ptrdiff_t>(end - next, FilteredBlock::most - static_cast<std::ptrdiff_t>(accesses_));
    if (with_sites_)
        return shape_.page_bits != 0 ? add_plain_by<true, true>(next, end, kinds)
                                     : add_plain_by<false, true>(next, end, kinds);
    return shape_.page_bits != 0 ? add_plain_by<true, false>(next, end, kinds)
                                 : add_plain_by<false, false>(next, end, kinds);
}

/// The loop in which a run of a kernel spends most of its time: all that it needs is in registers.
template <bool pages, bool sites>
const Reference* RedundancyFilter::Stream::add_plain_by(const Reference* next, const Reference* const end,
                                                        unsigned kinds) {
    const Address line_mask = line_mask_;
    const Latest<pages> latest(shape_, lines_.data(), pages_.data());
    std::uint8_t* mark = marks_.data() + accesses_;
    BlockEvent* retained = retained_.data() + retained_count_;
    std::uint32_t* site = sites_.data() + accesses_;
    for (; next < end; ++next, ++mark) {
        const Address address = next->address;
        const auto kind = static_cast<unsigned>(next->kind);
        if ((address & line_mask) + next->size > line_mask + 1 || kind >= kinds) [[unlikely]]
            break;
        if constexpr (sites) *site++ = next->site;
        const Address access = (address & ~line_mask) | kind;
        const unsigned slot = FilterShape::slot_of(access);
        if (latest.is_repeated(access, address)) [[likely]] {
            *mark = static_cast<std::uint8_t>(slot | mark_of_kind[kind]);
            continue;
        }
        latest.keep(access);
        *mark = filter_mark::retained;
        if constexpr (sites) retained_sites_[static_cast<std::size_t>(retained - retained_.data())] = next->site;
        *retained++ = BlockEvent::of_bits(access);
    }
    accesses_ = static_cast<std::size_t>(mark - marks_.data());
    retained_count_ = static_cast<std::size_t>(retained - retained_.data());
    return next;
}

void RedundancyFilter::Stream::add_picked(const Reference* references, std::size_t position) {
    if (with_sites_)
        return shape_.page_bits != 0 ? add_picked_by<true, true>(references, position)
                                     : add_picked_by<false, true>(references, position);
    return shape_.page_bits != 0 ? add_picked_by<true, false>(references, position)
                                 : add_picked_by<false, false>(references, position);
}

/// As add_plain_by().
template <bool pages, bool sites>
void RedundancyFilter::Stream::add_picked_by(const Reference* const references, std::size_t position) {
    const Address line_mask = line_mask_;
    const Latest<pages> latest(shape_, lines_.data(), pages_.data());
    std::uint8_t* const marks = marks_.data() + accesses_;
    std::uint16_t* const mark_positions = mark_positions_.data() + accesses_;
    std::size_t retained = retained_count_;
    for (std::size_t i = 0; i < picked_count; ++i) {
        const Reference& reference = references[picked[i]];
        const Address address = reference.address;
        const auto kind = static_cast<unsigned>(reference.kind);
        const auto at = static_cast<std::uint16_t>(position + picked[i]);
        const Address access = (address & ~line_mask) | kind;
        const unsigned slot = FilterShape::slot_of(access);
        mark_positions[i] = at;
        if constexpr (sites) sites_[accesses_ + i] = reference.site;
        if (latest.is_repeated(access, address)) [[likely]] {
            marks[i] = static_cast<std::uint8_t>(slot | mark_of_kind[kind]);
            continue;
        }
        latest.keep(access);
        marks[i] = filter_mark::retained;
        positions_[retained] = at;
        if constexpr (sites) retained_sites_[retained] = reference.site;
        retained_[retained++] = BlockEvent::of_bits(access);
    }
    accesses_ += picked_count;
    retained_count_ = retained;
}

template <bool placed>
void RedundancyFilter::Stream::add(Address access, Address address, std::uint32_t site, std::size_t position) {
    const unsigned slot = FilterShape::slot_of(access);
    Address& latest = lines_[slot & (shape_.line_slots - 1)];
    bool redundant = !shape_.retains_all && (latest ^ access) < least_difference;
    if (shape_.page_bits != 0) {
        const Address page = address >> shape_.page_bits;
        redundant &= std::exchange(pages_[page & (shape_.page_slots - 1)], page) == page;
    }
    const auto at = static_cast<std::uint16_t>(position);
    const std::size_t number = accesses_++;
    if constexpr (placed) mark_positions_[number] = at;
    if (with_sites_) sites_[number] = site;
    if (redundant) [[likely]] {
        marks_[number] = static_cast<std::uint8_t>(slot | mark_of_kind[access % BlockEvent::alignment]);
        return;
    }
    latest = mru_word(access);
    if constexpr (placed) positions_[retained_count_] = at;
    if (with_sites_) retained_sites_[retained_count_] = site;
    retained_[retained_count_++] = BlockEvent::of_bits(access);
    marks_[number] = filter_mark::retained;
}

template <bool placed>
std::size_t RedundancyFilter::Stream::add(const Reference& reference, std::size_t position) {
    const Address last = last_byte(reference);
    const std::size_t before = accesses_;
    for (Address address = reference.address;; address = align_down(address, line_mask_ + 1) + line_mask_ + 1) {
        const Address access = (address & ~line_mask_) | static_cast<Address>(reference.kind);
        add<placed>(access, address, reference.site, position + accesses_ - before);
        if ((address | line_mask_) >= last) return accesses_ - before;
    }
}

template <bool placed>
FilteredAccesses RedundancyFilter::Stream::all() const {
    FilteredAccesses all{{std::span(marks_).first(accesses_), std::span(retained_).first(retained_count_)}};
    if constexpr (placed) {
        all.positions = std::span(positions_).first(retained_count_);
        all.mark_positions = std::span(mark_positions_).first(accesses_);
    }
    if (with_sites_) {
        all.retained_sites = std::span(retained_sites_).first(retained_count_);
        all.sites = std::span(sites_).first(accesses_);
    }
    all.redundant = count_redundant(all.marks);
    return all;
}

void RedundancyFilter::clear() {
    data_.forget();
    fetches_.forget();
}

RedundancyFilter::RedundancyFilter(const FilterPlan& plan)
    : plan_(plan), data_(plan.data, plan.sites), fetches_(plan.fetches, plan.sites) {}

FilteredBlock RedundancyFilter::filter(std::span<const Reference> references, bool data_only) {
    data_.clear();
    fetches_.clear();
    if (plan_.way == FilterPlan::Fetches::apart && !data_only) return filter_apart(references);
    return filter_together(references, plan_.way == FilterPlan::Fetches::nowhere);
}

FilteredBlock RedundancyFilter::filter_together(std::span<const Reference> references, bool leaves_fetches) {
    const Reference* next = references.data();
    const Reference* const end = next + references.size();
    while (true) {
        next = data_.add_plain(next, end, leaves_fetches ? 2 : 3);
        if (next == end || data_.size() >= FilteredBlock::most) break;
        if (next->kind != ReferenceKind::fetch || !leaves_fetches) data_.add<false>(*next, 0);
        ++next;
    }
    return {data_.all<false>(), {}, static_cast<std::uint32_t>(next - references.data())};
}

/// Parts references up to one that straddles lines; returns their number. Without a branch that depends on kinds, which
/// are hard to predict.
std::size_t RedundancyFilter::pick(std::span<const Reference> references) {
    const Address data_mask = data_.line_mask(), fetch_mask = fetches_.line_mask();
    std::size_t data = 0, fetches = 0, i = 0;
    for (; i < references.size(); ++i) {
        const Reference& reference = references[i];
        const bool fetch = reference.kind == ReferenceKind::fetch;
        const Address mask = fetch ? fetch_mask : data_mask;
        if ((reference.address & mask) + reference.size > mask + 1) [[unlikely]]
            break;
        data_.picked[data] = fetches_.picked[fetches] = static_cast<std::uint16_t>(i);
        fetches += fetch ? 1 : 0;
        data += fetch ? 0 : 1;
    }
    data_.picked_count = data;
    fetches_.picked_count = fetches;
    return i;
}

FilteredBlock RedundancyFilter::filter_apart(std::span<const Reference> references) {
    std::size_t position = 0, done = 0;
    while (done < references.size() && position < FilteredBlock::most) {
        const auto some = references.subspan(done, std::min(references.size() - done, FilteredBlock::most - position));
        const std::size_t plain = pick(some);
        for (Stream* stream : {&data_, &fetches_}) stream->add_picked(some.data(), position);
        done += plain;
        position += plain;
        if (plain == some.size()) continue;
        const Reference& reference = references[done++];
        Stream& stream = reference.kind == ReferenceKind::fetch ? fetches_ : data_;
        position += stream.add<true>(reference, position);
    }
    return {data_.all<true>(), fetches_.all<true>(), static_cast<std::uint32_t>(done)};
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

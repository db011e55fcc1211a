// SPDX-License-Identifier: BSD-3-Clause
#include "sim/engine/filtered_path.hpp"

namespace cachetally {

FilteredPath::FilteredPath(std::uint8_t core, const CorePort& data, const CorePort& fetches, const FilterPlan& filter,
                           PageTable& pages)
    : core_(core), pages_(pages) {
    streams_[0].way = data;
    streams_[1].way = fetches;
    streams_[0].slot_mask = filter.data.line_slots - 1;
    streams_[1].slot_mask = filter.fetches.line_slots - 1;
    for (Stream& stream : streams_) {
        if (stream.way.port == nullptr) continue;
        stream.cache = stream.way.port->cache();
        stream.cache->watch(stream.disturbances);
        stream.watched =
            stream.way.port->kinds() != 0 || (stream.way.tlb_port != nullptr && stream.way.tlb_port->kinds() != 0);
    }
}

FilteredPath::~FilteredPath() {
    for (Stream& stream : streams_)
        if (stream.cache != nullptr) stream.cache->unwatch(stream.disturbances);
}

Tick FilteredPath::run(const FilteredBlock& block) {
    placed_ = !block.fetches.marks.empty();
    begin(streams_[0], block.data);
    begin(streams_[1], block.fetches);
    Tick time = 0;
    if ((streams_[0].disturbed | streams_[1].disturbed) != 0) time = make_marks(time);
    while (!streams_[0].is_over() || !streams_[1].is_over()) {
        Stream& stream = first();
        const std::size_t position = placed_ ? stream.given->positions[stream.next] : 0;
        time = make_retained(stream, time);
        if ((streams_[0].disturbed | streams_[1].disturbed) == 0) [[likely]]
            continue;
        pass_marks(position);
        time = make_marks(time);
    }
    return time + end(streams_[0]) + end(streams_[1]);
}

void FilteredPath::begin(Stream& stream, const FilteredAccesses& given) {
    stream.given = &given;
    stream.next = stream.mark = stream.marked = 0;
    stream.hits = {};
    stream.lookups = stream.made_after = 0;
    stream.physical.clear();
}

/// The stream with the earlier retained access.
FilteredPath::Stream& FilteredPath::first() {
    Stream &data = streams_[0], &fetches = streams_[1];
    if (!placed_ || fetches.is_over()) return data;
    if (data.is_over()) return fetches;
    return fetches.given->positions[fetches.next] < data.given->positions[data.next] ? fetches : data;
}

Tick FilteredPath::make_retained(Stream& stream, Tick time) {
    const FilteredAccesses& given = *stream.given;
    const BlockEvent retained = given.retained[stream.next];
    const std::uint32_t site = given.retained_sites.empty() ? 0 : given.retained_sites[stream.next];
    const RequestInfo info(site, retained.kind(), core_);
    ++stream.next;
    const Address address = retained.block();
    Address physical = 0;
    if (Tlb* const tlb = stream.way.tlb; tlb == nullptr) {
        physical = pages_.translate(address);
    } else if (const auto front = tlb->front();
               tlb->has_front() && front.changes_nothing(front.last(address), address)) {
        ++stream.lookups;
        time += tlb->latency();
        physical = address + front.last(address).offset;
    } else {
        time = tlb->translate(address, pages_.page_bits(address), info, time);
        physical = pages_.translate(address);
    }
    if (stream.watched) stream.physical.push_back(retained.moved_by(physical - address));
    // Of the same line again, retained after all: a filter that did not retain it may yet take it for stored to.
    Line& latest = stream.latest[FilterShape::slot_of(physical)];
    if (latest.physical != physical || retained.kind() == EventKind::store)
        stream.disturbed &= ~stream.bit_of(physical);
    const Cache& cache = *stream.cache;
    latest = {physical, cache.indexing().set_of(cache.config().virtually_indexed ? address : physical)};
    return access(stream, latest, info, time);
}

/// Where retained accesses alone have been made: up to `position`, which is that of the last one.
void FilteredPath::pass_marks(std::size_t position) {
    for (Stream& stream : streams_) {
        const FilteredAccesses& given = *stream.given;
        if (placed_) {
            while (stream.mark < given.marks.size() && given.mark_positions[stream.mark] <= position) ++stream.mark;
        } else {
            while (stream.marked < stream.next)
                stream.marked += filter_mark::is_retained(given.marks[stream.mark++]) ? 1 : 0;
        }
    }
}

/// Goes through marks in program order as long as a slot is disturbed.
Tick FilteredPath::make_marks(Tick time) {
    while ((streams_[0].disturbed | streams_[1].disturbed) != 0) {
        Stream &data = streams_[0], &fetches = streams_[1];
        const bool data_left = data.mark < data.given->marks.size();
        const bool fetches_left = placed_ && fetches.mark < fetches.given->marks.size();
        if (!data_left && !fetches_left) break;
        const bool fetch = fetches_left && (!data_left || fetches.given->mark_positions[fetches.mark] <
                                                              data.given->mark_positions[data.mark]);
        Stream& stream = fetch ? fetches : data;
        const FilteredAccesses& given = *stream.given;
        const std::uint32_t site = given.sites.empty() ? 0 : given.sites[stream.mark];
        const std::uint8_t mark = given.marks[stream.mark++];
        if (filter_mark::is_retained(mark)) {
            ++stream.marked;
            time = make_retained(stream, time);
            continue;
        }
        const Line line = stream.latest[mark & filter_mark::slot];
        if ((stream.disturbed & stream.bit_of(line.physical)) == 0) continue;
        const EventKind kind = filter_mark::kind_of(mark);
        if (kind == EventKind::store) stream.disturbed &= ~stream.bit_of(line.physical);
        ++stream.made_after;
        --stream.hits[static_cast<unsigned>(kind)];  // not one of the redundant accesses that end() counts
        if (stream.way.tlb != nullptr) time += stream.way.tlb->latency();
        time = access(stream, line, RequestInfo(site, kind, core_), time);
    }
    return time;
}

Tick FilteredPath::access(Stream& stream, Line line, RequestInfo info, Tick time) {
    Cache& cache = *stream.cache;
    if (cache.hits(line.set, line.physical, static_cast<ReferenceKind>(info.kind()))) {
        ++stream.hits[static_cast<unsigned>(info.kind())];
        time += cache.latency();
    } else {
        time = cache.request_absent(line.physical, line.set, info, time).time;
    }
    for (Stream& each : streams_) {
        if (each.disturbances.empty()) [[likely]]
            continue;
        for (const Address lost : each.disturbances.lost)
            if (each.latest[FilterShape::slot_of(lost)].physical == lost) each.disturbed |= each.bit_of(lost);
        for (const Address walked : each.disturbances.walked) each.disturbed |= each.bit_of(walked);
        each.disturbances.clear();
    }
    return time;
}

/// Counts what was not made; returns how long that took.
Tick FilteredPath::end(Stream& stream) {
    if (stream.cache == nullptr) return 0;
    const FilteredAccesses::Redundant& redundant = stream.given->redundant;
    stream.cache->count_requests(stream.hits[0] + redundant.loads, stream.hits[1] + redundant.stores,
                                 stream.hits[2] + redundant.fetches);
    Tick each = stream.cache->latency();
    if (Tlb* const tlb = stream.way.tlb) {
        tlb->count_hits(stream.lookups + redundant.all());
        each += tlb->latency();
    }
    if (stream.watched) {
        if (stream.way.tlb_port != nullptr) stream.way.tlb_port->notify_filtered(*stream.given, core_);
        stream.way.port->notify_filtered({stream.given->marks, stream.physical}, core_);
    }
    return (redundant.all() - stream.made_after) * each;
}

}  // namespace cachetally

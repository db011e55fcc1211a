// SPDX-License-Identifier: BSD-3-Clause
#include "sim/engine/core_pipeline.hpp"

#include <algorithm>

#include "sim/model/batching/background.hpp"

namespace cachetally {

CorePipeline::CorePipeline(std::uint8_t core, const CorePort& data, const CorePort& fetches, const FilterPlan& filter,
                           PageWalker& walker, PageTable& pages)
    : core_(core), apart_(fetches.port != nullptr), filter_plan_(filter), walker_(walker), pages_(pages) {
    streams_[0].way = data;
    streams_[1].way = fetches;
    for (Stream& stream : streams())
        stream.latency = stream.cache().latency() + (stream.way.tlb != nullptr ? stream.way.tlb->latency() : 0);
    const RequestPort& below = streams_[0].cache().below();
    below.cache() != nullptr ? together_.connect(*below.cache()) : together_.connect(*below.memory());
}

void CorePipeline::start(Background* background) {
    background_ = background;
    for (const Stream& stream : streams())
        for (Cache* cache = &stream.cache(); cache != nullptr; cache = cache->below().cache())
            cache->below().start_batching(core_);
    if (RequestPort& walks = walker_.below(); walks.cache() == nullptr) {
        walks.start_batching(core_);
        walks.notify_through(nullptr);  // they are notified where they are flushed
    }
    if (!apart_) return;
    together_.start_batching(core_);
    for (const Stream& stream : streams()) stream.cache().below().notify_through(background);
}

void CorePipeline::stop() {
    walker_.below().stop_batching();
    for (const Stream& stream : streams()) {
        for (Cache* cache = &stream.cache(); cache != nullptr; cache = cache->below().cache())
            cache->below().stop_batching();
        if (apart_) stream.cache().below().notify_through(nullptr);
        stream.cache().forget_mru();
    }
}

Tick CorePipeline::run(const FilteredBlock& block) {
    placed_ = !block.fetches.marks.empty();
    streams_[0].given = &block.data;
    streams_[1].given = &block.fetches;
    Tick time = translate();
    for (Stream& stream : streams()) {
        const FilteredAccesses& given = *stream.given;
        if (stream.way.tlb_port != nullptr) stream.way.tlb_port->notify_filtered(given, core_);
        stream.way.port->notify_filtered({given.marks, stream.accesses}, core_);
        time += given.marks.size() * stream.latency;
    }
    made_ = {};
    Stream& data = streams_[0];
    const FilteredAccesses& given = *data.given;
    if (!reads_.empty() || disturbed_ != 0) {
        insert_walks(data.accesses, given);
        access(data, requests_, request_positions_.data());
        time += reads_.size() * data.cache().latency();
    } else {
        if (walker_.reads_entries() && data.way.tlb != nullptr)
            for (const BlockEvent access : data.accesses)
                latest_[FilterShape::slot_of(access.block())] = access.block();
        access(data, data.accesses, given.positions.data());
    }
    if (placed_) {
        made_ = {};
        access(streams_[1], streams_[1].accesses, block.fetches.positions.data());
    }
    if (apart_) bring_together();
    if ((apart_ ? together_ : data.cache().below()).batch().size() >= enough) hand_over();
    return time;
}

/// Returns how long the TLBs below the first and the walker took.
Tick CorePipeline::translate() {
    const unsigned page_bits = pages_.page_bits(0);
    // What the first TLB knows it translates on the way; but where fetches and data meet, pages get their frames in the
    // order in which both touch them.
    const bool by_tlb = !placed_ && streams_[0].way.tlb != nullptr && !pages_.identity();
    if (!by_tlb) find_physical();
    for (Stream& stream : streams()) {
        const std::span<const BlockEvent> retained = stream.given->retained;
        if (by_tlb) {
            stream.physical.resize(retained.size());
            stream.accesses = stream.physical;
        }
        Tlb* const tlb = stream.way.tlb;
        stream.missing.resize(tlb != nullptr ? retained.size() : 0);
        if (tlb == nullptr) continue;
        stream.missing.resize(
            tlb->look_up(retained, page_bits, stream.missing.data(), by_tlb ? stream.physical.data() : nullptr));
        tlb->count_hits(stream.given->redundant.all());
    }
    gather_missing();
    Tick time = 0;
    reads_.clear();
    read_before_.clear();
    if (!missing_.empty()) {
        const Tlb& first = streams_[0].way.tlb != nullptr ? *streams_[0].way.tlb : *streams_[1].way.tlb;
        for (Tlb* tlb = first.next(); tlb != nullptr; tlb = tlb->next()) time += look_up_below(*tlb);
        time += walk();
    }
    return time;
}

/// Those that the first TLBs miss, in program order; notifies the listeners below.
void CorePipeline::gather_missing() {
    missing_.clear();
    missed_.clear();
    const auto add = [&](const Stream& stream, std::size_t i, bool fetch) {
        const std::uint16_t index = stream.missing[i];
        missing_.push_back({index, placed_ ? stream.given->positions[index] : index, fetch});
        missed_.push_back(stream.given->retained[index]);
    };
    for (const Stream& stream : streams()) {
        if (stream.missing.empty() || stream.way.tlb->below().kinds() == 0) continue;
        reads_.clear();  // here: what is reported
        for (const std::uint16_t index : stream.missing) reads_.push_back(stream.given->retained[index]);
        stream.way.tlb->below().notify_all(reads_, core_);
    }
    const Stream &data = streams_[0], &fetches = streams_[1];
    std::size_t fetched = 0;
    for (std::size_t i = 0; i < data.missing.size(); ++i) {
        if (placed_)
            while (fetched < fetches.missing.size() &&
                   fetches.given->positions[fetches.missing[fetched]] < data.given->positions[data.missing[i]])
                add(fetches, fetched++, true);
        add(data, i, false);
    }
    if (placed_)
        while (fetched < fetches.missing.size()) add(fetches, fetched++, true);
}

/// Leaves those that this TLB misses, too.
Tick CorePipeline::look_up_below(Tlb& tlb) {
    const unsigned page_bits = pages_.page_bits(0);
    if (!tlb.holds(page_bits)) {
        tlb.below().notify_all(missed_, core_);
        return 0;
    }
    const std::size_t asked = missed_.size();
    still_missing_.resize(asked);
    const std::size_t count = tlb.look_up(missed_, page_bits, still_missing_.data(), nullptr);
    for (std::size_t i = 0; i < count; ++i) {
        missing_[i] = missing_[still_missing_[i]];
        missed_[i] = missed_[still_missing_[i]];
    }
    missing_.resize(count);
    missed_.resize(count);
    tlb.below().notify_all(missed_, core_);
    return asked * tlb.latency();
}

Tick CorePipeline::walk() {
    const unsigned page_bits = pages_.page_bits(0);
    Tick time = 0;
    reads_.clear();
    for (std::size_t i = 0; i < missing_.size(); ++i) {
        time += walker_.note_reads(missed_[i].block(), page_bits, reads_);
        read_before_.resize(reads_.size(), missing_[i]);
    }
    RequestPort& port = walker_.below();
    if (port.cache() != nullptr || reads_.empty()) {
        port.notify_all(reads_, core_);
        return time;
    }
    for (const BlockEvent read : reads_) port.batch().push(read);  // straight to memory, which keeps no order
    hand_over(port);
    reads_.clear();
    return time;
}

/// Pages get their frames in the order in which they are touched first.
void CorePipeline::find_physical() {
    if (pages_.identity()) {
        for (Stream& stream : streams()) stream.accesses = stream.given->retained;
        return;
    }
    const auto translate = [&](Stream& stream, std::size_t i) {
        const BlockEvent access = stream.given->retained[i];
        stream.physical[i] = access.moved_by(pages_.translate(access.block()) - access.block());
    };
    for (Stream& stream : streams()) {
        stream.physical.resize(stream.given->retained.size());
        stream.accesses = stream.physical;
    }
    Stream &data = streams_[0], &fetches = streams_[1];
    std::size_t fetched = 0;
    for (std::size_t i = 0; i < data.physical.size(); ++i) {
        if (placed_)
            while (fetched < fetches.physical.size() && fetches.given->positions[fetched] < data.given->positions[i])
                translate(fetches, fetched++);
        translate(data, i);
    }
    if (placed_)
        while (fetched < fetches.physical.size()) translate(fetches, fetched++);
}

void CorePipeline::put(BlockEvent request, std::uint16_t position) {
    requests_.push_back(request);
    if (placed_) request_positions_.push_back(position);
}

/// The data accesses with the reads of page walks where they belong. A walk may come into the set of a line that later
/// accesses seem to repeat: these are made, up to a store or a retained one of another line of their slot. To make more
/// of them than necessary changes nothing.
void CorePipeline::insert_walks(std::span<const BlockEvent> accesses, const FilteredAccesses& given) {
    requests_.clear();
    request_positions_.clear();
    const unsigned slots = filter_plan_.data.line_slots - 1;
    const auto bit_of = [&](unsigned slot) { return std::uint64_t{1} << (slot & slots); };
    const auto position_of = [&](std::size_t i) {
        return placed_ ? given.positions[i] : static_cast<std::uint16_t>(i);
    };
    std::size_t read = 0, i = 0;
    const auto put_reads_before = [&](std::uint16_t position) {
        for (; read < reads_.size() && read_before_[read].position <= position; ++read) {
            put(reads_[read], read_before_[read].position);
            disturbed_ |= bit_of(FilterShape::slot_of(reads_[read].block()));
        }
    };
    const auto put_retained = [&] {
        put_reads_before(position_of(i));
        const unsigned slot = FilterShape::slot_of(accesses[i].block());
        // of the same line again: a filter that did not retain it may yet take it for stored to
        if (latest_[slot] != accesses[i].block() || accesses[i].kind() == EventKind::store) disturbed_ &= ~bit_of(slot);
        latest_[slot] = accesses[i].block();
        put(accesses[i], position_of(i));
        ++i;
    };
    if (given.redundant.all() == 0 || (reads_.empty() && disturbed_ == 0)) {
        while (i < accesses.size()) put_retained();
    } else {
        for (std::size_t m = 0; m < given.marks.size(); ++m) {
            const std::uint8_t mark = given.marks[m];
            if (filter_mark::is_retained(mark)) {
                put_retained();
                continue;
            }
            const std::uint16_t position = placed_ ? given.mark_positions[m] : 0;
            if (placed_) put_reads_before(position);
            if (const unsigned slot = mark & filter_mark::slot; (disturbed_ & bit_of(slot)) != 0) {
                const EventKind kind = filter_mark::kind_of(mark);
                put({latest_[slot], kind}, position);
                if (kind == EventKind::store) disturbed_ &= ~bit_of(slot);
                (kind == EventKind::store ? made_.stores : kind == EventKind::fetch ? made_.fetches : made_.loads) += 1;
            }
        }
    }
    put_reads_before(~std::uint16_t{0});
}

void CorePipeline::access(Stream& stream, std::span<const BlockEvent> requests, const std::uint16_t* positions) {
    const FilteredAccesses::Redundant& redundant = stream.given->redundant;
    Cache& cache = stream.cache();
    cache.count_requests(redundant.loads - made_.loads, redundant.stores - made_.stores,
                         redundant.fetches - made_.fetches);
    if (!placed_) return cache.handle(requests, core_);
    BatchPositions sent(positions, stream.positions);
    cache.handle(requests, core_, &sent);
}

/// What both first caches have sent down, in program order.
void CorePipeline::bring_together() {
    Stream &data = streams_[0], &fetches = streams_[1];
    const auto from_data = data.cache().below().batch().all(), fetched = fetches.cache().below().batch().all();
    std::size_t next = 0;
    for (std::size_t i = 0; i < from_data.size(); ++i) {
        while (next < fetched.size() && fetches.positions[next] < data.positions[i])
            together_.batch().push(fetched[next++]);
        together_.batch().push(from_data[i]);
    }
    while (next < fetched.size()) together_.batch().push(fetched[next++]);
    for (Stream& stream : streams()) {
        RequestPort& below = stream.cache().below();
        below.notify_all(below.batch().all(), core_);
        below.batch().clear();
    }
}

void CorePipeline::hand_over() { hand_over(apart_ ? together_ : streams_[0].cache().below()); }

void CorePipeline::hand_over(RequestPort& port) {
    if (background_ != nullptr) {
        background_->flush(port);
    } else {
        waited_ += port.flush();
    }
}

}  // namespace cachetally

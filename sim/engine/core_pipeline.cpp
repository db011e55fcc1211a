// SPDX-License-Identifier: BSD-3-Clause
#include "sim/engine/core_pipeline.hpp"

#include <algorithm>

#include "sim/model/batching/background.hpp"

namespace cachetally {

CorePipeline::CorePipeline(std::uint8_t core, const CorePort& data, const CorePort& fetches, const FilterPlan& filter,
                           PageWalker& walker, PageTable& pages, bool sites)
    : core_(core),
      apart_(fetches.port != nullptr),
      sites_(sites),
      filter_plan_(filter),
      walker_(walker),
      pages_(pages) {
    streams_[0].way = data;
    streams_[1].way = fetches;
    for (Stream& stream : streams())
        stream.latency = stream.cache().latency() + (stream.way.tlb != nullptr ? stream.way.tlb->latency() : 0);
    const RequestPort& below = streams_[0].cache().below();
    below.cache() != nullptr ? together_.connect(*below.cache()) : together_.connect(*below.memory());
    std::vector<Cache*> firsts;
    for (const Stream& stream : streams()) firsts.push_back(&stream.cache());
    speculation_.emplace(firsts);
    if (!speculation_->is_needed()) speculation_.reset();
}

void CorePipeline::start(Background* background) {
    background_ = speculation_ ? nullptr : background;
    if (speculation_)
        for (Stream& stream : streams()) stream.cache().watch(stream.disturbances);
    start_batching();
    if (RequestPort& walks = walker_.below(); walks.cache() == nullptr) {
        walks.start_batching(core_);
        walks.notify_through(nullptr);  // they are notified where they are flushed
    }
    if (!apart_) return;
    together_.start_batching(core_);
    for (const Stream& stream : streams()) stream.cache().below().notify_through(background_);
}

void CorePipeline::stop() {
    walker_.below().stop_batching();
    stop_batching();
    for (Stream& stream : streams()) {
        if (apart_) stream.cache().below().notify_through(nullptr);
        stream.cache().forget_mru();
        stream.cache().unwatch(stream.disturbances);
    }
}

void CorePipeline::start_batching() {
    for (const Stream& stream : streams())
        for (Cache* cache = &stream.cache(); cache != nullptr; cache = cache->below().cache())
            cache->below().start_batching(core_);
}

void CorePipeline::stop_batching() {
    for (const Stream& stream : streams())
        for (Cache* cache = &stream.cache(); cache != nullptr; cache = cache->below().cache())
            cache->below().stop_batching();
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
    time += reads_.size() * streams_[0].cache().latency();
    if (speculation_) {
        if (log_.blocks() == 0) begin_speculation();
        save();
        if (careful_ != 0) {
            --careful_;
            make_again();
            return time;
        }
    }
    go_through(streams_[0]);
    if (placed_) go_through(streams_[1]);
    if (apart_) bring_together();
    const bool full = speculation_ ? below().batch().size() >= speculation_->enough_requests() ||
                                         log_.blocks() >= speculation_->enough_blocks()
                                   : below().batch().size() >= enough;
    if (full) hand_over();
    return time;
}

/// Makes the accesses of a stream in its first level.
void CorePipeline::go_through(Stream& stream) {
    made_ = {};
    const std::span<const BlockEvent> reads = &stream == &streams_[0] ? reads_ : std::span<const BlockEvent>();
    if (!reads.empty() || stream.disturbed != 0) {
        insert_disturbed(stream, reads);
        return access(stream, requests_, request_positions_.data(), request_sites_);
    }
    if (speculation_ || (walker_.reads_entries() && streams_[0].way.tlb != nullptr && &stream == &streams_[0]))
        for (const BlockEvent access : stream.accesses)
            stream.latest[FilterShape::slot_of(access.block())] = access.block();
    access(stream, stream.accesses, stream.given->positions.data(), stream.given->retained_sites);
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
        event_sites_.clear();
        for (const std::uint16_t index : stream.missing) {
            reads_.push_back(stream.given->retained[index]);
            if (sites_) event_sites_.push_back(stream.given->retained_sites[index]);
        }
        stream.way.tlb->below().notify_all(reads_, core_, event_sites_);
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
        tlb.below().notify_all(missed_, core_, sites_of(missing_));
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
    tlb.below().notify_all(missed_, core_, sites_of(missing_));
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
        port.notify_all(reads_, core_, sites_of(read_before_));
        return time;
    }
    for (const BlockEvent read : reads_) port.batch().push(read);  // straight to memory, which keeps no order
    const RequestPort::Sites sites = sites_of(read_before_);
    port.batch_sites().assign(sites.begin(), sites.end());
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

std::uint32_t CorePipeline::site_of(const Missing& missing) const {
    return sites_ ? streams_[missing.fetch ? 1 : 0].given->retained_sites[missing.index] : 0;
}

/// None where nobody wants them.
RequestPort::Sites CorePipeline::sites_of(std::span<const Missing> missing) {
    event_sites_.clear();
    if (sites_)
        for (const Missing& each : missing) event_sites_.push_back(site_of(each));
    return event_sites_;
}

void CorePipeline::put(BlockEvent request, std::uint16_t position, std::uint32_t site) {
    requests_.push_back(request);
    if (placed_) request_positions_.push_back(position);
    if (sites_) request_sites_.push_back(site);
}

/// The accesses of a stream with the reads of page walks where they belong. A walk may come into the set of a line that
/// later accesses seem to repeat, and an inclusive level may have taken it away: these are made, up to a store or a
/// retained one of another line of their slot. To make more of them than necessary changes nothing.
void CorePipeline::insert_disturbed(Stream& stream, std::span<const BlockEvent> reads) {
    const std::span<const BlockEvent> accesses = stream.accesses;
    const FilteredAccesses& given = *stream.given;
    requests_.clear();
    request_positions_.clear();
    request_sites_.clear();
    const unsigned slots = (&stream == &streams_[0] ? filter_plan_.data : filter_plan_.fetches).line_slots - 1;
    const auto bit_of = [&](unsigned slot) { return std::uint64_t{1} << (slot & slots); };
    const auto position_of = [&](std::size_t i) {
        return placed_ ? given.positions[i] : static_cast<std::uint16_t>(i);
    };
    std::size_t read = 0, i = 0;
    const auto put_reads_before = [&](std::uint16_t position) {
        for (; read < reads.size() && read_before_[read].position <= position; ++read) {
            put(reads[read], read_before_[read].position, site_of(read_before_[read]));
            stream.disturbed |= bit_of(FilterShape::slot_of(reads[read].block()));
        }
    };
    const auto put_retained = [&] {
        put_reads_before(position_of(i));
        const unsigned slot = FilterShape::slot_of(accesses[i].block());
        // of the same line again: a filter that did not retain it may yet take it for stored to
        if (stream.latest[slot] != accesses[i].block() || accesses[i].kind() == EventKind::store)
            stream.disturbed &= ~bit_of(slot);
        stream.latest[slot] = accesses[i].block();
        put(accesses[i], position_of(i), sites_ ? given.retained_sites[i] : 0);
        ++i;
    };
    if (given.redundant.all() == 0 || (reads.empty() && stream.disturbed == 0)) {
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
            if (const unsigned slot = mark & filter_mark::slot; (stream.disturbed & bit_of(slot)) != 0) {
                const EventKind kind = filter_mark::kind_of(mark);
                put({stream.latest[slot], kind}, position, sites_ ? given.sites[m] : 0);
                if (kind == EventKind::store) stream.disturbed &= ~bit_of(slot);
                (kind == EventKind::store ? made_.stores : kind == EventKind::fetch ? made_.fetches : made_.loads) += 1;
            }
        }
    }
    put_reads_before(~std::uint16_t{0});
}

void CorePipeline::access(Stream& stream, std::span<const BlockEvent> requests, const std::uint16_t* positions,
                          RequestPort::Sites sites) {
    const FilteredAccesses::Redundant& redundant = stream.given->redundant;
    Cache& cache = stream.cache();
    cache.count_requests(redundant.loads - made_.loads, redundant.stores - made_.stores,
                         redundant.fetches - made_.fetches);
    if (sites_) {
        stream.positions.clear();
        return cache.handle_sited(requests, core_, sites, positions, placed_ ? &stream.positions : nullptr);
    }
    if (!placed_) return cache.handle(requests, core_);
    BatchPositions sent(positions, stream.positions);
    cache.handle(requests, core_, &sent);
}

/// What both first caches have sent down, in program order.
void CorePipeline::bring_together() {
    Stream &data = streams_[0], &fetches = streams_[1];
    const auto from_data = data.cache().below().batch().all(), fetched = fetches.cache().below().batch().all();
    const auto push = [&](const Stream& stream, std::span<const BlockEvent> sent, std::size_t i) {
        together_.batch().push(sent[i]);
        if (sites_) together_.batch_sites().push_back(stream.cache().below().batch_sites()[i]);
    };
    std::size_t next = 0;
    for (std::size_t i = 0; i < from_data.size(); ++i) {
        while (next < fetched.size() && fetches.positions[next] < data.positions[i]) push(fetches, fetched, next++);
        push(data, from_data, i);
    }
    while (next < fetched.size()) push(fetches, fetched, next++);
    for (Stream& stream : streams()) {
        RequestPort& below = stream.cache().below();
        const std::span<const BlockEvent> sent = below.batch().all();
        if (!speculation_) {
            below.notify_all(sent, core_, below.batch_sites());
        } else if (below.kinds() != 0) {
            stream.sent.insert(stream.sent.end(), sent.begin(), sent.end());
        }
        below.clear_batch();
    }
}

void CorePipeline::hand_over() { speculation_ ? end_speculation() : hand_over(below()); }

void CorePipeline::begin_speculation() {
    log_.clear(streams_[0].latest, streams_[1].latest);
    if (careful_ == 0) speculation_->begin();
}

/// What make_again() needs of a block.
void CorePipeline::save() {
    const auto way_of = [](const Stream& stream) {
        return AccessLog::Way{stream.given->marks, stream.given->mark_positions, stream.accesses};
    };
    read_positions_.clear();
    for (std::size_t i = 0; i < reads_.size(); ++i) read_positions_.push_back(read_before_[i].position);
    log_.add(placed_, way_of(streams_[0]), placed_ ? way_of(streams_[1]) : AccessLog::Way{}, reads_, read_positions_);
}

void CorePipeline::end_speculation() {
    if (log_.blocks() == 0) return;
    if (speculation_->hand_down(below())) {
        for (Stream& stream : streams()) {
            if (apart_) stream.cache().below().notify_all(stream.sent, core_);
            stream.sent.clear();
        }
        waited_ += speculation_->commit(below(), core_);
        penalty_ /= 2;
        log_.clear(streams_[0].latest, streams_[1].latest);
        return;
    }
    speculation_->roll_back(below());
    for (Stream& stream : streams()) stream.sent.clear();
    make_again();
    careful_ = penalty_ = std::min<std::size_t>(2 * penalty_ + 1, 128);
}

/// All accesses since begin_speculation(), one by one.
void CorePipeline::make_again() {
    stop_batching();
    for (const AccessLog::Access& access : log_.expand()) {
        Cache& cache = streams_[access.fetch ? 1 : 0].cache();
        const RequestInfo info(0, access.event.kind(), core_);
        waited_ += cache.request(access.event.block(), info, 0).time - cache.latency();
    }
    start_batching();
    for (unsigned i = 0; i < streams().size(); ++i) {
        Stream& stream = streams_[i];
        const FilterShape& shape = i == 0 ? filter_plan_.data : filter_plan_.fetches;
        stream.latest = log_.latest(i);
        const auto disturb = [&](Address line) {
            stream.disturbed |= std::uint64_t{1} << FilterShape::slot_of(line) % shape.line_slots;
        };
        for (const Address lost : stream.disturbances.lost)
            if (stream.latest[FilterShape::slot_of(lost)] == lost) disturb(lost);
        for (const Address walked : stream.disturbances.walked) disturb(walked);
        stream.disturbances.clear();
    }
    log_.clear(streams_[0].latest, streams_[1].latest);
}

void CorePipeline::hand_over(RequestPort& port) {
    if (background_ != nullptr) {
        background_->flush(port);
    } else {
        waited_ += port.flush();
    }
}

}  // namespace cachetally

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
    walks_below_ = walker.below().cache() != nullptr && walker.below().cache() == data.port->cache()->below().cache();
    for (Stream& stream : streams())
        stream.latency = stream.cache().latency() + (stream.way.tlb != nullptr ? stream.way.tlb->latency() : 0);
    const RequestPort& below = streams_[0].cache().below();
    below.cache() != nullptr ? together_.connect(*below.cache()) : together_.connect(*below.memory());
    std::vector<Cache*> firsts;
    for (const Stream& stream : streams()) {
        firsts.push_back(&stream.cache());
        by_virtual_lines_ = by_virtual_lines_ || stream.cache().config().virtually_indexed;
    }
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
    if (!meet()) return;
    together_.start_batching(core_);
    for (const Stream& stream : streams()) stream.cache().below().notify_through(background_);
}

void CorePipeline::stop() {
    walker_.below().stop_batching();
    stop_batching();
    for (Stream& stream : streams()) {
        if (meet()) stream.cache().below().notify_through(nullptr);
        stream.cache().forget_mru();
        stream.cache().unwatch(stream.disturbances);
    }
}

void CorePipeline::start_batching() {
    for (const Stream& stream : streams())
        for (Cache* cache = &stream.cache(); cache != nullptr && cache->is_plain(); cache = cache->below().cache())
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
    positioned_ = placed_ || (walks_below_ && !reads_.empty());
    for (Stream& stream : streams()) {
        const FilteredAccesses& given = *stream.given;
        if (stream.way.tlb_port != nullptr) stream.way.tlb_port->notify_filtered(given, core_);
        stream.way.port->notify_filtered({given.marks, stream.accesses}, core_);
        time += given.marks.size() * stream.latency;
    }
    if (!walks_below_) time += reads_.size() * streams_[0].cache().latency();
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
    if (meet()) bring_together();
    const bool full = speculation_ ? below().batch().size() >= speculation_->enough_requests() ||
                                         log_.blocks() >= speculation_->enough_blocks()
                                   : below().batch().size() >= enough;
    if (full) hand_over();
    return time;
}

/// Makes the accesses of a stream in its first level.
void CorePipeline::go_through(Stream& stream) {
    made_ = {};
    const bool walked = &stream == &streams_[0] && !walks_below_;
    const std::span<const BlockEvent> reads = walked ? reads_ : std::span<const BlockEvent>();
    if (!reads.empty() || stream.disturbed != 0) {
        insert_disturbed(stream, reads);
        return access(stream, requests_, request_positions_.data(), virtual_requests_, request_sites_);
    }
    if (speculation_ || (walker_.reads_entries() && streams_[0].way.tlb != nullptr && walked))
        for (const BlockEvent access : stream.accesses)
            stream.latest[FilterShape::slot_of(access.block())] = access.block();
    access(stream, stream.accesses, positions_of(stream), stream.given->retained, stream.given->retained_sites);
}

/// By retained access: where it stands among those of both streams.
const std::uint16_t* CorePipeline::positions_of(const Stream& stream) {
    if (placed_ || !positioned_) return stream.given->positions.data();
    while (counting_.size() < stream.accesses.size()) counting_.push_back(static_cast<std::uint16_t>(counting_.size()));
    return counting_.data();
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

/// `line`: the virtual one.
void CorePipeline::put(BlockEvent request, std::uint16_t position, Address line, std::uint32_t site) {
    requests_.push_back(request);
    if (positioned_) request_positions_.push_back(position);
    if (by_virtual_lines_) virtual_requests_.push_back({line, request.kind()});
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
    virtual_requests_.clear();
    request_sites_.clear();
    const unsigned slots = (&stream == &streams_[0] ? filter_plan_.data : filter_plan_.fetches).line_slots - 1;
    const Address line_bytes = stream.cache().line_bytes();
    const auto bit_of = [&](unsigned slot) { return std::uint64_t{1} << (slot & slots); };
    const auto position_of = [&](std::size_t i) {
        return placed_ ? given.positions[i] : static_cast<std::uint16_t>(i);
    };
    std::size_t read = 0, i = 0;
    const auto put_reads_before = [&](std::uint16_t position) {
        for (; read < reads.size() && read_before_[read].position <= position; ++read) {
            put(reads[read], read_before_[read].position, reads[read].block(), site_of(read_before_[read]));
            stream.disturbed |= bit_of(FilterShape::slot_of(align_down(reads[read].block(), line_bytes)));
        }
    };
    const auto put_retained = [&] {
        put_reads_before(position_of(i));
        const unsigned slot = FilterShape::slot_of(accesses[i].block());
        // of the same line again: a filter that did not retain it may yet take it for stored to
        if (stream.latest[slot] != accesses[i].block() || accesses[i].kind() == EventKind::store)
            stream.disturbed &= ~bit_of(slot);
        stream.latest[slot] = accesses[i].block();
        put(accesses[i], position_of(i), given.retained[i].block(), sites_ ? given.retained_sites[i] : 0);
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
                const Address line = by_virtual_lines_ ? pages_.virtual_address(stream.latest[slot]) : 0;
                put({stream.latest[slot], kind}, position, line, sites_ ? given.sites[m] : 0);
                if (kind == EventKind::store) stream.disturbed &= ~bit_of(slot);
                (kind == EventKind::store ? made_.stores : kind == EventKind::fetch ? made_.fetches : made_.loads) += 1;
            }
        }
    }
    put_reads_before(~std::uint16_t{0});
}

/// `lines`: the virtual ones.
void CorePipeline::access(Stream& stream, std::span<const BlockEvent> requests, const std::uint16_t* positions,
                          std::span<const BlockEvent> lines, RequestPort::Sites sites) {
    const FilteredAccesses::Redundant& redundant = stream.given->redundant;
    Cache& cache = stream.cache();
    cache.count_requests(redundant.loads - made_.loads, redundant.stores - made_.stores,
                         redundant.fetches - made_.fetches);
    if (sites_) {
        stream.positions.clear();
        cache.handle_sited(requests, core_, sites, lines, positions, positioned_ ? &stream.positions : nullptr);
        return;
    }
    BatchPositions sent(positions, stream.positions);
    cache.handle(requests, core_, positioned_ ? &sent : nullptr, lines);
}

/// What the first caches and a walker beside them have sent down, in program order: a walk before its access.
void CorePipeline::bring_together() {
    struct Sent {
        RequestPort& port;
        std::span<const BlockEvent> requests;
        std::span<const std::uint16_t> positions;
        std::size_t next = 0;
        bool is_over() const { return next == requests.size(); }
        std::uint16_t position() const { return positions[next]; }
    };
    const auto sent_by = [&](Stream& stream) {
        RequestPort& port = stream.cache().below();
        return Sent{port, port.batch().all(), stream.positions};
    };
    Sent data = sent_by(streams_[0]), fetched = sent_by(streams_[apart_ ? 1 : 0]);
    if (!placed_) fetched.requests = {};
    const std::size_t reads = walks_below_ ? reads_.size() : 0;
    std::size_t read = 0;
    const auto push = [&](BlockEvent request, std::uint32_t site) {
        together_.batch().push(request);
        if (sites_) together_.batch_sites().push_back(site);
    };
    const auto push_reads = [&](std::size_t up_to) {
        for (; read < reads && read_before_[read].position <= up_to; ++read)
            push(reads_[read], site_of(read_before_[read]));
    };
    const auto push_next = [&](Sent& from) {
        if (positioned_) push_reads(from.position());
        push(from.requests[from.next], sites_ ? from.port.batch_sites()[from.next] : 0);
        ++from.next;
    };
    while (!data.is_over()) {
        while (!fetched.is_over() && fetched.position() < data.position()) push_next(fetched);
        push_next(data);
    }
    while (!fetched.is_over()) push_next(fetched);
    push_reads(~std::size_t{0});
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

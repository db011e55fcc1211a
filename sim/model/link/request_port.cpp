// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/link/request_port.hpp"

#include <algorithm>
#include <iterator>

#include "sim/model/batching/background.hpp"
#include "sim/model/cache/cache.hpp"
#include "sim/model/coherence/coherence.hpp"
#include "sim/model/link/link_timing.hpp"
#include "sim/model/memory/memory.hpp"
#include "sim/model/memory/numa.hpp"

namespace cachetally {

std::uint32_t kinds_of(std::span<const BlockEvent> events) {
    std::uint32_t kinds = 0;
    for (const BlockEvent event : events) kinds |= bit(event.kind());
    return kinds;
}

RequestPort::RequestPort() = default;
RequestPort::~RequestPort() = default;

void RequestPort::take_time(std::unique_ptr<LinkTiming> timing) {
    timing_ = std::move(timing);
    in_steps_ = true;
}

void RequestPort::belong_to(Node node, Memory& memory) {
    numa_ = node;
    connect_bypass(memory);
    in_steps_ = in_steps_ || (cache_ == nullptr && memory_ == nullptr);
}

void RequestPort::ask(Coherence& coherence, unsigned node) {
    coherence_ = &coherence;
    node_ = node;
    in_steps_ = true;
}

void RequestPort::listen(LinkListener& listener, bool* pending) {
    constexpr std::uint32_t data = bit(EventKind::load) | bit(EventKind::store);
    const std::uint32_t kinds = listener.kinds();
    auto* const batch = dynamic_cast<BatchListener*>(&listener);
    listeners_.push_back({&listener, batch, kinds, std::make_unique<Injector>(pending),
                          (data & ~kinds) == 0 && batch != nullptr && batch->takes_filtered()});
    kinds_ |= listeners_.back().kinds;
    if (memory_ != nullptr && wants(EventKind::bank_conflict)) in_steps_ = true;
}

bool RequestPort::fills_are_ordered() const {
    constexpr std::uint32_t fill = bit(EventKind::fill);
    return std::ranges::any_of(listeners_, [](const Listening& l) { return (l.kinds & fill) != 0 && l.kinds != fill; });
}

bool RequestPort::Listening::merges(std::uint32_t line_bytes, bool timed) const {
    return listener->accepts_merged(line_bytes) && !(timed && batch != nullptr && batch->sends());
}

bool RequestPort::merges(std::uint32_t line_bytes, bool timed) const {
    return std::ranges::all_of(listeners_, [&](const Listening& l) { return l.merges(line_bytes, timed); });
}

bool RequestPort::merges_or_is_untimed(std::uint32_t line_bytes, bool timed) const {
    return std::ranges::all_of(
        listeners_, [&](const Listening& l) { return l.listener->accepts_untimed() || l.merges(line_bytes, timed); });
}

void RequestPort::prepare(std::uint32_t line_bytes, bool timed) {
    for (Listening& listening : listeners_) listening.wants_each = !listening.merges(line_bytes, timed);
}

void RequestPort::notify_listeners(const LinkEvent& event) {
    if (background_ != nullptr) {
        const BlockEvent block(align_down(event.address, BlockEvent::alignment), event.kind);
        for (std::uint32_t i = 0; i < event.count; ++i)
            background_->notify(*this, {&block, 1}, bit(event.kind), event.core, {&event.site, 1});
        return;
    }
    for (const Listening& listening : listeners_)
        if ((listening.kinds & bit(event.kind)) != 0) listening.listener->on_event(event, *listening.injector);
}

void RequestPort::notify(std::span<const BlockEvent> events, std::uint32_t kinds, std::uint8_t core, Sites sites) {
    if (kinds_ == 0) return;
    if (background_ != nullptr) {
        background_->notify(*this, events, kinds, core, sites);
    } else {
        notify_now(events, kinds, core, sites);
    }
}

void RequestPort::notify_now(std::span<const BlockEvent> events, std::uint32_t kinds, std::uint8_t core, Sites sites) {
    for (const Listening& listening : listeners_) {
        if (listening.wants_each) {
            notify_each(listening, events, core, sites);
            continue;
        }
        notify_blocks(listening, events, kinds, core);
        if (brings_fills_ && listening.kinds == bit(EventKind::fill)) notify_fills(listening, events, core);
    }
}

void RequestPort::notify_each(const Listening& listening, std::span<const BlockEvent> events, std::uint8_t core,
                              Sites sites) const {
    const bool fills = brings_fills_ && listening.kinds == bit(EventKind::fill);
    for (std::size_t i = 0; i < events.size(); ++i) {
        const EventKind kind = events[i].kind();
        const bool fill = fills && kind != EventKind::write_back;
        if (!fill && (listening.kinds & bit(kind)) == 0) continue;
        listening.listener->on_event({events[i].block(), 1, sites[i], fill ? EventKind::fill : kind, core, 0},
                                     *listening.injector);
    }
}

void RequestPort::notify_fills(const Listening& listening, std::span<const BlockEvent> requests, std::uint8_t core) {
    for (const BlockEvent request : requests)
        if (request.kind() != EventKind::write_back)
            listening.listener->on_event({request.block(), 1, 0, EventKind::fill, core, 0}, *listening.injector);
}

void RequestPort::notify_blocks(const Listening& listening, std::span<const BlockEvent> events, std::uint32_t kinds,
                                std::uint8_t core) {
    if ((kinds & listening.kinds) == 0) return;
    if ((kinds & ~listening.kinds) != 0) {
        wanted_.clear();
        std::ranges::copy_if(events, std::back_inserter(wanted_),
                             [&](const BlockEvent& event) { return (listening.kinds & bit(event.kind())) != 0; });
        events = wanted_;
    }
    if (listening.batch != nullptr)
        listening.batch->on_blocks(events, core, *listening.injector);
    else
        in_runs(*listening.listener, events, core, *listening.injector);
}

void RequestPort::notify_filtered(const FilteredEvents& events, std::uint8_t core) {
    if (kinds_ == 0) return;
    if (background_ != nullptr) {
        background_->notify_filtered(*this, events, core);
    } else {
        notify_filtered_now(events, core);
    }
}

void RequestPort::notify_filtered_now(const FilteredEvents& events, std::uint8_t core) {
    const auto takes = [](const Listening& listening) { return listening.takes_filtered; };
    for (const Listening& listening : listeners_)
        if (listening.takes_filtered) listening.batch->on_filtered(events, core, *listening.injector);
    if (std::ranges::all_of(listeners_, takes)) return;
    slot_lines_.expand(events, expanded_);
    const std::uint32_t kinds = kinds_of(expanded_);
    for (const Listening& listening : listeners_)
        if (!listening.takes_filtered) notify_blocks(listening, expanded_, kinds, core);
}

Tick RequestPort::send(Address address, RequestInfo info, Tick time) {
    if (batching_) {
        batch_.push({address, info.kind()});
        return time;
    }
    if (!timing_) [[likely]] {
        notify(address, info, time);
        if (give_below(address, info, time).conflict) notify(address, info.as(EventKind::bank_conflict), time);
        return time;
    }
    const Places::Place place = timing_->write_buffer.enter(time);
    const Bus::Transfer transfer = timing_->bus->transfer(place.time, timing_->line);
    timing_->write_buffer.leave(place, transfer.end);
    notify(address, info, transfer.begin);
    const Tick arrived = transfer.end + timing_->bus->latency();
    if (give_below(address, info, arrived).conflict) notify(address, info.as(EventKind::bank_conflict), arrived);
    return place.time;
}

MemoryReply RequestPort::give_below(Address address, RequestInfo info, Tick time) {
    if (cache_ == nullptr && memory_ != nullptr) return memory_->write(address, info, time);
    if (cache_ == nullptr) {
        numa_.numa->send(numa_, address, info, time);
        return {};
    }
    if (info.kind() == EventKind::ring_write) {
        cache_->take_record(address, info, time);
    } else {
        cache_->take_victim(address, info, time);
    }
    return {};
}

Tick RequestPort::pass_on(Address address, RequestInfo info, Tick time) {
    if (!timing_) [[likely]] {
        request(address, info, time);
        return time;
    }
    const Places::Place place = timing_->write_buffer.enter(time);
    const Bus::Transfer transfer = timing_->bus->transfer(place.time, LinkTiming::store_bytes);
    timing_->write_buffer.leave(place, transfer.end);
    notify(address, info, transfer.begin);
    ask_below(address, info, transfer.end + timing_->bus->latency());
    return place.time;
}

Reply RequestPort::request_in_steps(Address address, RequestInfo info, Tick time) {
    if (timing_) return request_in_time(address, info, time);
    notify(address, info, time);
    return ask_below(address, info, time);
}

Reply RequestPort::request_in_time(Address address, RequestInfo info, Tick time) {
    const Places::Place place = timing_->misses.enter(time);
    notify(address, info, place.time);
    Reply reply = ask_below(address, info, place.time + timing_->bus->latency());
    reply.time = timing_->bus->transfer(reply.time, timing_->line).end;
    timing_->misses.leave(place, reply.time);
    return reply;
}

Reply RequestPort::ask_below(Address address, RequestInfo info, Tick time) {
    bool at_home = false;
    if (coherence_ != nullptr) {
        const Coherence::Turn turn = coherence_->request(node_, address, info, time);
        if (turn.supplied) return {turn.time};
        time = turn.time;
        at_home = turn.at_home;
    }
    if (cache_ != nullptr) return cache_->request(address, info, time);
    if (memory_ != nullptr) return ask_memory(address, info, time);
    return {numa_.numa->request(numa_, address, info, time, at_home)};
}

Reply RequestPort::ask_memory(Address address, RequestInfo info, Tick time) {
    const MemoryReply reply = memory_->request(address, info, time);
    if (reply.conflict) notify(address, info.as(EventKind::bank_conflict), time);
    return {reply.time};
}

/// The monitor has no write buffer but its ring. It sends below what it watches: were its records events here, it could
/// count them, and each could info the next.
void RequestPort::send_record(const Injector::Write& write, RequestInfo info, Tick time) {
    if (timing_) time = timing_->bus->transfer(time, write.bytes).end + timing_->bus->latency();
    give_below(write.address, info, time);
}

/// Over all buses that lead to memory.
void RequestPort::write_past_caches(const Injector::Write& write, RequestInfo info, Tick time) {
    const RequestPort* way = this;
    for (;; way = &way->cache_->below()) {
        if (way->timing_) {
            Bus& bus = *way->timing_->bus;
            time = bus.transfer(time, write.bytes).end + bus.latency();
        }
        if (way->cache_ == nullptr) break;
    }
    if (numa_.numa != nullptr) return numa_.numa->write_record(numa_, write.address, write.bytes, info, time);
    memory_below_->write(write.address, info, time);
}

Tick RequestPort::flush() {
    const Tick waited = flush(batch_.all(), batch_sites_);
    clear_batch();
    return waited;
}

Tick RequestPort::flush(std::span<const BlockEvent> requests, Sites sites) {
    if (requests.empty()) return 0;
    notify_all(requests, batch_core_, sites);
    if (cache_ == nullptr) return memory_->handle(requests, batch_core_);
    const Tick waited =
        sites.empty() ? cache_->handle(requests, batch_core_) : cache_->handle_sited(requests, batch_core_, sites);
    return waited + cache_->below().flush();
}

void RequestPort::control(const Control& control, Tick time) {
    for (const Listening& listening : listeners_) listening.listener->on_control(control, time, *listening.injector);
}

Tick RequestPort::inject(std::uint8_t core, Tick time) {
    Tick lost = 0;
    for (const Listening& listening : listeners_) {
        // What the writes themselves make listeners further down send waits for the next reference.
        const Injector::Sent sent = listening.injector->take();
        for (const Injector::Write& write : sent.writes) {
            const RequestInfo info(0, EventKind::ring_write, core);
            if (write.bypass || cache_ == nullptr) {
                write_past_caches(write, info, time);
            } else {
                send_record(write, info, time);
            }
        }
        memory_below_->write_records(sent.past);
        lost = time_sum(lost, sent.stall);
    }
    return lost;
}

void Injections::listen(RequestPort& link, LinkListener& listener) {
    link.listen(listener, &pending_);
    if (std::ranges::find(links_, &link) == links_.end()) links_.push_back(&link);
}

Tick Injections::carry_out(unsigned core, Tick time) {
    pending_ = false;
    Tick lost = 0;
    for (RequestPort* link : links_) lost = time_sum(lost, link->inject(static_cast<std::uint8_t>(core), time));
    return lost;
}

}  // namespace cachetally

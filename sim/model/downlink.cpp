// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/downlink.hpp"

#include <algorithm>
#include <iterator>

#include "sim/model/background.hpp"
#include "sim/model/cache.hpp"
#include "sim/model/coherence.hpp"
#include "sim/model/link_timing.hpp"
#include "sim/model/memory.hpp"
#include "sim/model/numa.hpp"

namespace cachetally {

Downlink::Downlink() = default;
Downlink::~Downlink() = default;

void Downlink::take_time(std::unique_ptr<LinkTiming> timing) {
    timing_ = std::move(timing);
    in_steps_ = true;
}

void Downlink::belong_to(Node node, Memory& memory) {
    numa_ = node;
    lead_past_caches_to(memory);
    in_steps_ = in_steps_ || (cache_ == nullptr && memory_ == nullptr);
}

void Downlink::ask(Coherence& coherence, unsigned node) {
    coherence_ = &coherence;
    node_ = node;
    in_steps_ = true;
}

void Downlink::listen(LinkListener& listener, bool* pending) {
    constexpr std::uint32_t data = bit(EventKind::load) | bit(EventKind::store);
    const std::uint32_t kinds = listener.kinds();
    listeners_.push_back(
        {&listener, kinds, std::make_unique<Injector>(pending), (data & ~kinds) == 0 && listener.takes_sieved()});
    kinds_ |= listeners_.back().kinds;
    if (memory_ != nullptr && wants(EventKind::bank_conflict)) in_steps_ = true;
}

bool Downlink::merges(std::uint32_t line_bytes, bool timed) const {
    return std::ranges::all_of(listeners_, [&](const Listening& l) {
        return l.listener->accepts_merged(line_bytes) && !(timed && l.listener->sends());
    });
}

void Downlink::tell(const LinkEvent& event) {
    if (background_ != nullptr) {
        const BlockEvent block(align_down(event.address, BlockEvent::alignment), event.kind);
        for (std::uint32_t i = 0; i < event.count; ++i)
            background_->tell(*this, {&block, 1}, bit(event.kind), event.core);
        return;
    }
    for (const Listening& listening : listeners_)
        if ((listening.kinds & bit(event.kind)) != 0) listening.listener->on_event(event, *listening.injector);
}

void Downlink::tell(std::span<const BlockEvent> events, std::uint32_t kinds, std::uint8_t core) {
    if (kinds_ == 0) return;
    if (background_ != nullptr) {
        background_->tell(*this, events, kinds, core);
    } else {
        tell_now(events, kinds, core);
    }
}

void Downlink::tell_now(std::span<const BlockEvent> events, std::uint32_t kinds, std::uint8_t core) {
    for (const Listening& listening : listeners_) tell_blocks(listening, events, kinds, core);
}

void Downlink::tell_blocks(const Listening& listening, std::span<const BlockEvent> events, std::uint32_t kinds,
                           std::uint8_t core) {
    if ((kinds & ~listening.kinds) == 0) {
        listening.listener->on_blocks(events, core, *listening.injector);
    } else if ((kinds & listening.kinds) != 0) {
        wanted_.clear();
        std::ranges::copy_if(events, std::back_inserter(wanted_),
                             [&](const BlockEvent& event) { return (listening.kinds & bit(event.kind())) != 0; });
        listening.listener->on_blocks(wanted_, core, *listening.injector);
    }
}

void Downlink::tell_sieved(const SievedBlocks& blocks, std::uint8_t core) {
    if (kinds_ == 0) return;
    if (background_ != nullptr) {
        background_->tell_sieved(*this, blocks, core);
    } else {
        tell_sieved_now(blocks, core);
    }
}

void Downlink::tell_sieved_now(const SievedBlocks& blocks, std::uint8_t core) {
    const auto takes = [](const Listening& listening) { return listening.takes_sieved; };
    for (const Listening& listening : listeners_)
        if (listening.takes_sieved) listening.listener->on_sieved(blocks, core, *listening.injector);
    if (std::ranges::all_of(listeners_, takes)) return;
    slot_lines_.expand(blocks, expanded_);
    for (const Listening& listening : listeners_)
        if (!listening.takes_sieved)
            tell_blocks(listening, expanded_, bit(EventKind::load) | bit(EventKind::store), core);
}

void Downlink::follow_sieved(BlockEvent straddling) {
    if (kinds_ == 0) return;
    if (background_ != nullptr) {
        background_->follow_sieved(*this, straddling);
    } else {
        follow_sieved_now(straddling);
    }
}

void Downlink::follow_sieved_now(BlockEvent straddling) {
    for (const Listening& listening : listeners_)
        if (listening.takes_sieved) listening.listener->follow_sieved(straddling);
    slot_lines_.pass(straddling);
}

/// All posts that wait are of one core: only where it runs alone is anything posted.
void Downlink::tell_of(std::span<const Posted> posts) {
    std::uint32_t kinds = 0;
    posted_.clear();
    for (const Posted& post : posts) {
        const EventKind kind = Cause::from(post.cause).kind();
        kinds |= bit(kind);
        posted_.emplace_back(align_down(post.address, BlockEvent::alignment), kind);
    }
    tell(posted_, kinds, Cause::from(posts.front().cause).core());
}

Tick Downlink::send(Address address, Cause cause, Tick time) {
    if (posting_) {
        posts_.push({address | entry_bit::dirty, cause.word()});
        return time;
    }
    if (!timing_) [[likely]] {
        notify(address, cause, time);
        if (give_below(address, cause, time).conflict) notify(address, cause.as(EventKind::bank_conflict), time);
        return time;
    }
    const Places::Place place = timing_->write_buffer.enter(time);
    const Bus::Transfer transfer = timing_->bus->transfer(place.time, timing_->line);
    timing_->write_buffer.leave(place, transfer.end);
    notify(address, cause, transfer.begin);
    const Tick arrived = transfer.end + timing_->bus->latency();
    if (give_below(address, cause, arrived).conflict) notify(address, cause.as(EventKind::bank_conflict), arrived);
    return place.time;
}

MemoryReply Downlink::give_below(Address address, Cause cause, Tick time) {
    if (cache_ == nullptr && memory_ != nullptr) return memory_->write(address, cause, time);
    if (cache_ == nullptr) {
        numa_.numa->send(numa_, address, cause, time);
        return {};
    }
    if (cause.kind() == EventKind::ring_write) {
        cache_->take_record(address, cause, time);
    } else {
        cache_->take_victim(address, cause, time);
    }
    return {};
}

Tick Downlink::pass_on(Address address, Cause cause, Tick time) {
    if (!timing_) [[likely]] {
        request(address, cause, time);
        return time;
    }
    const Places::Place place = timing_->write_buffer.enter(time);
    const Bus::Transfer transfer = timing_->bus->transfer(place.time, LinkTiming::store_bytes);
    timing_->write_buffer.leave(place, transfer.end);
    notify(address, cause, transfer.begin);
    ask_below(address, cause, transfer.end + timing_->bus->latency());
    return place.time;
}

Reply Downlink::request_in_steps(Address address, Cause cause, Tick time) {
    if (timing_) return request_in_time(address, cause, time);
    notify(address, cause, time);
    return ask_below(address, cause, time);
}

Reply Downlink::request_in_time(Address address, Cause cause, Tick time) {
    const Places::Place place = timing_->misses.enter(time);
    notify(address, cause, place.time);
    Reply reply = ask_below(address, cause, place.time + timing_->bus->latency());
    reply.time = timing_->bus->transfer(reply.time, timing_->line).end;
    timing_->misses.leave(place, reply.time);
    return reply;
}

Reply Downlink::ask_below(Address address, Cause cause, Tick time) {
    bool at_home = false;
    if (coherence_ != nullptr) {
        const Coherence::Turn turn = coherence_->request(node_, address, cause, time);
        if (turn.supplied) return {turn.time};
        time = turn.time;
        at_home = turn.at_home;
    }
    if (cache_ != nullptr) return cache_->request(address, cause, time);
    if (memory_ != nullptr) return ask_memory(address, cause, time);
    return {numa_.numa->request(numa_, address, cause, time, at_home)};
}

Reply Downlink::ask_memory(Address address, Cause cause, Tick time) {
    const MemoryReply reply = memory_->request(address, cause, time);
    if (reply.conflict) notify(address, cause.as(EventKind::bank_conflict), time);
    return {reply.time};
}

/// The monitor has no write buffer but its ring. It sends below what it watches: were its records events here, it could
/// count them, and each could cause the next.
void Downlink::send_record(const Injector::Write& write, Cause cause, Tick time) {
    if (timing_) time = timing_->bus->transfer(time, write.bytes).end + timing_->bus->latency();
    give_below(write.address, cause, time);
}

/// Over all buses that lead to memory.
void Downlink::write_past_caches(const Injector::Write& write, Cause cause, Tick time) {
    const Downlink* way = this;
    for (;; way = &way->cache_->below()) {
        if (way->timing_) {
            Bus& bus = *way->timing_->bus;
            time = bus.transfer(time, write.bytes).end + bus.latency();
        }
        if (way->cache_ == nullptr) break;
    }
    if (numa_.numa != nullptr) return numa_.numa->write_record(numa_, write.address, write.bytes, cause, time);
    memory_below_->write(write.address, cause, time);
}

Tick Downlink::deliver() {
    const Tick waited = deliver(posts_.all());
    posts_.clear();
    return waited;
}

Tick Downlink::deliver(std::span<const Posted> posts) {
    if (posts.empty()) return 0;
    if (kinds_ != 0) tell_of(posts);
    return cache_ != nullptr ? cache_->take(posts) + cache_->below().deliver() : memory_->take(posts);
}

void Downlink::control(const Control& control, Tick time) {
    for (const Listening& listening : listeners_) listening.listener->on_control(control, time, *listening.injector);
}

Tick Downlink::inject(std::uint8_t core, Tick time) {
    Tick lost = 0;
    for (const Listening& listening : listeners_) {
        // What the writes themselves make listeners further down send waits for the next reference.
        const Injector::Sent sent = listening.injector->take();
        for (const Injector::Write& write : sent.writes) {
            const Cause cause(0, EventKind::ring_write, core);
            if (write.bypass || cache_ == nullptr) {
                write_past_caches(write, cause, time);
            } else {
                send_record(write, cause, time);
            }
        }
        memory_below_->write_records(sent.past);
        lost = time_sum(lost, sent.stall);
    }
    return lost;
}

void Injections::listen(Downlink& link, LinkListener& listener) {
    link.listen(listener, &pending_);
    if (std::ranges::find(links_, &link) == links_.end()) links_.push_back(&link);
}

Tick Injections::carry_out(unsigned core, Tick time) {
    pending_ = false;
    Tick lost = 0;
    for (Downlink* link : links_) lost = time_sum(lost, link->inject(static_cast<std::uint8_t>(core), time));
    return lost;
}

}  // namespace cachetally

#include "sim/model/downlink.hpp"

#include <algorithm>
#include <iterator>

#include "sim/model/background.hpp"
#include "sim/model/cache.hpp"
#include "sim/model/memory.hpp"

namespace cachetally {

void Downlink::listen(LinkListener& listener, bool* pending) {
    constexpr std::uint32_t data = bit(EventKind::load) | bit(EventKind::store);
    const std::uint32_t kinds = listener.kinds();
    listeners_.push_back(
        {&listener, kinds, std::make_unique<Injector>(pending), (data & ~kinds) == 0 && listener.takes_sieved()});
    kinds_ |= listeners_.back().kinds;
}

bool Downlink::merges(std::uint32_t line_bytes) const {
    return std::ranges::all_of(listeners_, [&](const Listening& l) { return l.listener->accepts_merged(line_bytes); });
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

void Downlink::send(Address address, Cause cause, Tick time) {
    if (posting_) {
        posts_.push({address | entry_bit::dirty, cause.word()});
        return;
    }
    notify(address, cause, time);
    if (cache_ != nullptr) {
        cache_->take_victim(address, cause, time);
    } else {
        memory_->write(address, cause, time);
    }
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
        // What the writes themselves make the listeners send waits for the next reference: no cascade can run away.
        const Injector::Sent sent = listening.injector->take();
        for (const Injector::Write& write : sent.writes) {
            const Cause cause(0, EventKind::ring_write, core);
            if (write.bypass || cache_ == nullptr) {
                memory_below_->write(write.address, cause, time);
            } else {
                send(write.address, cause, time);
            }
        }
        memory_below_->write_records(sent.past);
        lost += sent.stall;
    }
    return lost;
}

}  // namespace cachetally

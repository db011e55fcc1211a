#include "sim/model/downlink.hpp"

#include <algorithm>

#include "sim/model/cache.hpp"
#include "sim/model/memory.hpp"

namespace cachetally {

void Downlink::listen(LinkListener& listener, bool* pending) {
    listeners_.push_back({&listener, listener.kinds(), std::make_unique<Injector>(pending)});
    kinds_ |= listeners_.back().kinds;
}

bool Downlink::merges(std::uint32_t line_bytes) const {
    return std::ranges::all_of(listeners_, [&](const Listening& l) { return l.listener->accepts_merged(line_bytes); });
}

void Downlink::tell(const LinkEvent& event) {
    for (const Listening& listening : listeners_)
        if ((listening.kinds & bit(event.kind)) != 0) listening.listener->on_event(event, *listening.injector);
}

void Downlink::tell(std::span<const LinkEvent> events, std::uint32_t kinds) {
    for (const Listening& listening : listeners_) {
        if ((kinds & ~listening.kinds) == 0) {
            listening.listener->on_events(events, *listening.injector);
        } else if ((kinds & listening.kinds) != 0) {
            for (const LinkEvent& event : events)
                if ((listening.kinds & bit(event.kind)) != 0) listening.listener->on_event(event, *listening.injector);
        }
    }
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
        memory_->write(cause.kind());
    }
}

Tick Downlink::deliver(Tick time) {
    if (posts_.empty()) return 0;
    if (kinds_ != 0)
        for (const Posted& post : posts_.all()) notify(post.address & ~entry_bit::dirty, Cause::from(post.cause), time);
    const Tick waited =
        cache_ != nullptr ? cache_->take(posts_.all()) + cache_->below().deliver(time) : memory_->take(posts_.all());
    posts_.clear();
    return waited;
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
            if (write.bypass || cache_ == nullptr) {
                memory_below_->write(EventKind::ring_write);
            } else {
                send(write.address, {0, EventKind::ring_write, core}, time);
            }
        }
        memory_below_->write(EventKind::ring_write, sent.past);
        lost += sent.stall;
    }
    return lost;
}

}  // namespace cachetally

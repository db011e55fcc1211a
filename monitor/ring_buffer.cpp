// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/ring_buffer.hpp"

#include <algorithm>

#include "sim/topology/validate.hpp"

namespace cachetally {

RingBuffer::RingBuffer(const RingSpec& spec, Tick cycle)
    : spec_(spec),
      cycle_(cycle),
      drain_ticks_(spec.drain_cost * cycle),
      write_ticks_(spec.write_cost * cycle),
      period_ticks_(spec.drain == RingSpec::Drain::periodic ? spec.period * cycle : 0),
      next_period_(period_ticks_) {}

bool RingBuffer::timeless(const RingSpec& spec) {
    return spec.drain != RingSpec::Drain::periodic && spec.drain_cost == 0 && spec.write_cost == 0;
}

bool RingBuffer::write(Tick time, Injector& injector) {
    catch_up(std::max(now_, time));
    if (fill_ == spec_.capacity && spec_.overflow == RingSpec::Overflow::stall) wait_for_place(injector);
    if (fill_ == spec_.capacity) {  // dropped, or there is no time left to wait in
        ++lost_;
        return false;
    }
    injector.write({spec_.base + place_ * spec_.record, spec_.record, spec_.path == RingSpec::Path::memory});
    place_ = place_ + 1 == spec_.capacity ? 0 : place_ + 1;
    ++written_;
    lose(write_ticks_, injector);
    catch_up(now_);
    high_water_ = std::max(high_water_, ++fill_);
    const bool begins = spec_.drain == RingSpec::Drain::full        ? fill_ == spec_.capacity
                        : spec_.drain == RingSpec::Drain::watermark ? fill_ >= spec_.watermark
                                                                    : false;
    if (begins) begin_drain(now_);
    return true;
}

void RingBuffer::write_all(std::uint64_t records) {
    const std::uint64_t drained_at = spec_.drain == RingSpec::Drain::watermark ? spec_.watermark : spec_.capacity;
    written_ += records;
    place_ = (place_ + records) % spec_.capacity;
    high_water_ = std::max(high_water_, std::min(fill_ + records, drained_at));
    fill_ = (fill_ + records) % drained_at;
}

/// What the software has done up to `now`. Records are written by write() alone, so that at the first beginning of
/// a period since the last call the ring was as it is.
void RingBuffer::catch_up(Tick now) {
    now_ = now;
    if (period_ticks_ == 0) return take_records();
    if (next_period_ <= now_ && fill_ != 0) {
        // A drain under way may have ended before the period began; then the ring was empty and stays so.
        begin_drain(next_period_);
    }
    take_records();
    next_period_ = (now_ / period_ticks_ + 1) * period_ticks_;
}

void RingBuffer::begin_drain(Tick time) {
    if (draining_ || fill_ == 0) return;
    if (drain_ticks_ == 0) {
        fill_ = 0;
        return;
    }
    draining_ = true;
    next_taken_ = time + drain_ticks_;
}

void RingBuffer::take_records() {
    if (!draining_ || next_taken_ > now_) return;
    const std::uint64_t taken = std::min(fill_, (now_ - next_taken_) / drain_ticks_ + 1);
    fill_ -= taken;
    next_taken_ += taken * drain_ticks_;
    draining_ = fill_ != 0;
}

void RingBuffer::wait_for_place(Injector& injector) {
    begin_drain(now_);
    if (!draining_) return;
    // Whole cycles: whoever waits keeps his clock, so that no two cores tie.
    lose(divide_round_up(next_taken_ - now_, cycle_) * cycle_, injector);
    catch_up(now_);
}

void RingBuffer::lose(Tick duration, Injector& injector) {
    if (duration == 0) return;
    if (duration > longest_time - std::min(now_, longest_time)) {
        // Whoever waits so long ends the run, however much more is to come.
        injector.stall(longest_time);
        return;
    }
    injector.stall(duration);
    stall_ += duration;
    now_ += duration;
}

}  // namespace cachetally

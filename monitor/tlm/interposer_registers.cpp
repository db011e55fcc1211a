// SPDX-License-Identifier: BSD-3-Clause
// What the registers of an Interposer say and do.
#include <algorithm>
#include <limits>

#include "cachetally/tlm_monitor_registers.hpp"
#include "monitor/tlm/interposer.hpp"

namespace cachetally {
namespace {

namespace reg = tlm_monitor_register;

constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }
constexpr std::uint64_t with_low(std::uint64_t value, std::uint32_t part) { return value >> 32 << 32 | part; }
constexpr std::uint64_t with_high(std::uint64_t value, std::uint32_t part) {
    return std::uint64_t{part} << 32 | low(value);
}

constexpr std::uint32_t status_watermark = 1, status_lost = 2, status_failed = 4, status_busy = 8;
constexpr std::uint32_t control_on = 1, control_interrupt = 2, control_software = 4;

/// 0 to 3: the words of a filter.
unsigned word_of(std::uint64_t offset) { return static_cast<unsigned>(offset / 4 % 4); }

Granularity granularity_of(std::uint32_t value) {
    return {static_cast<Granularity::Mode>(value >> 16 & 3U), value & 0xffffU};
}

bool is_valid(const MonitorSpec& spec) {
    try {
        validate(spec);
        return true;
    } catch (const SpecError&) {
        return false;
    }
}

}  // namespace

std::uint32_t Interposer::read(std::uint64_t offset) const {
    if (offset >= reg::ranges && offset < reg::end) {
        const AddressRange& range = ranges_[(offset - reg::ranges) / 16];
        const std::uint64_t bound = word_of(offset) < 2 ? range.from : range.to;
        return word_of(offset) % 2 == 0 ? low(bound) : high(bound);
    }
    const std::uint32_t loads = (spec_.kinds & bit(EventKind::load)) != 0 ? 1 : 0;
    const std::uint32_t stores = (spec_.kinds & bit(EventKind::store)) != 0 ? 2 : 0;
    switch (offset) {
        case reg::id: return reg::identity;
        case reg::control:
            return (on_ ? control_on : 0U) | (interrupt_enabled_ ? control_interrupt : 0U) |
                   (software_reads_ ? control_software : 0U);
        case reg::status: return read_status();
        case reg::kinds: return loads | stores;
        case reg::granularity:
            return spec_.granularity.amount | static_cast<std::uint32_t>(spec_.granularity.mode) << 16;
        case reg::watermark: return watermark_;
        case reg::ring_size: return low(spec_.ring.capacity);
        case reg::ring_base: return low(spec_.ring.base);
        case reg::ring_base + 4: return high(spec_.ring.base);
        case reg::head: return low(head_);
        case reg::tail: return low(tail_);
        case reg::events: return low(totals_.events);
        case reg::events + 4: return high(totals_.events);
        case reg::lost: return low(totals_.lost_events);
        case reg::lost + 4: return high(totals_.lost_events);
        case reg::phase: return phase_;
        case reg::ranges_on: return ranges_on_;
        default: return 0;
    }
}

std::uint32_t Interposer::read_status() const {
    return (watermark_reached() ? status_watermark : 0U) | (loss_seen_ ? status_lost : 0U) |
           (write_failed_ ? status_failed : 0U) | (is_busy() ? status_busy : 0U);
}

/// The base of the ring is one value of two words: half of it may be no place for a ring. All else stands by itself.
bool Interposer::write(std::uint64_t offset, std::uint64_t value, unsigned registers) {
    if (registers == 2 && offset == reg::ring_base) {
        if (!accepts_ring(value, spec_.ring.capacity)) return false;
        set_ring(value, spec_.ring.capacity);
        return true;
    }
    for (unsigned i = 0; i < registers; ++i)
        if (!accepts(offset + 4 * i, low(value >> 32 * i))) return false;
    for (unsigned i = 0; i < registers; ++i) apply(offset + 4 * i, low(value >> 32 * i));
    return true;
}

bool Interposer::accepts(std::uint64_t offset, std::uint32_t value) const {
    // a filter in force is not changed word by word
    if (offset >= reg::ranges && offset < reg::end) return (ranges_on_ >> (offset - reg::ranges) / 16 & 1U) == 0;
    switch (offset) {
        case reg::control: return value <= (control_on | control_interrupt | control_software);
        case reg::command: return value == 1;
        case reg::status: return true;
        case reg::kinds: return value != 0 && value <= 3;
        case reg::granularity: return accepts_granularity(value);
        case reg::watermark: return value <= spec_.ring.capacity;  // else it would never raise the interrupt
        case reg::ring_size: return accepts_ring(spec_.ring.base, value);
        case reg::ring_base: return accepts_ring(with_low(spec_.ring.base, value), spec_.ring.capacity);
        case reg::ring_base + 4: return accepts_ring(with_high(spec_.ring.base, value), spec_.ring.capacity);
        case reg::tail: return accepts_tail(value);
        case reg::ranges_on: return accepts_ranges_on(value);
        default: return false;
    }
}

void Interposer::apply(std::uint64_t offset, std::uint32_t value) {
    if (offset >= reg::ranges) return set_bound(offset, value);
    switch (offset) {
        case reg::control: return set_control(value);
        case reg::command: return barrier();
        case reg::status:
            if ((value & status_lost) != 0) loss_seen_ = false;
            if ((value & status_failed) != 0) write_failed_ = false;
            return;
        case reg::kinds:
            spec_.kinds =
                ((value & 1U) != 0 ? bit(EventKind::load) : 0U) | ((value & 2U) != 0 ? bit(EventKind::store) : 0U);
            return;
        case reg::granularity: return set_granularity(value);
        case reg::watermark: watermark_ = value; return;
        case reg::ring_size: return set_ring(spec_.ring.base, value);
        case reg::ring_base: return set_ring(with_low(spec_.ring.base, value), spec_.ring.capacity);
        case reg::ring_base + 4: return set_ring(with_high(spec_.ring.base, value), spec_.ring.capacity);
        case reg::tail: tail_ += value - low(tail_); return;
        case reg::ranges_on: return set_ranges_on(value);
        default: return;
    }
}

void Interposer::set_control(std::uint32_t value) {
    on_ = (value & control_on) != 0;
    interrupt_enabled_ = (value & control_interrupt) != 0;
    software_reads_ = (value & control_software) != 0;
    if (!software_reads_) tail_ = head_;
}

bool Interposer::accepts_granularity(std::uint32_t value) const {
    if (value >> 16 > 2 || (value & 0xffffU) > 4096) return false;
    MonitorSpec changed = spec_;
    changed.granularity = granularity_of(value);
    return is_valid(changed) && changed.unit() == spec_.unit();
}

void Interposer::set_granularity(std::uint32_t value) {
    swap_out();  // what the counters say is of the groups as they were
    spec_.granularity = granularity_of(value);
    keys_ = KeyMap(spec_);
    counters_ = make_counter_array(spec_);
}

bool Interposer::accepts_ring(std::uint64_t base, std::uint64_t capacity) const {
    MonitorSpec changed = spec_;
    changed.ring.base = base;
    changed.ring.capacity = capacity;
    return capacity <= std::numeric_limits<std::uint32_t>::max() / 2 && is_valid(changed);
}

void Interposer::set_ring(std::uint64_t base, std::uint64_t capacity) {
    empty_ring();
    spec_.ring.base = base;
    spec_.ring.capacity = capacity;
    watermark_ = std::min(watermark_, low(capacity));
}

bool Interposer::accepts_tail(std::uint32_t value) const {
    return software_reads_ && value - low(tail_) <= head_ - tail_;
}

bool Interposer::accepts_ranges_on(std::uint32_t value) const {
    for (std::size_t i = 0; i < most_ranges; ++i)
        if ((value >> i & 1U) != 0 && ranges_[i].from >= ranges_[i].to) return false;
    return value < 1U << most_ranges;
}

void Interposer::set_ranges_on(std::uint32_t value) {
    ranges_on_ = value;
    spec_.ranges.clear();
    for (std::size_t i = 0; i < most_ranges; ++i)
        if ((value >> i & 1U) != 0) spec_.ranges.push_back(ranges_[i]);
    filter_ = EventFilter(spec_);
}

void Interposer::set_bound(std::uint64_t offset, std::uint32_t value) {
    AddressRange& range = ranges_[(offset - reg::ranges) / 16];
    std::uint64_t& bound = word_of(offset) < 2 ? range.from : range.to;
    bound = word_of(offset) % 2 == 0 ? with_low(bound, value) : with_high(bound, value);
}

}  // namespace cachetally

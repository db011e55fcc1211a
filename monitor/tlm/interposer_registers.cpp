// What the registers of an Interposer say and do.
#include <algorithm>
#include <limits>

#include "monitor/tlm/interposer.hpp"
#include "monitor/tlm/tlm_monitor_registers.hpp"

namespace cachetally {
namespace {

namespace reg = tlm_monitor_register;

constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }
constexpr std::uint64_t with_low(std::uint64_t value, std::uint32_t part) { return value >> 32 << 32 | part; }
constexpr std::uint64_t with_high(std::uint64_t value, std::uint32_t part) {
    return std::uint64_t{part} << 32 | low(value);
}

constexpr std::uint32_t status_watermark = 1, status_lost = 2, status_failed = 4;
constexpr std::uint32_t control_on = 1, control_interrupt = 2, control_software = 4;

/// 0 to 3: the words of a filter.
unsigned word_of(std::uint64_t offset) { return static_cast<unsigned>(offset / 4 % 4); }

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
           (write_failed_ ? status_failed : 0U);
}

bool Interposer::write(std::uint64_t offset, std::uint32_t value, Records& records) {
    if (offset >= reg::ranges && offset < reg::end) return write_range(offset, value);
    switch (offset) {
        case reg::control: return write_control(value);
        case reg::command:
            if (value != 1) return false;
            barrier(records);
            return true;
        case reg::status:
            if ((value & status_lost) != 0) loss_seen_ = false;
            if ((value & status_failed) != 0) write_failed_ = false;
            return true;
        case reg::kinds: return write_kinds(value);
        case reg::granularity: return write_granularity(value, records);
        case reg::watermark: return write_watermark(value);
        case reg::ring_size: return write_ring(spec_.ring.base, value);
        case reg::ring_base: return write_ring(with_low(spec_.ring.base, value), spec_.ring.capacity);
        case reg::ring_base + 4: return write_ring(with_high(spec_.ring.base, value), spec_.ring.capacity);
        case reg::tail: return write_tail(value);
        case reg::ranges_on: return write_ranges_on(value);
        default: return false;
    }
}

bool Interposer::write_control(std::uint32_t value) {
    if (value > (control_on | control_interrupt | control_software)) return false;
    on_ = (value & control_on) != 0;
    interrupt_enabled_ = (value & control_interrupt) != 0;
    software_reads_ = (value & control_software) != 0;
    if (!software_reads_) tail_ = head_;
    return true;
}

bool Interposer::write_kinds(std::uint32_t value) {
    if (value == 0 || value > 3) return false;
    spec_.kinds = ((value & 1U) != 0 ? bit(EventKind::load) : 0U) | ((value & 2U) != 0 ? bit(EventKind::store) : 0U);
    return true;
}

/// One that the ring cannot reach would never raise the interrupt.
bool Interposer::write_watermark(std::uint32_t value) {
    if (value > spec_.ring.capacity) return false;
    watermark_ = value;
    return true;
}

bool Interposer::write_granularity(std::uint32_t value, Records& records) {
    MonitorSpec changed = spec_;
    changed.granularity = {static_cast<Granularity::Mode>(value >> 16 & 3U), value & 0xffffU};
    if (value >> 16 > 2 || changed.granularity.amount > 4096) return false;
    try {
        validate(changed);
    } catch (const SpecError&) {
        return false;
    }
    if (changed.unit() != spec_.unit()) return false;
    swap_out(records);  // what the counters say is of the groups as they were
    spec_ = changed;
    keys_ = KeyMap(spec_);
    counters_ = make_counter_array(spec_);
    return true;
}

bool Interposer::write_ring(std::uint64_t base, std::uint64_t capacity) {
    MonitorSpec changed = spec_;
    changed.ring.base = base;
    changed.ring.capacity = capacity;
    if (capacity > std::numeric_limits<std::uint32_t>::max() / 2) return false;
    try {
        validate(changed);
    } catch (const SpecError&) {
        return false;
    }
    empty_ring();
    spec_.ring = changed.ring;
    watermark_ = std::min(watermark_, low(capacity));
    return true;
}

bool Interposer::write_tail(std::uint32_t value) {
    const std::uint32_t taken = value - low(tail_);
    if (!software_reads_ || taken > head_ - tail_) return false;
    tail_ += taken;
    return true;
}

bool Interposer::write_ranges_on(std::uint32_t value) {
    if (value >= 1U << most_ranges) return false;
    std::vector<AddressRange> ranges;
    for (std::size_t i = 0; i < most_ranges; ++i) {
        if ((value >> i & 1U) == 0) continue;
        if (ranges_[i].from >= ranges_[i].to) return false;
        ranges.push_back(ranges_[i]);
    }
    ranges_on_ = value;
    spec_.ranges = ranges;
    filter_ = EventFilter(spec_);
    return true;
}

/// A filter in force is not changed word by word.
bool Interposer::write_range(std::uint64_t offset, std::uint32_t value) {
    const std::size_t number = (offset - reg::ranges) / 16;
    if ((ranges_on_ >> number & 1U) != 0) return false;
    std::uint64_t& bound = word_of(offset) < 2 ? ranges_[number].from : ranges_[number].to;
    bound = word_of(offset) % 2 == 0 ? with_low(bound, value) : with_high(bound, value);
    return true;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/tlm/interposer.hpp"

#include <algorithm>
#include <limits>

namespace cachetally {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw SpecError("TlmMonitor: ", message, {}); }

MonitorSpec checked(MonitorSpec spec, std::size_t most_ranges) {
    if (spec.line == 0) spec.line = 64;
    validate(spec);
    if (spec.unit() != spec.line)
        refuse("a mask finer than the line of " + std::to_string(spec.line) +
               " bytes; give 'line=" + std::to_string(spec.unit()) + "'");
    if ((spec.kinds & (bit(EventKind::load) | bit(EventKind::store))) == 0)
        refuse("a transaction is a load or a store; 'kinds' names neither");
    if (spec.width > 32) refuse("a record has 32 bits for the count; write 'width' up to 32");
    if (spec.ring.record < 16) refuse("a record takes 16 bytes; write 'record=16' or more");
    if (spec.ring.capacity > std::numeric_limits<std::uint32_t>::max() / 2)
        refuse("a register holds the size of the ring; write 'capacity' up to 2147483647");
    if (spec.ranges.size() > most_ranges)
        refuse(std::to_string(spec.ranges.size()) + " address ranges; there are registers for 8");
    return spec;
}

std::uint32_t checked(std::uint32_t watermark, const RingSpec& ring) {
    if (watermark > ring.capacity)
        refuse("a ring of " + std::to_string(ring.capacity) + " records never holds the " + std::to_string(watermark) +
               " of TlmMonitorConfig::watermark; write at most 'capacity', or 0 for no interrupt");
    return watermark;
}

}  // namespace

Interposer::Interposer(MonitorSpec spec, std::uint32_t watermark, bool software_reads)
    : spec_(checked(std::move(spec), most_ranges)),
      keys_(spec_),
      filter_(spec_),
      counters_(make_counter_array(spec_)),
      on_(spec_.start),
      software_reads_(software_reads),
      interrupt_enabled_(watermark != 0),
      watermark_(checked(watermark, spec_.ring)) {
    std::ranges::copy(spec_.ranges, ranges_.begin());
    ranges_on_ = (1U << spec_.ranges.size()) - 1;
}

void Interposer::count(bool write, Address address, std::uint64_t bytes, unsigned core, Records& records) {
    const EventKind kind = write ? EventKind::store : EventKind::load;
    if (!on_ || (spec_.kinds & bit(kind)) == 0 || (core > 255 && !spec_.cores.empty())) return;
    const std::uint64_t more = bytes == 0 ? 0 : std::min(bytes - 1, ~std::uint64_t{0} - address);
    const std::uint64_t last = keys_.unit(address + more);
    const auto core_number = static_cast<std::uint8_t>(core);
    for (std::uint64_t unit = keys_.unit(address);; address = ++unit * keys_.unit_bytes()) {
        if (filter_.passes(address, core_number)) {
            ++totals_.events;
            counters_->add(keys_.key(address), 1, swapped_);
        }
        if (unit == last) break;
    }
    collect(records);
}

void Interposer::collect(Records& records) {
    if (swapped_.empty()) return;
    const std::uint32_t span = spec_.is_dynamic() ? 1 : keys_.units_per_key();
    for (const SwapOut& each : swapped_) {
        const Record record{each.first * span * keys_.unit_bytes(), each.span * span, phase_, each.count};
        records.insert(records.end(), each.times, record);
    }
    swapped_.clear();
}

/// What waits for a place was counted before: it goes first.
void Interposer::swap_out() {
    for (auto& batch : batches_) {
        queue_.insert(queue_.end(), batch.begin(), batch.end());
        batch.clear();
    }
    Records records;
    counters_->flush(swapped_);
    collect(records);
    queue_.insert(queue_.end(), records.begin(), records.end());
    swapped_out_left_ = queue_.size();
}

void Interposer::barrier() {
    swap_out();
    ++phase_;
}

Interposer::Batch Interposer::begin_batch(Records& records) {
    const Batch batch = batches_.emplace(batches_.end(), records.begin(), records.end());
    records.clear();
    return batch;
}

void Interposer::enqueue_first(Batch batch) {
    queue_.push_back(batch->front());
    batch->pop_front();
    totals_.high_water = std::max(totals_.high_water, head_ + queue_.size() - tail_);
}

void Interposer::lose_first(Batch batch) {
    lose(batch->front());
    batch->pop_front();
}

void Interposer::lose(const Record& record) {
    ++totals_.lost_records;
    totals_.lost_events += record.count;
    loss_seen_ = true;
}

Interposer::Record Interposer::take_next() {
    const Record record = queue_.front();
    queue_.pop_front();
    if (swapped_out_left_ != 0) --swapped_out_left_;
    return record;
}

void Interposer::next_written() {
    add_to_sums(take_next());
    ++totals_.records;
    ++head_;
    totals_.high_water = std::max(totals_.high_water, head_ - tail_);
    if (!software_reads_) tail_ = head_;
}

void Interposer::next_failed() {
    lose(take_next());
    write_failed_ = true;
}

void Interposer::next_dropped() { lose(take_next()); }

void Interposer::empty_ring() {
    while (!queue_.empty()) lose(take_next());
    head_ = tail_ = 0;
    ++generation_;
}

void Interposer::finish() {
    swap_out();  // with what initiators wait with: they end their batches, if they ever go on
    while (!queue_.empty()) add_to_sums(take_next());
    ++generation_;
}

Interposer::Totals Interposer::totals() const {
    Totals totals = totals_;
    totals.resident = counters_->resident_events();
    for (const Record& record : queue_) totals.resident += record.count;
    for (const auto& batch : batches_)
        for (const Record& record : batch) totals.resident += record.count;
    return totals;
}

}  // namespace cachetally

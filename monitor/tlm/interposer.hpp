// SPDX-License-Identifier: BSD-3-Clause
// Interposer: all that TlmMonitor decides (what counts, what is lost, what registers say), without SystemC.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "monitor/control.hpp"
#include "monitor/counter_array.hpp"
#include "monitor/granularity.hpp"
#include "monitor/spec.hpp"

namespace cachetally {

/// A monitor whose ring buffer is read by software of the platform. Whoever holds it sends the records that events
/// cause: each is enqueued while the ring is not full, or lost; those enqueued are written to memory one by one.
class Interposer {
public:
    struct Record {
        Address address = 0;
        std::uint32_t span = 1;  ///< units
        std::uint32_t phase = 0;
        std::uint64_t count = 0;
    };
    using Records = std::vector<Record>;

    /// Throws SpecError where the spec is none that this monitor can be.
    Interposer(MonitorSpec spec, std::uint32_t watermark, bool software_reads);

    const MonitorSpec& spec() const { return spec_; }
    bool on() const { return on_; }
    void switch_on(bool on) { on_ = on; }
    bool software_reads() const { return software_reads_; }

    /// A read or write of so many bytes: an event on each unit that it touches. Records are appended.
    void count(bool write, Address address, std::uint64_t bytes, unsigned core, Records& records);
    /// Swaps all counters out and begins a new phase. The records are enqueued, behind those of all who wait for a
    /// place now; however many they are: nobody waits who would have to make places free.
    void barrier();
    /// Records of a barrier are neither in memory nor lost yet.
    bool is_busy() const { return swapped_out_left_ != 0; }

    /// No place in the ring is left for what is enqueued next.
    bool full() const { return head_ + queue_.size() - tail_ >= spec_.ring.capacity; }
    /// The interrupt is due as soon as what is enqueued is written: software should run.
    bool wants_software() const {
        return interrupt_enabled_ && watermark_ != 0 && head_ + queue_.size() - tail_ >= watermark_;
    }

    /// The records of one event, or barrier, that are neither enqueued nor lost yet: kept here because whoever sends
    /// them may wait for a place in the ring, for ever. Several may wait.
    using Batch = std::list<std::deque<Record>>::iterator;
    /// Takes the records: `records` is empty then.
    Batch begin_batch(Records& records);
    /// finish() has come meanwhile, or all are sent.
    static bool is_sent(Batch batch) { return batch->empty(); }
    void enqueue_first(Batch batch);
    void lose_first(Batch batch);
    void end_batch(Batch batch) { batches_.erase(batch); }

    bool has_next() const { return !queue_.empty(); }
    /// There is a place for it. Else it has to wait, or to be lost.
    bool has_place() const { return head_ - tail_ < spec_.ring.capacity; }
    const Record& next() const { return queue_.front(); }
    Address next_place() const { return spec_.ring.base + head_ % spec_.ring.capacity * spec_.ring.record; }
    /// Changes when the ring is emptied: what was under way then is no longer in the queue.
    std::uint32_t generation() const { return generation_; }
    /// The next record is in memory; or it could not be written, and is lost; or found the ring full, and is lost.
    void next_written();
    void next_failed();
    void next_dropped();

    /// Level of the interrupt line.
    bool interrupt() const { return interrupt_enabled_ && watermark_reached(); }

    /// A register of 32 bits. Nothing to read at an offset without one: 0.
    std::uint32_t read(std::uint64_t offset) const;
    /// One register, or two neighbours, the first in the low half of the value. False where one of them or its value is
    /// refused; then nothing has changed.
    bool write(std::uint64_t offset, std::uint64_t value, unsigned registers);

    /// The simulation is over: what is in the counters, waits for the ring and is under way is added to the sums.
    void finish();

    struct Totals {
        std::uint64_t events = 0, records = 0, lost_records = 0, lost_events = 0, high_water = 0;
        std::uint64_t resident = 0;  ///< events in counters and in records not yet written
    };
    Totals totals() const;

    /// (phase, address, span) to events, of all records written.
    using Sums = std::map<std::tuple<std::uint32_t, Address, std::uint32_t>, std::uint64_t>;
    const Sums& sums() const { return sums_; }

private:
    static constexpr std::size_t most_ranges = 8;

    bool watermark_reached() const { return watermark_ != 0 && head_ - tail_ >= watermark_; }
    void swap_out();
    void collect(Records& records);
    void add_to_sums(const Record& record) { sums_[{record.phase, record.address, record.span}] += record.count; }
    void lose(const Record& record);
    Record take_next();
    void empty_ring();
    bool accepts(std::uint64_t offset, std::uint32_t value) const;
    void apply(std::uint64_t offset, std::uint32_t value);
    bool accepts_ring(std::uint64_t base, std::uint64_t capacity) const;
    void set_ring(std::uint64_t base, std::uint64_t capacity);
    bool accepts_granularity(std::uint32_t value) const;
    void set_granularity(std::uint32_t value);
    bool accepts_ranges_on(std::uint32_t value) const;
    void set_ranges_on(std::uint32_t value);
    bool accepts_tail(std::uint32_t value) const;
    void set_bound(std::uint64_t offset, std::uint32_t value);
    std::uint32_t read_status() const;
    void set_control(std::uint32_t value);

    MonitorSpec spec_;
    KeyMap keys_;
    EventFilter filter_;
    std::unique_ptr<CounterArray> counters_;
    std::vector<SwapOut> swapped_;
    bool on_, software_reads_, interrupt_enabled_ = false, write_failed_ = false, loss_seen_ = false;
    std::uint32_t watermark_;
    std::array<AddressRange, most_ranges> ranges_{};
    std::uint32_t ranges_on_ = 0;
    std::uint32_t phase_ = 0, generation_ = 0;
    std::list<std::deque<Record>> batches_;
    std::deque<Record> queue_;
    std::size_t swapped_out_left_ = 0;   ///< first records of the queue, up to the last of a barrier
    std::uint64_t head_ = 0, tail_ = 0;  ///< records of this ring, written and read
    Totals totals_;
    Sums sums_;
};

}  // namespace cachetally

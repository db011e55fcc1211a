// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/counter_bank.hpp"

#include "monitor/counter_array.hpp"
#include "monitor/granularity.hpp"
#include "monitor/record_sums.hpp"

namespace cachetally {
namespace {

/// Record by record, as the hardware does it.
class RecordedBank final : public CounterBank {
public:
    RecordedBank(const MonitorSpec& spec, unsigned copy, Tick cycle)
        : CounterBank(spec.ring, cycle), keys_(spec), counters_(make_counter_array(spec, copy)), sums_(spec) {}

    void add(Address address, std::uint64_t count, Tick time, Injector& injector) override {
        counters_->add(keys_.key(address), count, swapped_);
        if (!swapped_.empty()) write_records(time, injector);
    }

    void add_all(std::span<const BlockEvent> events, Injector& injector) override {
        keyed_.clear();
        for (const BlockEvent& event : events) {
            const std::uint64_t key = keys_.key(event.block());
            if (!keyed_.empty() && keyed_.back().key == key) {
                ++keyed_.back().count;
            } else {
                keyed_.push_back({key, 1});
            }
        }
        counters_->add_all(keyed_, swapped_);
        write_timeless_records(injector);
    }

    void flush(Tick time, Injector& injector) override {
        counters_->flush(swapped_);
        write_records(time, injector);
    }

    void read_out() override {
        counters_->flush(swapped_);
        sum_up();
    }

    void select(std::uint32_t function) override { sums_.select(function); }
    void take(std::vector<HistogramRow>& rows, std::uint32_t phase) override { sums_.take(rows, phase); }
    std::uint64_t resident_events() const override { return counters_->resident_events(); }
    std::uint32_t resident_counters() const override { return counters_->resident_counters(); }

private:
    [[gnu::noinline]] void write_records(Tick time, Injector& injector) {
        for (const SwapOut& record : swapped_) {
            std::uint64_t written = 0;
            for (std::uint64_t i = 0; i < record.times; ++i) written += ring_.write(time, injector) ? 1 : 0;
            swapouts_ += record.times;
            lost_ += (record.times - written) * record.count;
            if (written != 0) sums_.add(record, written);
        }
        swapped_.clear();
    }

    /// As write_records() where the ring is always emptied in time.
    void write_timeless_records(Injector& injector) {
        const std::uint64_t records = sum_up();
        if (records == 0) return;
        ring_.write_all(records);
        injector.write_past(records);
    }

    std::uint64_t sum_up() {
        std::uint64_t records = 0;
        for (const SwapOut& record : swapped_) {
            records += record.times;
            sums_.add(record, record.times);
        }
        swapped_.clear();
        swapouts_ += records;
        return records;
    }

    KeyMap keys_;
    std::unique_ptr<CounterArray> counters_;
    RecordSums sums_;
    std::vector<CounterArray::KeyCount> keyed_;  ///< of the events at hand
    std::vector<SwapOut> swapped_;               ///< by the event at hand
};

/// Rings of copies lie behind each other, each from a page on, so that cores do not write to each other's lines.
RingSpec ring_of_copy(RingSpec ring, unsigned copy) {
    constexpr std::uint64_t page = 4096;
    ring.base += copy * ((ring.capacity * ring.record + page - 1) / page * page);
    return ring;
}

}  // namespace

std::unique_ptr<CounterBank> make_counter_bank(const MonitorSpec& spec, unsigned copy, Tick cycle) {
    MonitorSpec own = spec;
    own.ring = ring_of_copy(spec.ring, copy);
    if (auto summed = make_summed_bank(own, cycle)) return summed;
    return std::make_unique<RecordedBank>(own, copy, cycle);
}

}  // namespace cachetally

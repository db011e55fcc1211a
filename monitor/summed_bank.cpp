// SPDX-License-Identifier: BSD-3-Clause
// SummedBank: LRU and FIFO counters, where only the number of records matters.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include "monitor/counter_bank.hpp"
#include "monitor/granularity.hpp"
#include "monitor/paged_counts.hpp"
#include "sim/model/batching/redundancy_filter.hpp"

namespace cachetally {
namespace {

/// What is kept of a key.
struct Cell {
    std::uint64_t count = 0;   ///< events of the phase, but for those in its counter
    std::uint32_t holder = 0;  ///< its counter, if that is still its own
};

/// A counter's number with how often it has changed hands, so that who remembers it can tell whether it is the same.
using CounterName = std::uint64_t;
constexpr CounterName nobody = CounterName{1} << 63;  ///< of number 0, which is never that often given

/// Counters by number (an Id: not a byte, which might alias everything). Uses (FIFO: arrivals) are appended to a log;
/// the victim is the first entry that is still its counter's last.
template <bool by_recency, class Id>
class Counters {
public:
    explicit Counters(std::uint32_t size) : log_(1 + 2 * (std::size_t{size} + most_uses)), counters_(size) {
        for (std::uint32_t number = 0; number < size; ++number) counters_[number].name = number;
        free_all();
    }

    /// What each use changes is not side by side: stored as one, it could not be loaded at once again.
    struct Counter {
        CounterName name = 0;
        std::uint64_t last = 0;  ///< position in the log; 0: none
        Cell* cell = nullptr;    ///< of its key; null: it is free
        std::uint64_t held = 0;  ///< events
    };

    std::span<const Counter> all() const { return counters_; }

    void free_all() {
        for (Counter& counter : counters_) counter = {counter.name + generation, 0, nullptr, 0};
        begin_ = end_ = 1;
        taken_ = 0;
    }

    /// For at most so many uses, with all that they need in registers; then keep().
    static constexpr std::size_t most_uses = 1024;
    class Loop {
    public:
        explicit Loop(Counters& all)
            : all_(all), counters_(all.counters_.data()), log_(all.log_.data()), begin_(all.begin_), end_(all.end_) {}

        void keep() {
            all_.begin_ = begin_;
            all_.end_ = end_;
        }

        Counter& operator[](CounterName name) { return counters_[static_cast<Id>(name)]; }

        void use(Counter& counter) {
            if (by_recency) append(counter);
        }

        /// The counter that comes next: a free one, or that used longest ago (FIFO: that has its key longest).
        Counter& victim() {
            if (all_.taken_ < all_.counters_.size()) [[unlikely]]
                return counters_[all_.taken_++];
            while (counters_[log_[begin_]].last != begin_) ++begin_;
            return counters_[log_[begin_++]];
        }

        void give(Counter& counter, Cell& cell) {
            counter.name += generation;
            counter.cell = &cell;
            counter.held = 0;
            cell.holder = static_cast<Id>(counter.name);
            if (!by_recency) append(counter);
        }

    private:
        void append(Counter& counter) {
            log_[end_] = static_cast<Id>(counter.name);
            counter.last = end_++;
        }

        Counters& all_;
        Counter* counters_;
        Id* log_;
        std::uint64_t begin_, end_;
    };

    Loop loop() {
        if (end_ + most_uses > log_.size()) [[unlikely]]
            shorten_log();
        return Loop(*this);
    }

private:
    static constexpr CounterName generation = CounterName{1} << 32;

    /// To what is current.
    [[gnu::noinline]] void shorten_log() {
        std::uint64_t to = 1;
        for (std::uint64_t from = begin_; from != end_; ++from) {
            Counter& counter = counters_[log_[from]];
            if (counter.last != from) continue;
            log_[to] = log_[from];
            counter.last = to++;
        }
        begin_ = 1;
        end_ = to;
    }

    std::vector<Id> log_;
    std::uint64_t begin_ = 1, end_ = 1;  ///< positions in the log
    std::vector<Counter> counters_;
    std::uint32_t taken_ = 0;
};

/// The cells of events in order; those of events to come are fetched into the host's caches.
class CellsAhead {
public:
    CellsAhead(PagedArray<Cell>& cells, const KeyMap& keys, std::span<const BlockEvent> events)
        : cells_(cells), keys_(keys), next_(events.data()), left_(events.size()) {
        for (std::size_t i = 0; i < std::min(far, left_); ++i) expect_page(i);
        for (std::size_t i = 0; i < std::min(near, left_); ++i) find(i);
    }

    [[gnu::always_inline]] Cell* next() {
        Cell* const cell = found_[at_ % near];
        if (left_ > far) [[likely]]
            expect_page(far);
        if (left_ > near) [[likely]]
            find(near);
        ++next_, ++at_, --left_;
        return cell;
    }

private:
    static constexpr std::size_t far = 32, near = 16;

    /// (GCC drops prefetches that it does not inline.)
    [[gnu::always_inline]] void expect_page(std::size_t i) const { cells_.prefetch(keys_.key(next_[i].block())); }
    [[gnu::always_inline]] void find(std::size_t i) {
        Cell& cell = cells_[keys_.key(next_[i].block())];
        __builtin_prefetch(&cell, 1);
        found_[(at_ + i) % near] = &cell;
    }

    PagedArray<Cell>& cells_;
    const KeyMap& keys_;
    const BlockEvent* next_;
    std::size_t left_, at_ = 0;
    std::array<Cell*, near> found_{};
};

template <bool by_recency, class Id>
class SummedBank final : public CounterBank {
    using Numbered = Counters<by_recency, Id>;
    using Counter = typename Numbered::Counter;

public:
    SummedBank(const MonitorSpec& spec, Tick cycle)
        : CounterBank(spec.ring, cycle),
          keys_(spec),
          unit_(spec.unit()),
          span_(spec.units_per_key()),
          full_(spec.full()),
          counters_(spec.counters) {
        names_by_slot_.fill(nobody);
        select(no_function);
    }

    void add(Address address, std::uint64_t count, Tick time, Injector& injector) override {
        const std::uint64_t before = swapouts_;
        auto loop = counters_.loop();
        use(loop, address, count);
        loop.keep();
        for (std::uint64_t records = swapouts_ - before; records > 0; --records) ring_.write(time, injector);
    }

    void add_all(std::span<const BlockEvent> events, Injector& injector) override {
        const std::uint64_t before = swapouts_;
        for (; !events.empty(); events = events.subspan(std::min(events.size(), Numbered::most_uses))) {
            auto loop = counters_.loop();
            for (const BlockEvent event : events.first(std::min(events.size(), Numbered::most_uses)))
                use(loop, event.block(), 1);
            loop.keep();
        }
        write_timeless(swapouts_ - before, injector);
    }

    bool takes_filtered() const override { return true; }

    void add_filtered(const FilteredEvents& events, Injector& injector) override {
        const std::uint64_t before = swapouts_;
        const BlockEvent* retained = events.retained.data();
        CellsAhead ahead(*cells_, keys_, events.retained);
        for (auto marks = events.marks; !marks.empty();) {
            const auto some = marks.first(std::min(marks.size(), Numbered::most_uses));
            auto loop = counters_.loop();
            for (std::size_t i = 0; i < some.size();) {
                const std::uint8_t mark = some[i++];
                const bool is_retained = filter_mark::is_retained(mark);
                const unsigned slot = is_retained ? FilterShape::slot_of(retained->block()) : mark & filter_mark::slot;
                Cell* cell = nullptr;
                if (is_retained) {
                    cell = ahead.next();
                    lines_by_slot_[slot] = (retained++)->block();
                }
                const Address line = lines_by_slot_[slot];
                unsigned times = 1;
                while (true) {
                    const unsigned repeats = repeats_of(slot, some.subspan(i));
                    times += repeats;
                    i += repeats;
                    // The first store to a line is retained, too.
                    if (i == some.size() || !filter_mark::is_retained(some[i]) || retained->block() != line) break;
                    ahead.next();
                    ++retained, ++times, ++i;
                }
                if (is_retained) {
                    names_by_slot_[slot] = use(loop, *cell, times);
                } else {
                    use_again(loop, slot, times);
                }
            }
            loop.keep();
            marks = marks.subspan(some.size());
        }
        write_timeless(swapouts_ - before, injector);
    }

    void follow_filtered(std::span<const BlockEvent> retained) override {
        for (const BlockEvent event : retained) {
            lines_by_slot_[FilterShape::slot_of(event.block())] = event.block();
            names_by_slot_[FilterShape::slot_of(event.block())] = nobody;
        }
    }

    void flush(Tick time, Injector& injector) override {
        const std::uint64_t before = swapouts_;
        read_out();
        for (std::uint64_t records = swapouts_ - before; records > 0; --records) ring_.write(time, injector);
    }

    void read_out() override {
        for (const Counter& counter : counters_.all()) swap_out(counter);
        counters_.free_all();
    }

    void select(std::uint32_t function) override { cells_ = &cells_of_[function]; }

    void take(std::vector<HistogramRow>& rows, std::uint32_t phase) override {
        for (auto& [function, cells] : cells_of_)
            take_rows(cells, rows, {.span = span_, .phase = phase, .function = function}, unit_,
                      [](const Cell& cell) { return cell.count; });
    }

    std::uint64_t resident_events() const override {
        std::uint64_t events = 0;
        for (const Counter& counter : counters_.all()) events += counter.held;
        return events;
    }
    std::uint32_t resident_counters() const override {
        return static_cast<std::uint32_t>(
            std::ranges::count_if(counters_.all(), [](const Counter& counter) { return counter.held != 0; }));
    }

private:
    using Loop = typename Numbered::Loop;

    /// Returns the name of the counter.
    CounterName use(Loop& loop, Address address, std::uint64_t events) {
        return use(loop, (*cells_)[keys_.key(address)], events);
    }
    CounterName use(Loop& loop, Cell& cell, std::uint64_t events) {
        Counter* counter = &loop[cell.holder];
        if (counter->cell != &cell) [[unlikely]]
            counter = &enter(loop, cell);
        count(loop, *counter, events);
        return counter->name;
    }

    /// More events of the line that the last retained one of the slot was for.
    void use_again(Loop& loop, unsigned slot, std::uint64_t events) {
        Counter& counter = loop[names_by_slot_[slot]];
        if (counter.name != names_by_slot_[slot]) [[unlikely]] {
            names_by_slot_[slot] = use(loop, lines_by_slot_[slot], events);
        } else {
            count(loop, counter, events);
        }
    }

    /// How many of the first eight marks are redundant ones of the slot, without a branch for each.
    static unsigned repeats_of(std::uint64_t slot, std::span<const std::uint8_t> marks) {
        constexpr std::uint64_t each = 0x0101010101010101;
        std::uint64_t eight = each * filter_mark::retained;
        if (marks.size() >= sizeof(eight)) [[likely]]
            std::memcpy(&eight, marks.data(), sizeof(eight));
        else
            std::memcpy(&eight, marks.data(), marks.size());
        if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
        static_assert(filter_mark::retained == 0x40 && filter_mark::stores == 0x80 && filter_mark::fetches == 0xc0);
        const std::uint64_t retained = eight & ~(eight >> 1) & each * filter_mark::retained;
        const std::uint64_t others = ((eight ^ each * slot) & each * filter_mark::slot) | retained;
        return static_cast<unsigned>(std::countr_zero(others)) / 8;
    }

    void count(Loop& loop, Counter& counter, std::uint64_t events) {
        loop.use(counter);
        counter.held += events;
        if (counter.held >= full_) [[unlikely]]
            overflow(counter);
    }

    Counter& enter(Loop& loop, Cell& cell) {
        Counter& counter = loop.victim();
        swap_out(counter);
        loop.give(counter, cell);
        return counter;
    }

    /// A counter that holds 0 gives no record.
    void swap_out(const Counter& counter) {
        if (counter.held == 0) return;
        ++swapouts_;
        counter.cell->count += counter.held;
    }

    /// A full counter is swapped out at once and keeps its key.
    [[gnu::noinline]] void overflow(Counter& counter) {
        const std::uint64_t records = counter.held / full_;
        swapouts_ += records;
        counter.cell->count += records * full_;
        counter.held -= records * full_;
    }

    void write_timeless(std::uint64_t records, Injector& injector) {
        if (records == 0) return;
        ring_.write_all(records);
        injector.write_past(records);
    }

    KeyMap keys_;
    std::uint32_t unit_, span_;
    std::uint64_t full_;
    Numbered counters_;
    std::map<std::uint32_t, PagedArray<Cell>> cells_of_;  ///< per function
    PagedArray<Cell>* cells_ = nullptr;
    std::array<Address, FilterShape::most_line_slots> lines_by_slot_{};
    std::array<CounterName, FilterShape::most_line_slots> names_by_slot_;  ///< of their counters, if still current
};

template <bool by_recency>
std::unique_ptr<CounterBank> make_bank(const MonitorSpec& spec, Tick cycle) {
    if (spec.counters <= std::numeric_limits<std::uint16_t>::max() + 1U)
        return std::make_unique<SummedBank<by_recency, std::uint16_t>>(spec, cycle);
    return std::make_unique<SummedBank<by_recency, std::uint32_t>>(spec, cycle);
}

}  // namespace

std::unique_ptr<CounterBank> make_summed_bank(const MonitorSpec& spec, Tick cycle) {
    const bool fully_associative = spec.ways == 0 || spec.ways == spec.counters;
    if (spec.is_dynamic() || !fully_associative || !RingBuffer::timeless(spec.ring)) return nullptr;
    if (spec.eviction == Eviction::lru) return make_bank<true>(spec, cycle);
    if (spec.eviction == Eviction::fifo) return make_bank<false>(spec, cycle);
    return nullptr;
}

}  // namespace cachetally

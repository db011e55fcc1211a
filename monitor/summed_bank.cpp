// SummedBank: LRU and FIFO counters in a table of all keys, where only the number of records matters.
#include <algorithm>
#include <bit>
#include <map>

#include "monitor/granularity.hpp"
#include "monitor/paged_counts.hpp"
#include "monitor/counter_bank.hpp"

namespace cachetally {
namespace {

/// What is kept of a key.
struct Cell {
    std::uint64_t mark = 0;   ///< position in the log of its last use (FIFO: of its arrival) that is known; 0: none
    std::uint64_t count = 0;  ///< events of the phase
    std::uint64_t base = 0;   ///< of these, those that are in records: its counter holds the difference

    std::uint64_t held() const { return count - base; }
};

/// A log of uses (FIFO: of arrivals) tells who has a counter: the keys whose mark is not before the log's begin. The
/// victim is the first entry that is still its cell's mark.
template <bool by_recency>
class SummedBank final : public CounterBank {
public:
    SummedBank(const MonitorSpec& spec, Tick cycle)
        : CounterBank(spec.ring, cycle),
          keys_(spec),
          unit_(spec.unit()),
          span_(spec.units_per_key()),
          counters_(spec.counters),
          full_(spec.full()),
          log_(std::bit_ceil(2 * (std::size_t{spec.counters} + most_at_once))),
          mask_(log_.size() - 1) {
        select(no_function);
    }

    void add(Address address, std::uint64_t count, Tick time, Injector& injector) override {
        const std::uint64_t before = swapouts_;
        make_room_in_log();
        use((*cells_)[keys_.key(address)], count);
        write_each(swapouts_ - before, time, injector);
    }

    void add_all(std::span<const BlockEvent> events, Injector& injector) override {
        const std::uint64_t before = swapouts_;
        for (; !events.empty(); events = events.subspan(std::min(events.size(), most_at_once))) {
            make_room_in_log();
            const auto some = events.first(std::min(events.size(), most_at_once));
            if (keys_.units_per_key() == 1) {
                use_all(some, [this](Address address) { return keys_.unit(address); });
            } else {
                use_all(some, [this](Address address) { return keys_.key(address); });
            }
        }
        if (swapouts_ == before) return;
        ring_.write_all(swapouts_ - before);
        injector.write_past(swapouts_ - before);
    }

    void flush(Tick time, Injector& injector) override {
        const std::uint64_t before = swapouts_;
        read_out();
        write_each(swapouts_ - before, time, injector);
    }

    void read_out() override {
        swapouts_ += resident_counters();
        begin_ = end_;
        taken_ = 0;
    }

    void select(std::uint32_t function) override { cells_ = &cells_of_[function]; }

    void take(std::vector<HistogramRow>& rows, std::uint32_t phase) override {
        for (auto& [function, cells] : cells_of_) {
            cells.each_used([&, name = function](std::uint64_t first, PagedArray<Cell>::Elements& elements) {
                for (std::uint64_t i = 0; i < elements.size(); ++i)
                    if (elements[i].count != 0)
                        rows.push_back({(first + i) * span_ * unit_, span_, phase, name, elements[i].count});
                elements.fill({});
            });
        }
    }

    std::uint64_t resident_events() const override {
        std::uint64_t events = 0;
        each_resident([&](const Cell& cell) { events += cell.held(); });
        return events;
    }
    std::uint32_t resident_counters() const override {
        std::uint32_t counters = 0;
        each_resident([&](const Cell& cell) { counters += cell.held() != 0 ? 1 : 0; });
        return counters;
    }

private:
    static constexpr std::size_t most_at_once = 512;

    bool is_current(std::uint64_t position) const { return log_[position & mask_]->mark == position; }

    template <class Visit>
    void each_resident(Visit visit) const {
        for (std::uint64_t position = begin_; position != end_; ++position)
            if (is_current(position)) visit(*log_[position & mask_]);
    }

    template <class Key>
    void use_all(std::span<const BlockEvent> events, Key key_of) {
        PagedArray<Cell>& cells = *cells_;
        for (std::size_t i = 0; i < events.size();) {
            const std::uint64_t key = key_of(events[i].block());
            std::uint64_t count = 1;
            for (++i; i < events.size() && key_of(events[i].block()) == key; ++i) ++count;
            use(cells[key], count);
        }
    }

    void use(Cell& cell, std::uint64_t count) {
        cell.count += count;
        const bool held = cell.mark >= begin_;
        if (by_recency || !held) append(cell);
        if (!held) [[unlikely]]
            enter(cell, count);
        if (cell.held() >= full_) [[unlikely]]
            overflow(cell);
    }

    void append(Cell& cell) {
        cell.mark = end_;
        log_[end_++ & mask_] = &cell;
    }

    /// A key gets a counter, for which another one's may have to make room.
    void enter(Cell& cell, std::uint64_t count) {
        cell.base = cell.count - count;
        if (taken_ < counters_) {
            ++taken_;
            return;
        }
        while (!is_current(begin_)) ++begin_;
        swapouts_ += log_[begin_++ & mask_]->held() != 0 ? 1 : 0;
    }

    /// A full counter is swapped out at once and keeps its key.
    [[gnu::noinline]] void overflow(Cell& cell) {
        const std::uint64_t records = cell.held() / full_;
        swapouts_ += records;
        cell.base += records * full_;
    }

    /// Appends what is current once more where the log is too full; each entry is read before its place is written.
    void make_room_in_log() {
        if (end_ - begin_ + most_at_once <= log_.size()) [[likely]]
            return;
        for (const std::uint64_t stop = end_; begin_ != stop; ++begin_)
            if (is_current(begin_)) append(*log_[begin_ & mask_]);
    }

    void write_each(std::uint64_t records, Tick time, Injector& injector) {
        for (; records > 0; --records) ring_.write(time, injector);
    }

    KeyMap keys_;
    std::uint32_t unit_, span_, counters_;
    std::uint64_t full_;
    std::map<std::uint32_t, PagedArray<Cell>> cells_of_;  ///< per function
    PagedArray<Cell>* cells_ = nullptr;
    std::vector<Cell*> log_;
    std::uint64_t mask_;
    std::uint64_t begin_ = 1, end_ = 1;  ///< positions in the log
    std::uint32_t taken_ = 0;            ///< counters that have a key
};

}  // namespace

std::unique_ptr<CounterBank> make_summed_bank(const MonitorSpec& spec, Tick cycle) {
    const bool fully_associative = spec.ways == 0 || spec.ways == spec.counters;
    if (spec.is_dynamic() || !fully_associative || !RingBuffer::timeless(spec.ring)) return nullptr;
    if (spec.eviction == Eviction::lru) return std::make_unique<SummedBank<true>>(spec, cycle);
    if (spec.eviction == Eviction::fifo) return std::make_unique<SummedBank<false>>(spec, cycle);
    return nullptr;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// How a sweep follows many numbers of counters at once: by recency (LRU), by residency (FIFO), or one by one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "monitor/counter_array.hpp"
#include "monitor/granularity.hpp"
#include "monitor/paged_counts.hpp"
#include "monitor/record_sums.hpp"

namespace cachetally {

/// What a pass keeps per key. Recency: position of the key's last use in the log; residency: one bit per number of
/// counters, set where it holds the key. Cells live in a PagedArray, never move, and begin as 0.
using PassCell = std::uint64_t;

/// LRU counters of any number from one log of uses: with C counters the C keys used last are resident, that is, those
/// whose last use is not before the C-th last of distinct keys. That border is kept per C and moves forward only.
class RecencyPass {
public:
    explicit RecencyPass(std::span<const std::uint32_t> counters);

    void use(PassCell& cell) {
        if (&cell == top_) return;
        if (end_ - sizes_.back().border == log_.size()) [[unlikely]]
            compact();
        const std::uint64_t before = cell;
        if (before >= sizes_.back().border) current_[before >> 6 & word_mask_] &= ~(std::uint64_t{1} << (before & 63));
        append(cell);
        top_ = &cell;
        if (before <= sizes_.front().border) cross_borders(before);
    }

    void flush();

    /// Swap-outs in the order of the counters given.
    std::vector<std::uint64_t> swapouts() const;

private:
    struct Size {
        std::uint32_t counters = 0;
        std::uint32_t taken = 0;
        std::uint64_t border = 1;  ///< position of the least recent resident key's last use
        std::uint64_t swapouts = 0;
        std::size_t place = 0;  ///< in the list given
    };

    /// The first position, from one on, that is a key's last use; there is one.
    std::uint64_t next_current(std::uint64_t position) const {
        std::uint64_t word = current_[position >> 6 & word_mask_] >> (position & 63);
        while (word == 0) {
            position = (position | 63) + 1;
            word = current_[position >> 6 & word_mask_];
        }
        return position + static_cast<unsigned>(std::countr_zero(word));
    }
    void append(PassCell& cell) {
        log_[end_ & mask_] = &cell;
        current_[end_ >> 6 & word_mask_] |= std::uint64_t{1} << (end_ & 63);
        cell = end_++;
    }
    [[gnu::noinline]] void cross_borders(std::uint64_t before);
    [[gnu::noinline]] void compact();

    std::vector<Size> sizes_;  ///< ascending counters: descending borders
    std::vector<PassCell*> log_;
    std::vector<std::uint64_t> current_;  ///< a bit for each position from the last border on: it is a key's last use
    std::uint64_t mask_, word_mask_;
    std::uint64_t end_ = 1;  ///< 0 in a cell: never used
    PassCell* top_ = nullptr;
};

/// The units used last, whose uses a RecencyPass need not see at once: as long as no other unit is used, their
/// keys stay resident with any number of counters of at least the window's size, and only their order changes. The
/// order is put right when another unit comes.
class UseWindow {
public:
    static constexpr std::uint32_t largest = 4;

    explicit UseWindow(std::uint32_t fewest_counters) : size_(std::min(fewest_counters, largest)) {}

    /// True where the use of a unit is kept for later.
    bool keep(std::uint64_t unit) {
        for (std::uint32_t i = 0; i < filled_; ++i) {
            if (uses_[i].unit != unit) continue;
            const Use use = uses_[i];
            for (; i > 0; --i) uses_[i] = uses_[i - 1];
            uses_[0] = use;
            return true;
        }
        return false;
    }

    /// Another unit: reports what is out of order, then it. report(unit).
    template <class Report>
    void enter(std::uint64_t unit, Report report) {
        std::uint64_t latest = 0;
        for (std::uint32_t i = filled_; i-- > 0;) {
            if (uses_[i].reported < latest) {
                report(uses_[i].unit);
                uses_[i].reported = ++now_;
            }
            latest = uses_[i].reported;
        }
        if (filled_ < size_) ++filled_;
        for (std::uint32_t i = filled_ - 1; i > 0; --i) uses_[i] = uses_[i - 1];
        report(unit);
        uses_[0] = {unit, ++now_};
    }

    void forget() { filled_ = 0; }

private:
    struct Use {
        std::uint64_t unit = 0;
        std::uint64_t reported = 0;  ///< when
    };
    std::uint32_t size_;
    std::uint32_t filled_ = 0;
    std::array<Use, largest> uses_;  ///< the last one first
    std::uint64_t now_ = 0;
};

/// FIFO counters of several numbers, at most 64: a use of a resident key changes nothing.
class ResidencyPass {
public:
    explicit ResidencyPass(std::span<const std::uint32_t> counters);

    void use(PassCell& cell) {
        if (cell != all_) [[unlikely]]
            insert(cell);
    }

    void flush();
    std::vector<std::uint64_t> swapouts() const;

private:
    struct Size {
        std::vector<PassCell*> queue;
        std::uint32_t counters = 0;
        std::uint32_t next = 0;  ///< the oldest, once the queue is full
        std::uint64_t swapouts = 0;
    };

    [[gnu::noinline]] void insert(PassCell& cell);

    std::vector<Size> sizes_;
    PassCell all_;
};

/// Events of a stretch with the same unit.
struct UnitRun {
    std::uint64_t unit = 0;
    std::uint64_t count = 0;
};

/// Counters of any kind, an array per number, fed in batches so that each array stays in the processor's cache.
class ArrayPass {
public:
    /// `spec.counters` is replaced by each of `counters`.
    ArrayPass(const MonitorSpec& spec, std::span<const std::uint32_t> counters, unsigned copy);

    void add(std::span<const UnitRun> runs);
    void flush();
    std::vector<std::uint64_t> swapouts() const;

    /// Dynamic granularity: the sum of all records of one array. Empties it.
    Histogram take_histogram(std::size_t array);

private:
    struct Array {
        std::unique_ptr<CounterArray> counters;
        RecordSums sums;
        std::uint64_t swapouts = 0;
    };

    void take(Array& array);

    bool dynamic_;
    std::uint32_t unit_;
    KeyMap keys_;
    std::vector<Array> arrays_;
    std::vector<UnitRun> key_runs_;
    std::vector<SwapOut> swapped_;
};

/// A pass over cells: the cells of one granularity, one eviction policy and all numbers of counters.
struct CellGroup {
    explicit CellGroup(KeyMap map) : keys(map) {}

    KeyMap keys;
    PagedArray<PassCell> cells;
    std::optional<RecencyPass> recency;
    std::optional<ResidencyPass> residency;
    std::optional<ArrayPass> arrays;

    void flush() {
        if (recency) recency->flush();
        if (residency) residency->flush();
        if (arrays) arrays->flush();
    }
    std::vector<std::uint64_t> swapouts() const {
        return recency ? recency->swapouts() : residency ? residency->swapouts() : arrays->swapouts();
    }
};

/// The units used lately, with their counts and cells found: consecutive references alternate between few lines.
class RecentUnits {
public:
    explicit RecentUnits(std::size_t cells) : cells_per_unit_(cells), cells_(units * cells) { forget(); }

    struct Entry {
        std::uint64_t unit = 0;
        std::uint64_t* count = nullptr;  ///< null: unused
    };
    static std::size_t place(std::uint64_t unit) { return (unit * 0x9e3779b97f4a7c15U) >> (64 - unit_bits); }
    Entry& entry(std::size_t place) { return entries_[place]; }
    PassCell** cells(std::size_t place) { return cells_.data() + place * cells_per_unit_; }
    void forget() { entries_.fill({}); }

private:
    static constexpr unsigned unit_bits = 10;
    static constexpr std::size_t units = std::size_t{1} << unit_bits;
    std::size_t cells_per_unit_;
    std::array<Entry, units> entries_;
    std::vector<PassCell*> cells_;
};

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/sweep_passes.hpp"

#include <algorithm>
#include <bit>

namespace cachetally {

RecencyPass::RecencyPass(std::span<const std::uint32_t> counters) {
    for (std::size_t place = 0; place < counters.size(); ++place)
        sizes_.push_back({.counters = counters[place], .place = place});
    std::ranges::stable_sort(sizes_, {}, &Size::counters);
    log_.resize(std::bit_ceil(std::max<std::uint64_t>(std::uint64_t{sizes_.back().counters} * 8, 1024)));
    mask_ = log_.size() - 1;
    current_.resize(log_.size() / 64);
    word_mask_ = current_.size() - 1;
}

/// A use of a key whose use before lies at or behind the border of the smallest number of counters.
void RecencyPass::cross_borders(std::uint64_t before) {
    for (Size& size : sizes_) {
        if (before > size.border) return;
        if (before < size.border) {  // the key was not resident
            if (size.taken < size.counters) {
                ++size.taken;
                continue;
            }
            ++size.swapouts;
            ++size.border;
        }
        size.border = next_current(size.border);
    }
}

/// Appends what is resident with the largest number of counters once more; each entry is read before its place is
/// written.
void RecencyPass::compact() {
    const std::uint64_t stop = end_;
    auto lower = sizes_.rbegin();
    for (std::uint64_t position = next_current(sizes_.back().border); position < stop;
         position = next_current(position + 1)) {
        for (; lower != sizes_.rend() && lower->border == position; ++lower) lower->border = end_;
        PassCell& cell = *log_[position & mask_];
        current_[position >> 6 & word_mask_] &= ~(std::uint64_t{1} << (position & 63));
        append(cell);
    }
}

void RecencyPass::flush() {
    for (Size& size : sizes_) {
        size.swapouts += size.taken;
        size.taken = 0;
        size.border = end_;
    }
    top_ = nullptr;
}

std::vector<std::uint64_t> RecencyPass::swapouts() const {
    std::vector<std::uint64_t> numbers(sizes_.size());
    for (const Size& size : sizes_) numbers[size.place] = size.swapouts;
    return numbers;
}

ResidencyPass::ResidencyPass(std::span<const std::uint32_t> counters)
    : sizes_(counters.size()), all_(~PassCell{0} >> (64 - counters.size())) {
    for (std::size_t i = 0; i < counters.size(); ++i) {
        sizes_[i].counters = counters[i];
        sizes_[i].queue.reserve(counters[i]);
    }
}

void ResidencyPass::insert(PassCell& cell) {
    PassCell bit = 1;
    for (Size& size : sizes_) {
        if ((cell & bit) == 0) {
            if (size.queue.size() < size.counters) {
                size.queue.push_back(&cell);
            } else {
                PassCell*& oldest = size.queue[size.next];
                *oldest &= ~bit;
                oldest = &cell;
                size.next = size.next + 1 == size.counters ? 0 : size.next + 1;
                ++size.swapouts;
            }
        }
        bit <<= 1;
    }
    cell = all_;
}

void ResidencyPass::flush() {
    for (Size& size : sizes_) {
        for (PassCell* cell : size.queue) *cell = 0;
        size.swapouts += size.queue.size();
        size.queue.clear();
        size.next = 0;
    }
}

std::vector<std::uint64_t> ResidencyPass::swapouts() const {
    std::vector<std::uint64_t> numbers;
    for (const Size& size : sizes_) numbers.push_back(size.swapouts);
    return numbers;
}

ArrayPass::ArrayPass(const MonitorSpec& spec, std::span<const std::uint32_t> counters, unsigned copy)
    : dynamic_(spec.is_dynamic()), unit_(spec.unit()), keys_(spec) {
    for (const std::uint32_t number : counters) {
        MonitorSpec one = spec;
        one.counters = number;
        arrays_.push_back({make_counter_array(one, copy), RecordSums(one)});
    }
}

void ArrayPass::add(std::span<const UnitRun> runs) {
    key_runs_.clear();
    for (const UnitRun& run : runs) {
        const std::uint64_t key = keys_.key_of_unit(run.unit);
        if (!key_runs_.empty() && key_runs_.back().unit == key) {
            key_runs_.back().count += run.count;
        } else {
            key_runs_.push_back({key, run.count});
        }
    }
    for (Array& array : arrays_) {
        for (const UnitRun& run : key_runs_) array.counters->add(run.unit, run.count, swapped_);
        take(array);
    }
}

void ArrayPass::flush() {
    for (Array& array : arrays_) {
        array.counters->flush(swapped_);
        take(array);
    }
}

/// Only windows need their records summed up: for fixed keys the sum is known from the exact histogram.
void ArrayPass::take(Array& array) {
    for (const SwapOut& record : swapped_) {
        array.swapouts += record.times;
        if (dynamic_) array.sums.add(record, record.times);
    }
    swapped_.clear();
}

std::vector<std::uint64_t> ArrayPass::swapouts() const {
    std::vector<std::uint64_t> numbers;
    for (const Array& array : arrays_) numbers.push_back(array.swapouts);
    return numbers;
}

Histogram ArrayPass::take_histogram(std::size_t array) {
    std::vector<HistogramRow> rows;
    arrays_[array].sums.take(rows, 0);
    return {unit_, std::move(rows)};
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/stack_distances.hpp"

namespace cachetally {

std::uint64_t StackDistances::moved_up(std::uint64_t line) {
    if (now_ + 1 == lines_.size()) give_new_times();
    std::uint64_t& time = times_[line];
    std::uint64_t distance = first_use;
    if (time == 0) {
        ++size_;
    } else {
        distance = marked_from(time) - 1;
        marks_[time / word_bits] &= ~(std::uint64_t{1} << time % word_bits);
        add(time / word_bits, ~std::uint32_t{0});
    }
    time = ++now_;
    lines_[now_] = line;
    marks_[now_ / word_bits] |= std::uint64_t{1} << now_ % word_bits;
    add(now_ / word_bits, 1);
    return distance;
}

std::uint64_t StackDistances::marked_from(std::size_t time) const {
    std::uint64_t before = 0;
    for (std::size_t word = time / word_bits; word != 0; word &= word - 1) before += sums_[word];
    const std::uint64_t earlier = marks_[time / word_bits] & ((std::uint64_t{1} << time % word_bits) - 1);
    return size_ - before - static_cast<unsigned>(std::popcount(earlier));
}

/// `change` modulo 2^32.
void StackDistances::add(std::size_t word, std::uint32_t change) {
    for (std::size_t node = word + 1; node < sums_.size(); node += node & (~node + 1)) sums_[node] += change;
}

void StackDistances::give_new_times() {
    std::size_t to = 0;
    for (std::size_t time = 1; time <= now_; ++time) {
        if ((marks_[time / word_bits] >> time % word_bits & 1) == 0) continue;
        lines_[++to] = lines_[time];
        times_[lines_[to]] = to;
    }
    now_ = to;
    const std::size_t words = std::bit_ceil(2 * to / word_bits + first_words);
    lines_.resize(words * word_bits);
    marks_.assign(words, 0);
    sums_.assign(words + 1, 0);
    for (std::size_t time = 1; time <= now_; ++time) marks_[time / word_bits] |= std::uint64_t{1} << time % word_bits;
    for (std::size_t word = 0; word < words; ++word) add(word, static_cast<std::uint32_t>(std::popcount(marks_[word])));
}

}  // namespace cachetally

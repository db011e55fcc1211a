// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/causes/line_stack.hpp"

namespace cachetally {

void LineStack::move_up(std::uint32_t number) {
    Line& line = lines_[number];
    if (!is_near(line)) {
        if (near_ < most_near_) {
            ++near_;
        } else {
            far_ = last_near();
            if (!keeps_far_) lines_[log_[far_]].place = 0;
        }
    }
    if (line.place != 0) log_[line.place] = gap;
    line.place = static_cast<std::uint32_t>(log_.size());
    log_.push_back(number);
    if (log_.size() > most_places_) close_gaps();
}

void LineStack::remove(std::uint32_t number) {
    Line& line = lines_[number];
    if (line.place == 0) return;
    const bool was_near = is_near(line);
    log_[line.place] = gap;
    line.place = 0;
    if (!was_near) return;
    const std::uint32_t next = first_far();
    if (next == 0) {
        --near_;
    } else {
        far_ = next - 1;
    }
}

/// The gap's ends are noted, as a line that comes and goes would have it crossed each time.
std::uint32_t LineStack::cross_gap(std::uint32_t from, int step) {
    std::uint32_t place = from;
    while ((log_[place] & gap) != 0) place += step * static_cast<int>((log_[place] & ~gap) + 1);
    if (place != from) {
        const std::uint32_t other_end = place - step;
        log_[from] = log_[other_end] = gap | (step > 0 ? other_end - from : from - other_end);
    }
    return place;
}

void LineStack::close_gaps() {
    std::uint32_t to = 1, border = 0;
    for (std::uint32_t from = keeps_far_ ? 1 : far_ + 1; from < log_.size(); ++from) {
        if ((log_[from] & gap) != 0) continue;
        if (from <= far_) border = to;
        lines_[log_[from]].place = to;
        log_[to++] = log_[from];
    }
    far_ = border;
    log_.resize(to);
    most_places_ = 4096 + 3 * std::size_t{to};
}

}  // namespace cachetally

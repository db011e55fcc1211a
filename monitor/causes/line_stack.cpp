#include "monitor/causes/line_stack.hpp"

namespace cachetally {

void LineStack::move_up(std::uint32_t number) {
    if (lines_[number].stacked) unlink(number);
    Line& line = lines_[number];
    if (!line.near && near_ == most_near_) {  // the border's line is no longer near
        const std::uint32_t newer = border_ == none ? none : lines_[border_].newer;
        if (border_ != none) lines_[border_].near = false;
        border_ = newer;
        --near_;
    }
    if (!line.near) ++near_;
    line.newer = none;
    line.older = newest_;
    line.near = line.stacked = true;
    if (newest_ != none) lines_[newest_].newer = number;
    newest_ = number;
    if (border_ == none) border_ = number;
}

void LineStack::remove(std::uint32_t number) {
    Line& line = lines_[number];
    if (!line.stacked) return;
    const bool was_near = line.near;
    unlink(number);
    line.stacked = line.near = false;
    if (!was_near) return;
    const std::uint32_t next = border_ == none ? newest_ : lines_[border_].older;
    --near_;
    if (next == none) return;
    lines_[next].near = true;
    border_ = next;
    ++near_;
}

void LineStack::unlink(std::uint32_t number) {
    const Line& line = lines_[number];
    if (border_ == number) border_ = line.newer;
    if (line.newer != none) {
        lines_[line.newer].older = line.older;
    } else {
        newest_ = line.older;
    }
    if (line.older != none) lines_[line.older].newer = line.newer;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/control.hpp"

#include <algorithm>

namespace cachetally {

MonitorControl::MonitorControl(const MonitorSpec& spec)
    : barriers_(spec.barriers), functions_(spec.functions), enabled_(spec.start) {}

bool MonitorControl::swaps_out(const Control& control) const {
    switch (control.kind) {
        case Control::Kind::barrier: return barriers_;
        case Control::Kind::enter_function: return functions_;
        case Control::Kind::leave_function: return functions_ && !stack_.empty();
        default: return false;
    }
}

void MonitorControl::apply(const Control& control) {
    switch (control.kind) {
        case Control::Kind::barrier: phase_ += barriers_ ? 1 : 0; break;
        case Control::Kind::monitor_on: enabled_ = true; break;
        case Control::Kind::monitor_off: enabled_ = false; break;
        case Control::Kind::count_on:
        case Control::Kind::count_off: counting_.follow(control); break;
        case Control::Kind::enter_function:
            if (functions_) stack_.push_back(control.argument);
            break;
        case Control::Kind::leave_function:
            if (!stack_.empty()) stack_.pop_back();
            break;
        case Control::Kind::none:
        case Control::Kind::meet:
        case Control::Kind::end: break;
    }
}

EventFilter::EventFilter(const MonitorSpec& spec)
    : all_(spec.ranges.empty() && spec.cores.empty()), ranges_(spec.ranges), cores_(spec.cores) {}

bool EventFilter::check(Address address, std::uint8_t core) const {
    const auto holds = [&](const AddressRange& range) { return range.contains(address); };
    return (ranges_.empty() || std::ranges::any_of(ranges_, holds)) &&
           (cores_.empty() || std::ranges::find(cores_, core) != cores_.end());
}

bool EventFilter::keeps_blocks_whole(std::uint32_t bytes) const {
    return std::ranges::all_of(
        ranges_, [&](const AddressRange& range) { return range.from % bytes == 0 && range.to % bytes == 0; });
}

}  // namespace cachetally

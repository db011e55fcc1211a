// SPDX-License-Identifier: BSD-3-Clause
// MonitorControl: the switch, the phase and the function of a monitor, as the program's controls set them.
#pragma once

#include <vector>

#include "cachetally/listener.hpp"
#include "monitor/histogram.hpp"
#include "monitor/spec.hpp"

namespace cachetally {

/// Schulz et al. 2002, section 3.4: monitor barriers, separation of functions, and the switch.
class MonitorControl {
public:
    explicit MonitorControl(const MonitorSpec& spec);

    bool enabled() const { return enabled_ && counting_.is_on(); }
    std::uint32_t phase() const { return phase_; }
    std::uint32_t function() const { return stack_.empty() ? no_function : stack_.back(); }

    /// True where all counters are to be swapped out before this control is applied.
    bool swaps_out(const Control& control) const;
    void apply(const Control& control);

    /// Applies a control. Before that, if all counters are to be swapped out, calls swap_out(whether a phase ends).
    /// Returns whether it was called.
    template <class SwapOut>
    bool follow(const Control& control, SwapOut swap_out) {
        const bool swaps = swaps_out(control);
        if (swaps) swap_out(control.kind == Control::Kind::barrier);
        apply(control);
        return swaps;
    }

private:
    bool barriers_;
    bool functions_;
    bool enabled_;       ///< by the program
    Counting counting_;  ///< by the host
    std::uint32_t phase_ = 0;
    std::vector<std::uint32_t> stack_;
};

/// The part of the filter that looks at single events: address ranges and cores (kinds are chosen by the link).
class EventFilter {
public:
    explicit EventFilter(const MonitorSpec& spec);

    bool passes_all() const { return all_; }
    bool passes(Address address, std::uint8_t core) const { return all_ || check(address, core); }

    /// True where all events of an aligned block of so many bytes (by one core) pass, or none.
    bool keeps_blocks_whole(std::uint32_t bytes) const;

private:
    [[gnu::noinline]] bool check(Address address, std::uint8_t core) const;

    bool all_;
    std::vector<AddressRange> ranges_;
    std::vector<std::uint32_t> cores_;
};

}  // namespace cachetally

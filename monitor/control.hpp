// SPDX-License-Identifier: BSD-3-Clause
// What of the events counts, and when: the filter, the switch, the phase and the function of a monitor, as the
// program's controls set them; and what listeners have in common that count as monitors do.
#pragma once

#include <vector>

#include "cachetally/listener.hpp"
#include "monitor/granularity.hpp"
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

/// Counts the events that a monitor with its spec counts (kinds, ranges, cores, switch), and follows barriers and
/// functions as that does. An author provides count() and end_phase().
class PhasedListener : public LinkListener {
public:
    std::uint32_t kinds() const final { return kinds_; }
    bool accepts_merged(std::uint32_t line_bytes) const override {
        return keys_.keeps_block_whole(line_bytes) && filter_.keeps_blocks_whole(line_bytes);
    }
    void on_event(const LinkEvent& event, Injector& /*injector*/) final {
        if (control_.enabled() && filter_.passes(event.address, event.core)) count(event);
    }
    void on_control(const Control& control, Tick /*time*/, Injector& /*injector*/) final {
        const bool swaps = control_.follow(control, [&](bool phase_ends) {
            if (phase_ends) end_phase(phase());
        });
        if (swaps) select(control_.function());
    }

protected:
    /// The spec's line must be filled in; `keys`: what is not told apart within one of them.
    PhasedListener(const MonitorSpec& spec, const KeyMap& keys)
        : kinds_(spec.kinds), keys_(keys), control_(spec), filter_(spec) {}

    /// An event that counts; `event.count` of them.
    virtual void count(const LinkEvent& event) = 0;
    /// A barrier of the program ends a phase. The last one ends with the run, when nobody calls this.
    virtual void end_phase(std::uint32_t phase) = 0;
    /// From now on the program is in this function; with `functions=on` only.
    virtual void select(std::uint32_t /*function*/) {}

    /// The phase at hand, from 0.
    std::uint32_t phase() const { return control_.phase(); }
    const KeyMap& keys() const { return keys_; }

private:
    std::uint32_t kinds_;
    KeyMap keys_;
    MonitorControl control_;
    EventFilter filter_;
};

}  // namespace cachetally

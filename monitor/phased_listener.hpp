// SPDX-License-Identifier: BSD-3-Clause
// PhasedListener: what listeners have in common that count events as monitors do, phase by phase.
#pragma once

#include "cachetally/listener.hpp"
#include "monitor/control.hpp"
#include "monitor/granularity.hpp"

namespace cachetally {

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

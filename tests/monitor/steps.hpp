// SPDX-License-Identifier: BSD-3-Clause
// What monitors are told in tests, and what they make of it.
#pragma once

#include <vector>

#include "monitor/exact_histogram.hpp"
#include "monitor/monitor.hpp"

namespace cachetally {

inline MonitorSpec plain(std::uint32_t counters) {
    MonitorSpec spec;
    spec.link = "core-L1";
    spec.line = 64;
    spec.counters = counters;
    return spec;
}

/// One thing that a monitor is told.
struct Step {
    LinkEvent event;
    Control control;
};

inline Step at(Address address, EventKind kind = EventKind::load) { return {{.address = address, .kind = kind}, {}}; }
inline Step notify(Control::Kind kind, std::uint32_t argument = 0) { return {{}, {kind, argument}}; }

inline void play(LinkListener& listener, const std::vector<Step>& steps, Injector& injector) {
    Tick time = 0;
    for (const Step& step : steps) {
        time += 500;
        LinkEvent event = step.event;
        event.time = time;
        if (step.control.kind != Control::Kind::none) {
            listener.on_control(step.control, time, injector);
        } else if ((listener.kinds() & bit(event.kind)) != 0) {
            listener.on_event(event, injector);
        }
    }
}

inline MonitorResult run(const MonitorSpec& spec, const std::vector<Step>& steps) {
    Monitor monitor(spec);
    Injector injector;
    play(monitor, steps, injector);
    monitor.finish();
    return monitor.result();
}

inline Histogram exact(const MonitorSpec& spec, const std::vector<Step>& steps) {
    ExactHistogram listener(spec);
    Injector injector;
    play(listener, steps, injector);
    return listener.finish();
}

using Rows = std::vector<HistogramRow>;
inline Rows rows(const Histogram& histogram) { return {histogram.rows().begin(), histogram.rows().end()}; }

}  // namespace cachetally

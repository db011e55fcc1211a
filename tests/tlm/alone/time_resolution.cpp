// SPDX-License-Identifier: BSD-3-Clause
// A program that makes the configuration of its monitor first, and settles SystemC's time resolution then. Alone: the
// resolution is settled once in a process, by the first time that is not 0.
#include <cstdio>

#include "cachetally/tlm_monitor.hpp"

int sc_main(int, char**) {
    cachetally::TlmMonitorConfig config;
    config.settings = "counters=1,base=0x1000";
    sc_core::sc_set_time_resolution(10, sc_core::SC_PS);
    cachetally::TlmMonitor monitor("monitor", config);
    const bool settled = sc_core::sc_get_time_resolution() == sc_core::sc_time(10, sc_core::SC_PS);
    std::printf("%s\n", settled ? "10 ps" : "another resolution");
    return settled ? 0 : 1;
}

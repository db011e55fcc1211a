// SPDX-License-Identifier: BSD-3-Clause
// SystemC's time in picoseconds.
#pragma once

#include <stdexcept>
#include <systemc>

#include "cachetally/types.hpp"

namespace cachetally {

class TimeScale {
public:
    /// Throws std::runtime_error where SystemC counts in units longer than a picosecond.
    TimeScale() : units_(sc_core::sc_time(1, sc_core::SC_PS).value()) {
        if (units_ == 0)
            throw std::runtime_error(
                "SystemC counts time in units longer than 1 ps; call sc_set_time_resolution(1, SC_PS) before anything "
                "is made");
    }

    Tick ticks(const sc_core::sc_time& time) const { return time.value() / units_; }
    sc_core::sc_time time(Tick ticks) const { return sc_core::sc_time::from_value(ticks * units_); }
    Tick now() const { return ticks(sc_core::sc_time_stamp()); }

private:
    sc_dt::uint64 units_;  ///< of SystemC in a picosecond
};

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Machine files as tests write them, and all that is said about a bad one.
#pragma once

#include <string>

#include "cachetally/topology.hpp"

namespace cachetally {

/// What MachineError says about a machine file named "m", a line per error; empty where the machine is good.
inline std::string complaints(const std::string& text) {
    try {
        const Topology topology(read_machine(text, "m"));
        return "";
    } catch (const MachineError& error) {
        return error.what();
    }
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Machines with some keys set otherwise: "L2.size" = "256 KiB", "cores" = "4", "pages.walk.latency" = "10".
#pragma once

#include <yaml-cpp/yaml.h>

#include <span>
#include <string>
#include <utility>

#include "cachetally/machine.hpp"

namespace cachetally {

using MachineSetting = std::pair<std::string, std::string>;  ///< key and value

/// A machine file that is read once, and then taken with one setting after the other.
class SettableMachine {
public:
    /// `file`: for messages. Throws MachineError.
    SettableMachine(const std::string& text, std::string file);

    /// The machine with these keys set: NAME.KEY of a cache, a TLB or a memory, or keys of the file itself, further
    /// ones after points. They stay set: each call is to set the same keys. Throws MachineError.
    MachineDescription with(std::span<const MachineSetting> settings);

private:
    std::string file_, text_;
    YAML::Node root_;
};

/// What a machine file says of such a key; empty where it does not.
std::string setting_in(const std::string& text, const std::string& key);

/// Other random choices, of replacement and of pages: `seed` is added to every seed of the machine.
void add_seed(MachineDescription& machine, std::uint64_t seed);

}  // namespace cachetally

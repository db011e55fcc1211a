// SPDX-License-Identifier: BSD-3-Clause
// Machines with some keys set otherwise: "L2.size" = "256 KiB", "cores" = "4", "pages.walk.latency" = "10".
#pragma once

#include <span>
#include <string>
#include <utility>

#include "cachetally/machine.hpp"

namespace cachetally {

using MachineSetting = std::pair<std::string, std::string>;  ///< key and value

/// The machine of a machine file's text with these keys set: NAME.KEY of a cache, a TLB or a memory, or keys of the
/// file itself, further ones after points. `file`: for messages. Throws MachineError.
MachineDescription with_settings(const std::string& text, const std::string& file,
                                 std::span<const MachineSetting> settings);

/// What a machine file says of such a key; empty where it does not.
std::string setting_in(const std::string& text, const std::string& key);

/// Other random choices, of replacement and of pages: `seed` is added to every seed of the machine.
void add_seed(MachineDescription& machine, std::uint64_t seed);

}  // namespace cachetally

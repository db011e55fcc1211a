// SPDX-License-Identifier: BSD-3-Clause
// What of a machine file is fitted: keys, and the values that they may take.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cachetally/machine.hpp"

namespace cachetally {

/// A machine with one key changed.
struct FitCandidate {
    std::string value;
    MachineDescription machine;
};

/// How far from where a machine is values are tried.
enum class FitStep : std::uint8_t { coarse, fine };

/// A key that may change.
struct FitKey {
    enum class Kind : std::uint8_t {
        number,  ///< nearer by little is better
        policy,
    };
    std::string component, name;
    Kind kind = Kind::number;
    double least_gain = 0;  ///< what the error has to fall by for another value
    /// The machine's own value is among them, unless it is one that is never tried. Machines may be impossible.
    std::function<std::vector<FitCandidate>(const MachineDescription&, FitStep)> values = {};

    /// As values() has it; empty where it has not.
    std::string value_in(const MachineDescription& machine) const;
};

/// The machine with each mapping of pages that is tried, its own first.
std::vector<FitCandidate> mappings_from(const MachineDescription& machine);

/// Of the levels that loads of data pass. `as_close`: errors that differ by less do not tell policies apart.
std::vector<FitKey> fit_keys(const MachineDescription& machine, double as_close);

}  // namespace cachetally

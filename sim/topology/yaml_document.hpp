// SPDX-License-Identifier: BSD-3-Clause
// YAML text to nodes, for files that strangers may have written: bounded in size and depth, and without aliases.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <string>

#include "cachetally/machine.hpp"

namespace cachetally {

/// The most bytes that a machine file may have.
constexpr std::size_t largest_machine_file = std::size_t{1} << 20;

/// Counted from 1; the beginning of the file where yaml-cpp knows no place.
Mark mark_of(const YAML::Mark& mark);

/// The one document of a file. Throws MachineError where the text is no YAML, is larger than 1 MiB, is nested more than
/// 16 deep, or holds anchors, aliases, tags or a second document.
YAML::Node load_yaml(const std::string& text, const std::string& file);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// What of a result a figure of counts over addresses is drawn from, by the options of `cachetally figure`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/level_lines.hpp"
#include "storage/file.hpp"
#include "viewer/core/axis.hpp"
#include "viewer/figures/figure.hpp"

namespace cachetally {

/// The value of an option of the script, as in {"--level=L1"}; empty if it is not there.
std::string option_of(const FigureRequest& request, std::string_view name);
bool has_flag(const FigureRequest& request, std::string_view name);

/// Data structures with addresses, in the order of the file.
std::vector<Region> drawn_structures(const InputFile& file);

/// Where a structure lies, NAME or NAME:OFFSET:BYTES; throws StorageError for what the file does not have.
ByteRange named_range(const InputFile& file, const std::string& name);

/// Numbers of the phases that a list of numbers, ranges and names is for; throws StorageError for what the file does
/// not have.
std::vector<std::uint32_t> phases_in(const InputFile& file, const std::string& text);

std::uint32_t phases_of(const InputFile& file);

/// The levels of the option --level, or all, with the lines of the option --structure alone; those that have no
/// accesses are left out, or refused if they are named. At least one.
std::vector<LevelLines> chosen_levels(const InputFile& file, const FigureRequest& request);

/// Names of all levels that have accesses there.
std::vector<std::string> busy_levels(const InputFile& file, const FigureRequest& request);

}  // namespace cachetally

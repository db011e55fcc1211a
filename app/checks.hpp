// SPDX-License-Identifier: BSD-3-Clause
// Checks of option values that say what would be right.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/trust.hpp"

namespace cachetally::app {

/// `what` may not be empty, e.g. "the name of a file".
CLI::Validator not_empty(const std::string& what);

/// A whole number; K, M, G and T after it are powers of 1024, as in options of kernels. Nothing where it is none.
std::optional<std::uint64_t> parse_whole(std::string_view text);

/// Such a number of at least `least` and at most `most`, for CLI::Option::transform: digits are left.
CLI::Validator whole_number(std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// A number above zero.
CLI::Validator positive_number();

/// One of some words, which the help names.
CLI::Validator one_of(std::vector<std::string> words);

/// --trust, of commands that read files of ours.
void add_trust_option(CLI::App& command, Trust& trust);

/// Throws UsageError where there is no file of this name.
void require_present(const std::string& path);

}  // namespace cachetally::app

// SPDX-License-Identifier: BSD-3-Clause
// --noise of probe and validate: a name, or a recording.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "probes/recording/recorded_noise.hpp"

namespace cachetally::app {

/// A word that ends in ".h5" is a recording, all others have to be among `names`; `words`: these, as the help has them.
void add_noise_option(CLI::App& command, std::string& noise, std::vector<std::string> names, const std::string& words);

/// The name of the file; empty where `noise` is another word.
std::string noise_file(const std::string& noise);

/// The noise of that file; null where `noise` is another word. Throws UsageError where it cannot be had.
std::shared_ptr<const RecordedNoise> read_noise(const std::string& noise);

}  // namespace cachetally::app

// SPDX-License-Identifier: BSD-3-Clause
// Progress on a terminal, and interruption: what long commands share.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "cachetally/reference_source.hpp"

namespace cachetally::app {

/// From here on the first Ctrl-C (or SIGTERM) asks commands to stop and keep what is complete; a second one ends the
/// program at once.
void catch_interrupts();

/// Whether an end was asked for.
bool interrupted();

/// A callback for runs and conversions: shows a progress line on stderr where that is a terminal, and returns false
/// once an end was asked for. The line says how many references, at what rate, and where `source` or `most_references`
/// (0 = no limit) say, how much is done and what time is left. `source` must live as long as it is called.
std::function<bool(std::uint64_t references)> progress_line(const ReferenceSource& source,
                                                            std::uint64_t most_references = 0);

/// Takes the progress line away.
void clear_progress_line();

/// "12.3 M references, 45.6 M/s, 12 %, 7 s left"; `done` is a fraction, negative where it is not known.
std::string progress_text(std::uint64_t references, double seconds, double done);

}  // namespace cachetally::app

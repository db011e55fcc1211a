// SPDX-License-Identifier: BSD-3-Clause
// What `cachetally show` prints of a result file.
#pragma once

#include <optional>
#include <string>

#include "storage/file.hpp"
#include "viewer/phase_choice.hpp"

namespace cachetally {

struct ShowOptions {
    std::string level, structure, monitor;  ///< empty = all; the histogram is then of the first level
    std::string what;                       ///< accesses (default), misses, hits, missrate, writebacks
    PhaseChoice phases;
    bool all_phases = false;
    bool heat = false;  ///< the histogram as phases over addresses
    unsigned width = 80;
    bool unicode = true;
    bool json = false;
};

/// Tables and a histogram, or JSON. Throws StorageError where the file is no result file or damaged, and
/// std::invalid_argument where options name what is not in it.
std::string show(const InputFile& file, const ShowOptions& options);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Source files with the accesses and misses of their lines; and the same for KCachegrind and speedscope.
#pragma once

#include <string>
#include <vector>

#include "monitor/attribution/attribution.hpp"

namespace cachetally {

struct AnnotateOptions {
    std::string level;                 ///< whose misses decide what is worst; empty: the first that has any
    std::string file;                  ///< only files whose path ends with this name or path
    std::vector<std::string> folders;  ///< where sources are looked for by their names, too
    unsigned context = 3;              ///< lines around those with counts
    unsigned files = 5;                ///< the worst
};

/// The worst files first. Lines of sources that are not there are shown by their numbers. Throws std::invalid_argument
/// where there is no such level, file, or attribution.
std::string annotate(const Attribution& attribution, const AnnotateOptions& options);

/// Callgrind's profile format (valgrind manual, "Callgrind Format Specification"), by instruction and line. Events:
/// accesses, misses of each level, and cycles lost, 0 where they are not known.
std::string callgrind_profile(const Attribution& attribution, const std::string& program);

/// Speedscope's file format (its file-format-schema.json): a sampled profile of each level that anything missed, and of
/// cycles lost, where they are known, and accesses. Stacks are module, function, line, data structure and field.
std::string speedscope_profile(const Attribution& attribution, const std::string& program);

/// Throws std::invalid_argument where it is empty.
void require_attribution(const Attribution& attribution);

}  // namespace cachetally

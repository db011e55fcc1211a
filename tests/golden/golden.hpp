// SPDX-License-Identifier: BSD-3-Clause
// Small machines and reference strings in shorthand, and what the engine does with them as lines of text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cachetally/run.hpp"

namespace cachetally::golden {

/// One cache of `ways` ways of 64-byte lines, latency 1; `sets` sets.
CacheConfig cache(std::string name, std::string next, unsigned ways, unsigned sets = 1);

/// These caches and a memory of latency 10; the clock is 1 ns.
MachineDescription machine(std::vector<CacheConfig> caches);

/// "L40 S1000:8 F7e@3": kind, address in hexadecimal, bytes (default 4), site (default 0).
std::vector<Reference> references(std::string_view text);

struct Result {
    std::vector<std::string> events;  ///< "L1-L2 load 40", on all links in order; core and copy are left out
    HierarchyCounts counts;
    Tick end = 0;
};

/// One core makes the references in order.
Result play(const MachineDescription& machine, std::string_view text);

/// The lines of the events of one kind, each as a letter: line 0 is A, line 1 (0x40) is B, ...
std::string letters(const Result& result, std::string_view link, std::string_view kind);

/// "ABA": stores to lines A, B, A of a single cache; the victims in order, as letters.
std::string victims(const CacheConfig& cache, std::string_view accesses);

}  // namespace cachetally::golden

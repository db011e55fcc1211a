// SPDX-License-Identifier: BSD-3-Clause
// Suggestions: what might help, by why structures miss and how they are used. None has been tried.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "advice/survey.hpp"
#include "cachetally/machine.hpp"
#include "monitor/causes/miss_causes.hpp"
#include "workloads/layouts/placement.hpp"

namespace cachetally {

/// Of structs that are split, bytes.
inline constexpr std::uint64_t longest_element = 1 << 16;

/// What the user knows of structures, by name.
struct KnownStructures {
    std::map<std::string, Shape::Grid> arrays;      ///< matrices in rows
    std::map<std::string, std::uint64_t> elements;  ///< bytes of each struct in an array of them
};

/// Misses of data of one structure, and why.
struct StructureMisses {
    std::uint32_t structure = no_structure;
    std::vector<CauseCounts> causes;  ///< by cache of the machine; zeros where causes cannot be told
    std::uint64_t of(std::size_t cache) const;
};

struct Suggestion {
    StructureChange change;
    std::string text;       ///< "pad rows of 4,096 B by 64 B"
    std::size_t cache = 0;  ///< of the machine, whose misses it might reduce
};

/// Those for one structure, each once, for the first cache that it might help. `all` are the misses of each cache;
/// caches of which the structure has less than a hundredth are passed over.
std::vector<Suggestion> suggestions(const SurveyedStructure& structure, const StructureMisses& misses,
                                    const MachineDescription& machine, const std::vector<std::uint64_t>& all,
                                    const KnownStructures& known);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Advice: changes of data structures, each tried on the program's references in many layouts of its memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "advice/suggestions.hpp"
#include "cachetally/reference_source.hpp"
#include "cachetally/types.hpp"

namespace cachetally {

struct AdviceOptions {
    unsigned layouts = 32;    ///< random ones, beside that of the recording
    std::uint64_t seed = 1;   ///< of the layouts
    unsigned jobs = 1;        ///< runs at a time; the result does not depend on it
    unsigned structures = 8;  ///< for so many there are suggestions, those that miss most
    KnownStructures known;
    Tick quantum = 0;
    std::uint64_t warmup = 0;  ///< references that come first and are not counted, in no layout and with no change
    /// Opens a source of these alone; needed where there are any.
    std::function<std::unique_ptr<ReferenceSource>()> open_warmup;
    /// Asked now and then, by any thread; false ends all. Runs made, and to be made as far as is known.
    std::function<bool(std::uint64_t done, std::uint64_t all)> go_on = [](std::uint64_t, std::uint64_t) {
        return true;
    };
};

/// Of one run.
struct Measured {
    std::vector<std::uint64_t> misses;  ///< of loads, stores and fetches, by cache of the machine
    std::uint64_t cycles = 0;
    friend bool operator==(const Measured&, const Measured&) = default;
};

struct Distribution {
    std::uint64_t median = 0, least = 0, most = 0;
};
/// The median of an even number is the lower one of two. All 0 of nothing.
Distribution distribution(std::vector<std::uint64_t> values);

/// A suggestion and what became of it.
struct Trial {
    std::string structure, text;
    std::size_t cache = 0;        ///< whose misses decide
    std::vector<Measured> after;  ///< by layout, the recorded one first; ends early where it is of no use
    unsigned better = 0;          ///< layouts in which it is
    bool helps = false;
};

struct Advice {
    struct Structure {
        std::string name;
        std::uint64_t bytes = 0;
        StructureMisses misses;  ///< as recorded
    };
    std::vector<std::string> caches;
    std::vector<Measured> before;       ///< by layout, the recorded one first; as many as any trial has
    std::vector<Structure> structures;  ///< that can be changed, the worst first
    std::vector<Trial> trials;          ///< by structure; for each, what helps most first
    std::vector<Trial> together;        ///< none or one: what helps most of each structure at once
    unsigned layouts = 0;
    std::uint64_t seed = 0;
};

/// Whether one layout is better after a change: at least a hundredth of the misses of the cache are gone, and it takes
/// no more cycles.
bool is_better(const Measured& before, const Measured& after, std::size_t cache);

/// A change helps if it is better in every layout. `open` opens the source anew, in any thread, though for one at a
/// time. Throws std::invalid_argument where the user knows of structures that there are none of, and std::runtime_error
/// where a run does not come to its end, or there are more streams than cores.
Advice advise(const MachineDescription& machine, const std::function<std::unique_ptr<ReferenceSource>()>& open,
              const AdviceOptions& options);

}  // namespace cachetally

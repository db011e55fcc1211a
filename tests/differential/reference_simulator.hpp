// SPDX-License-Identifier: BSD-3-Clause
// The independent, slow, obvious simulator that judges the engine; written from docs/counting.md and docs/timing.md
// alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachetally/counts.hpp"
#include "cachetally/listener.hpp"
#include "cachetally/machine.hpp"
#include "cachetally/reference.hpp"
#include "cachetally/reference_source.hpp"

namespace cachetally::differential {

/// References of one core, then a control; the last stretch of a core ends with Control::Kind::end.
struct Stretch {
    std::vector<Reference> references;
    Control control{Control::Kind::end, 0};
};
using CoreProgram = std::vector<Stretch>;

struct ObservedEvent {
    std::string link;
    unsigned copy = 0;
    EventKind kind = EventKind::load;
    Address address = 0;
    unsigned core = 0;
    std::uint32_t site = 0;
    Address by = 0;  ///< of an eviction: the line that takes the victim's place

    friend bool operator==(const ObservedEvent&, const ObservedEvent&) = default;
};

/// "L1D-L2[0] load 0x1000 core 0 site 3"
std::string to_text(const ObservedEvent& event);

/// A listener on one copy of a link that sends a record of 16 bytes on every n-th load or store that it sees there.
struct Records {
    std::string link;
    unsigned copy = 0;
    unsigned every = 1;
    bool bypass = false;  ///< straight to memory
    Address base = 0;     ///< physical address of the first record
};

struct Outcome {
    HierarchyCounts counts;  ///< caches, TLBs and memories in the order of the description
    std::vector<Tick> core_ends;
    std::vector<HierarchyCounts> phases;  ///< counts when each phase ended, from the beginning
    std::vector<ObservedEvent> events;    ///< on all links, in order
};

/// Runs one program per core (at most as many as the machine has cores). `quantum` in picoseconds.
Outcome simulate(const MachineDescription& machine, const std::vector<CoreProgram>& programs, Tick quantum,
                 const std::optional<Records>& records = {});

}  // namespace cachetally::differential

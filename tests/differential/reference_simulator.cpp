// SPDX-License-Identifier: BSD-3-Clause
// The scheduler of the reference simulator, and its front.
#include "tests/differential/reference_simulator.hpp"

#include <algorithm>
#include <sstream>

#include "tests/differential/slow_machine.hpp"

namespace cachetally::differential {
namespace {

struct Core {
    CoreProgram program;
    std::size_t stretch = 0, position = 0;
    Tick time = 0;
    bool waiting = false, over = false;
};

class Runner {
public:
    Runner(const MachineDescription& machine, const std::vector<CoreProgram>& programs, Tick quantum,
           const std::optional<Records>& records)
        : hierarchy_(machine, records), quantum_(quantum), cores_(machine.cores) {
        for (std::size_t i = 0; i < cores_.size(); ++i) {
            cores_[i].time = i;
            if (i < programs.size()) cores_[i].program = programs[i];
            cores_[i].over = cores_[i].program.empty();
        }
    }

    Outcome run() {
        while (Core* core = least_time()) {
            turn(*core);
            if (least_time() == nullptr) release();
        }
        Outcome outcome{hierarchy_.counts(), {}, phases_, hierarchy_.events()};
        outcome.phases.push_back(hierarchy_.counts());
        for (const Core& core : cores_) outcome.core_ends.push_back(core.time);
        return outcome;
    }

private:
    Core* least_time() {
        Core* least = nullptr;
        for (Core& core : cores_) {
            if (core.over || core.waiting) continue;
            if (least == nullptr || core.time < least->time) least = &core;
        }
        return least;
    }

    void turn(Core& core) {
        const Tick until = quantum_ == 0 ? core.time + 1 : (core.time / quantum_ + 1) * quantum_;
        bool made = false;
        while (quantum_ == 0 ? !made : core.time < until) {
            const Stretch& stretch = core.program[core.stretch];
            if (core.position < stretch.references.size()) {
                const auto number = static_cast<unsigned>(&core - cores_.data());
                core.time = hierarchy_.reference(number, stretch.references[core.position++], core.time);
                made = true;
                continue;
            }
            ++core.stretch;
            core.position = 0;
            if (stretch.control.kind == Control::Kind::end) core.over = true;
            if (stretch.control.kind == Control::Kind::barrier) core.waiting = ends_phase_ = true;
            if (stretch.control.kind == Control::Kind::meet) core.waiting = true;
            if (core.over || core.waiting) return;
        }
    }

    /// All cores that are not over stand at the barrier, if there are any.
    void release() {
        Tick latest = 0;
        unsigned last = 0;
        bool any = false;
        for (std::size_t i = 0; i < cores_.size(); ++i) {
            if (!cores_[i].waiting) continue;
            any = true;
            last = static_cast<unsigned>(i);
            latest = std::max(latest, cores_[i].time - i);
        }
        if (!any) return;
        if (ends_phase_) {
            phases_.push_back(hierarchy_.counts());
            hierarchy_.write_records(last, latest);
        }
        ends_phase_ = false;
        for (std::size_t i = 0; i < cores_.size(); ++i) {
            if (!cores_[i].waiting) continue;
            cores_[i].waiting = false;
            cores_[i].time = latest + i;
        }
    }

    SlowMachine hierarchy_;
    Tick quantum_;
    std::vector<Core> cores_;
    std::vector<HierarchyCounts> phases_;
    bool ends_phase_ = false;  ///< of those that wait, one is at a barrier
};

}  // namespace

std::string to_text(const ObservedEvent& event) {
    std::ostringstream text;
    text << event.link << '[' << event.copy << "] " << to_string(event.kind) << " 0x" << std::hex << event.address
         << std::dec << " core " << event.core << " site " << event.site;
    if (event.kind == EventKind::eviction) text << " by 0x" << std::hex << event.by;
    return text.str();
}

Outcome simulate(const MachineDescription& machine, const std::vector<CoreProgram>& programs, Tick quantum,
                 const std::optional<Records>& records) {
    return Runner(machine, programs, quantum, records).run();
}

}  // namespace cachetally::differential

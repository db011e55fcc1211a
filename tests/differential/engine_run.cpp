// SPDX-License-Identifier: BSD-3-Clause
// Drives the engine and compares what it did with what the reference simulator says.
#include "tests/differential/engine_run.hpp"

#include <algorithm>
#include <memory>
#include <sstream>

#include "workloads/traces/block.hpp"

namespace cachetally::differential {
namespace {

/// Where it is wished, two of three parts come filtered: out of packed blocks, as those of traces, or by a filter that
/// sees all of the stream.
class VectorSource final : public ReferenceSource {
public:
    VectorSource(const std::vector<CoreProgram>& programs, std::size_t& filtered)
        : programs_(programs), position_(programs.size(), 0), filtered_(filtered) {}
    unsigned cores() const override { return static_cast<unsigned>(programs_.size()); }
    Batch next(unsigned core) override {
        const Stretch& stretch = programs_[core].at(position_[core]++);
        if (!wish_) return {stretch.references, stretch.control};
        Reference* const copies = block_.start(stretch.references.size());
        std::ranges::copy(stretch.references, copies);
        block_.set_size(stretch.references.size());
        block_.filter(*filter_);
        if (position_[core] % 3 == 0) return {stretch.references, stretch.control};
        filtered_ += stretch.references.size();
        if (position_[core] % 3 == 1 && unpacks(stretch.references))
            return {{}, stretch.control, packed_.filtered.blocks};
        return {{}, stretch.control, block_.filtered.blocks};
    }
    void wish(const std::optional<FilterPlan>& plan) override {
        wish_ = plan;
        if (plan) filter_.emplace(*plan);
    }

private:
    bool unpacks(const std::vector<Reference>& references) {
        bytes_.clear();
        BlockEncoder().encode(references, {}, bytes_);
        BlockDecoder().decode(bytes_, packed_, wish_);
        return packed_.is_filtered;
    }

    std::optional<FilterPlan> wish_;
    std::optional<RedundancyFilter> filter_;
    std::vector<std::byte> bytes_;
    ReferenceBlock block_, packed_;
    const std::vector<CoreProgram>& programs_;
    std::vector<std::size_t> position_;
    std::size_t& filtered_;
};

/// A link's name where fills are recorded by themselves.
const std::string fills_of = "fills of ";

class Recorder final : public BatchListener {
public:
    Recorder(std::string link, unsigned copy, Driving driving, std::uint32_t kinds, EngineOutcome& result)
        : link_(std::move(link)),
          copy_(copy),
          merges_(driving == Driving::merged || driving == Driving::requests || driving == Driving::fills),
          untimed_(driving == Driving::below || driving == Driving::sited),
          kinds_(kinds),
          result_(result) {}

    std::uint32_t kinds() const override { return kinds_; }
    bool accepts_merged(std::uint32_t line_bytes) const override {
        if (merges_) result_.block_of[{link_, copy_}] = line_bytes;
        return merges_;
    }
    bool accepts_untimed() const override { return untimed_; }
    void on_event(const LinkEvent& event, Injector&) override {
        if (!merges_) {
            for (std::uint32_t i = 0; i < event.count; ++i) {
                result_.outcome.events.push_back(
                    {link_, copy_, event.kind, event.address, event.core, event.site, event.by});
            }
            return;
        }
        if (!runs_) {  // the first
            runs_ = &result_.merged[{link_, copy_}];
            const auto block = result_.block_of.find({link_, copy_});
            if (block != result_.block_of.end()) block_bytes_ = block->second;
        }
        add_to_runs(*runs_, event.address / block_bytes_ * block_bytes_, event.kind, event.core, event.count);
    }
    /// Every other copy of a link does so itself.
    bool takes_filtered() const override { return link_.size() % 2 == 0; }
    void on_filtered(const FilteredEvents& events, std::uint8_t core, Injector& injector) override {
        std::size_t retained = 0;
        for (const std::uint8_t mark : events.marks) {
            EventKind kind = mark >= 192 ? EventKind::fetch : mark >= 128 ? EventKind::store : EventKind::load;
            unsigned slot = mark % 64;
            if (mark / 64 == 1) {
                const BlockEvent event = events.retained[retained++];
                slot = static_cast<unsigned>(event.block() / 64 % 64);
                line_of_slot_[slot] = event.block();
                kind = event.kind();
            }
            on_event({.address = line_of_slot_.at(slot), .kind = kind, .core = core}, injector);
        }
    }
    void on_control(const Control&, Tick, Injector&) override {}

private:
    std::map<unsigned, Address> line_of_slot_;
    std::string link_;
    unsigned copy_;
    bool merges_, untimed_;
    std::uint32_t kinds_;
    std::uint64_t block_bytes_ = 1;
    std::vector<BlockRun>* runs_ = nullptr;
    EngineOutcome& result_;
};

/// The same in the engine's terms.
class RecordSender final : public LinkListener {
public:
    explicit RecordSender(Records records) : records_(std::move(records)) {}
    std::uint32_t kinds() const override { return bit(EventKind::load) | bit(EventKind::store); }
    bool accepts_merged(std::uint32_t) const override { return false; }
    void on_event(const LinkEvent& event, Injector& injector) override {
        for (std::uint32_t i = 0; i < event.count; ++i) {
            if (++events_ % records_.every == 0) injector.write({records_.base + 16 * sent_++, 16, records_.bypass});
        }
    }
    void on_control(const Control&, Tick, Injector&) override {}

private:
    Records records_;
    std::uint64_t events_ = 0, sent_ = 0;
};

/// Not next to a core.
bool is_below(const Topology& topology, std::size_t link) {
    return topology.components()[topology.links()[link].from].kind != Component::Kind::core;
}

std::vector<std::unique_ptr<Recorder>> attach(Hierarchy& hierarchy, const Topology& topology, Driving driving,
                                              EngineOutcome& result) {
    std::vector<std::unique_ptr<Recorder>> recorders;
    if (driving == Driving::unwatched) return recorders;
    for (std::size_t link = 0; link < topology.links().size(); ++link) {
        if (driving == Driving::some && link % 2 == 0) continue;
        if ((driving == Driving::below || driving == Driving::sited) && !is_below(topology, link)) continue;
        for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy) {
            const auto listen = [&](const std::string& name, std::uint32_t kinds) {
                recorders.push_back(std::make_unique<Recorder>(name, copy, driving, kinds, result));
                hierarchy.listen(link, copy, *recorders.back());
            };
            const std::string& name = topology.links()[link].name;
            constexpr std::uint32_t all = ~std::uint32_t{0}, fill = bit(EventKind::fill);
            if (driving == Driving::sited) {
                listen(name, all & ~(fill | bit(EventKind::eviction)));
            } else if (driving == Driving::fills) {
                listen(name, all & ~bit(EventKind::eviction));
            } else if (driving != Driving::requests) {
                listen(name, all);
            } else {
                listen(name, all & ~(fill | bit(EventKind::eviction)));
                listen(fills_of + name, fill);
            }
        }
    }
    return recorders;
}

void drive_one_by_one(Hierarchy& hierarchy, const CoreProgram& program, Outcome& outcome) {
    Tick now = 0;
    for (const Stretch& stretch : program) {
        for (const Reference& reference : stretch.references) now = hierarchy.access(0, reference, now);
    }
    outcome.core_ends = {now};
}

template <class Counts>
std::string describe(const Counts& expected, const Counts& actual) {
    std::ostringstream text;
    const auto names = named(expected), values = named(actual);
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].second == values[i].second) continue;
        text << ' ' << names[i].first << " expected " << names[i].second << " actual " << values[i].second;
    }
    return text.str();
}

std::string compare_counts(const MachineDescription& machine, const HierarchyCounts& expected,
                           const HierarchyCounts& actual) {
    for (std::size_t i = 0; i < expected.caches.size(); ++i) {
        if (expected.caches[i] == actual.caches.at(i)) continue;
        return machine.caches[i].name + ":" + describe(expected.caches[i], actual.caches[i]);
    }
    for (std::size_t i = 0; i < expected.tlbs.size(); ++i) {
        const TlbCounts a = expected.tlbs[i], b = actual.tlbs.at(i);
        if (a == b) continue;
        return machine.tlbs[i].name + ": accesses, misses expected " + std::to_string(a.accesses) + ", " +
               std::to_string(a.misses) + " actual " + std::to_string(b.accesses) + ", " + std::to_string(b.misses);
    }
    for (std::size_t i = 0; i < expected.coherence.size(); ++i)
        if (expected.coherence[i] != actual.coherence.at(i))
            return "coherence:" + describe(expected.coherence[i], actual.coherence[i]);
    if (expected.memories != actual.memories) return "memory counts differ";
    if (expected.numa != actual.numa) return "local and remote counts differ";
    if (expected.buses != actual.buses) return "bus counts differ";
    if (expected.references != actual.references) return "references differ";
    if (expected.page_walks != actual.page_walks) return "page walks differ";
    return expected == actual ? "" : "shapes differ";
}

std::string compare_events(const std::vector<ObservedEvent>& expected, const std::vector<ObservedEvent>& actual) {
    const auto [a, b] = std::mismatch(expected.begin(), expected.end(), actual.begin(), actual.end());
    if (a == expected.end() && b == actual.end()) return {};
    std::ostringstream text;
    const auto number = a - expected.begin();
    text << "event " << number << ": expected " << (a == expected.end() ? "none" : to_text(*a)) << ", actual "
         << (b == actual.end() ? "none" : to_text(*b)) << "\nthe events before:";
    for (auto i = std::max<std::ptrdiff_t>(0, number - 8); i < number; ++i) {
        text << "\n  " << to_text(expected[static_cast<std::size_t>(i)]);
    }
    return text.str();
}

/// TLBs below the first are asked for any byte of a line.
std::vector<ObservedEvent> by_lines(std::vector<ObservedEvent> events, const MachineDescription& machine) {
    std::uint32_t longest = 64;
    for (const CacheConfig& cache : machine.caches) longest = std::max(longest, cache.line);
    for (ObservedEvent& event : events)
        if (std::ranges::any_of(machine.tlbs, [&](const auto& tlb) { return event.link.starts_with(tlb.name + "-"); }))
            event.address -= event.address % longest;
    return events;
}

/// Each link's in their order, as links are in none.
std::vector<ObservedEvent> by_links(std::vector<ObservedEvent> events) {
    std::ranges::stable_sort(events, {}, [](const ObservedEvent& event) { return std::tie(event.link, event.copy); });
    return events;
}

/// The first link on which the runs differ.
std::string compare_runs(const BlockRuns& expected, const BlockRuns& actual) {
    if (expected.size() != actual.size()) return "events on other links than expected";
    for (const auto& [link, runs] : expected) {
        const auto found = actual.find(link);
        if (found == actual.end()) return "no events on link " + link.first;
        const auto [a, b] = std::mismatch(runs.begin(), runs.end(), found->second.begin(), found->second.end());
        if (a == runs.end() && b == found->second.end()) continue;
        std::ostringstream text;
        text << "link " << link.first << ": run " << (a - runs.begin()) << " of " << runs.size() << " and "
             << found->second.size() << std::hex << ", expected block " << (a != runs.end() ? a->block : 0)
             << ", actual " << (b != found->second.end() ? b->block : 0);
        return text.str();
    }
    return {};
}

std::string compare_phases(const MachineDescription& machine, const Outcome& expected, const Outcome& actual) {
    if (expected.phases.size() != actual.phases.size()) return "the numbers of phases differ";
    for (std::size_t i = 0; i < expected.phases.size(); ++i) {
        const HierarchyCounts phase = i == 0 ? expected.phases[0] : expected.phases[i] - expected.phases[i - 1];
        const std::string found = compare_counts(machine, phase, actual.phases[i]);
        if (!found.empty()) return "phase " + std::to_string(i) + ": " + found;
    }
    return {};
}

}  // namespace

void add_to_runs(std::vector<BlockRun>& runs, Address block, EventKind kind, unsigned core, std::uint64_t count) {
    if (runs.empty() || runs.back().block != block) runs.push_back({block, {}});
    runs.back().counts[{kind, core}] += count;
}

BlockRuns block_runs(const std::vector<ObservedEvent>& events,
                     const std::map<std::pair<std::string, unsigned>, std::uint32_t>& block_of) {
    BlockRuns runs;
    std::vector<BlockRun>* of_copy = nullptr;
    std::uint64_t bytes = 1;
    const ObservedEvent* before = nullptr;
    for (const ObservedEvent& event : events) {
        if (!before || event.copy != before->copy || event.link != before->link) {
            const auto found = block_of.find({event.link, event.copy});
            bytes = found == block_of.end() ? 1 : found->second;
            of_copy = &runs[{event.link, event.copy}];
        }
        before = &event;
        add_to_runs(*of_copy, event.address / bytes * bytes, event.kind, event.core, 1);
    }
    return runs;
}

EngineOutcome run_engine(const MachineDescription& machine, const std::vector<CoreProgram>& programs, Tick quantum,
                         Driving driving, const std::optional<Records>& records, Execution fastest) {
    EngineOutcome result;
    const Topology topology(machine);
    Hierarchy hierarchy(topology);
    hierarchy.limit_execution(fastest);
    const auto recorders = attach(hierarchy, topology, driving, result);
    std::unique_ptr<RecordSender> sender;
    if (records) {
        sender = std::make_unique<RecordSender>(*records);
        hierarchy.listen(topology.link(records->link), records->copy, *sender);
    }
    if (driving == Driving::one_by_one) {
        drive_one_by_one(hierarchy, programs.at(0), result.outcome);
        result.outcome.counts = hierarchy.counts();
        return result;
    }
    VectorSource source(programs, result.filtered);
    RunOptions options;
    options.quantum = quantum;
    const RunResult run_result = run(hierarchy, source, options);
    result.outcome.counts = run_result.counts;
    result.outcome.core_ends = run_result.core_ends;
    for (const PhaseResult& phase : run_result.phases) {
        result.outcome.phases.push_back(phase.counts);
    }
    return result;
}

std::string difference(const MachineDescription& machine, const Outcome& expected, const EngineOutcome& actual,
                       Driving driving) {
    std::string found;
    if (driving == Driving::each || driving == Driving::one_by_one) {
        found = compare_events(expected.events, actual.outcome.events);
    } else if (driving == Driving::some) {
        std::vector<ObservedEvent> watched;
        const Topology topology(machine);
        std::copy_if(expected.events.begin(), expected.events.end(), std::back_inserter(watched),
                     [&](const ObservedEvent& event) { return topology.link(event.link) % 2 == 1; });
        found = compare_events(watched, actual.outcome.events);
    } else if (driving == Driving::below) {
        std::vector<ObservedEvent> below;
        const Topology topology(machine);
        std::ranges::copy_if(expected.events, std::back_inserter(below),
                             [&](const ObservedEvent& event) { return is_below(topology, topology.link(event.link)); });
        found = compare_events(by_lines(below, machine), by_lines(actual.outcome.events, machine));
    } else if (driving == Driving::sited) {
        std::vector<ObservedEvent> below;
        const Topology topology(machine);
        std::ranges::copy_if(expected.events, std::back_inserter(below), [&](const ObservedEvent& event) {
            return is_below(topology, topology.link(event.link)) && event.kind != EventKind::fill &&
                   event.kind != EventKind::eviction;
        });
        found = compare_events(by_links(by_lines(below, machine)), by_links(by_lines(actual.outcome.events, machine)));
    } else if (driving == Driving::merged) {
        found = compare_runs(block_runs(expected.events, actual.block_of), actual.merged);
    } else if (driving == Driving::fills) {
        std::vector<ObservedEvent> wanted = expected.events;
        std::erase_if(wanted, [](const ObservedEvent& event) { return event.kind == EventKind::eviction; });
        found = compare_runs(block_runs(wanted, actual.block_of), actual.merged);
    } else if (driving == Driving::requests) {
        std::vector<ObservedEvent> requests = expected.events;
        std::erase_if(requests, [](const ObservedEvent& event) { return event.kind == EventKind::eviction; });
        for (ObservedEvent& event : requests)
            if (event.kind == EventKind::fill) event.link.insert(0, fills_of);
        found = compare_runs(block_runs(requests, actual.block_of), actual.merged);
    }
    if (found.empty()) found = compare_counts(machine, expected.counts, actual.outcome.counts);
    if (found.empty() && expected.core_ends != actual.outcome.core_ends) {
        std::ostringstream text;
        text << "end times, expected/actual:";
        for (std::size_t i = 0; i < expected.core_ends.size(); ++i) {
            text << ' ' << expected.core_ends[i] << '/'
                 << (i < actual.outcome.core_ends.size() ? actual.outcome.core_ends[i] : 0);
        }
        found = text.str();
    }
    if (found.empty() && driving != Driving::one_by_one) found = compare_phases(machine, expected, actual.outcome);
    return found;
}

}  // namespace cachetally::differential

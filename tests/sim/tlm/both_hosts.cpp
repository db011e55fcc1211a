// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/tlm/both_hosts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "workloads/traces/block.hpp"

namespace cachetally::testing {
namespace {

class ProgramSource final : public ReferenceSource {
public:
    ProgramSource(const std::vector<Program>& programs, bool filtered)
        : programs_(programs), position_(programs.size(), 0), fulfils_(filtered) {}
    unsigned cores() const override { return static_cast<unsigned>(programs_.size()); }
    void wish(const std::optional<FilterPlan>& plan) override { wish_ = plan; }
    std::size_t filtered() const { return filtered_; }
    std::vector<std::string> phase_names() const override { return {"solve"}; }

    Batch next(unsigned core) override {
        const Part& part = programs_[core].at(position_[core]++);
        if (part.fails) throw std::runtime_error("the source is damaged");
        if (!fulfils_ || !wish_ || part.references.empty() || !unpacks(part.references))
            return {part.references, part.control};
        return {{}, part.control, block_.filtered.blocks};
    }

private:
    bool unpacks(const std::vector<Reference>& references) {
        packed_.clear();
        encoder_.encode(references, {}, packed_);
        decoder_.decode(packed_, block_, wish_);
        filtered_ += block_.is_filtered ? references.size() : 0;
        return block_.is_filtered;
    }

    const std::vector<Program>& programs_;
    std::vector<std::size_t> position_;
    bool fulfils_;
    std::optional<FilterPlan> wish_;
    BlockEncoder encoder_;  // made once: making one is dear under sanitizers
    BlockDecoder decoder_;
    std::vector<std::byte> packed_;
    ReferenceBlock block_;
    std::size_t filtered_ = 0;
};

class Watcher final : public LinkListener {
public:
    Watcher(std::size_t link, unsigned copy, std::vector<Seen>& seen) : link_(link), copy_(copy), seen_(seen) {}
    std::uint32_t kinds() const override { return ~std::uint32_t{0}; }
    bool accepts_merged(std::uint32_t) const override { return false; }
    void on_event(const LinkEvent& event, Injector&) override { seen_.push_back({link_, copy_, event}); }
    void on_control(const Control& control, Tick time, Injector&) override {
        seen_.push_back({link_, copy_, {control.argument, 0, 0, EventKind::coherence, 0, time}});
    }

private:
    std::size_t link_;
    unsigned copy_;
    std::vector<Seen>& seen_;
};

std::string compare(const HierarchyCounts& engine, const HierarchyCounts& systemc) {
    if (engine == systemc) return {};
    std::ostringstream text;
    text << "references " << engine.references << '/' << systemc.references << " walks " << engine.page_walks << '/'
         << systemc.page_walks;
    for (std::size_t i = 0; i < engine.caches.size() && i < systemc.caches.size(); ++i) {
        const auto a = named(engine.caches[i]), b = named(systemc.caches[i]);
        for (std::size_t j = 0; j < a.size(); ++j)
            if (a[j].second != b[j].second)
                text << " cache " << i << ' ' << a[j].first << ' ' << a[j].second << '/' << b[j].second;
    }
    for (std::size_t i = 0; i < engine.memories.size() && i < systemc.memories.size(); ++i)
        if (engine.memories[i] != systemc.memories[i])
            text << " memory " << i << " ring writes " << engine.memories[i].ring_writes << '/'
                 << systemc.memories[i].ring_writes;
    return text.str();
}

std::string compare_ends(const RunResult& engine, const RunResult& systemc) {
    if (engine.core_ends == systemc.core_ends) return {};
    std::ostringstream text;
    for (std::size_t core = 0; core < engine.core_ends.size(); ++core)
        text << " core " << core << " ends " << engine.core_ends[core] << '/' << systemc.core_ends.at(core);
    return text.str();
}

std::string compare_seen(const std::vector<Seen>& engine, const std::vector<Seen>& systemc) {
    const auto [a, b] = std::ranges::mismatch(engine, systemc);
    if (a == engine.end() && b == systemc.end()) return {};
    return "event " + std::to_string(a - engine.begin()) + ": " + (a != engine.end() ? to_text(*a) : "none") + " / " +
           (b != systemc.end() ? to_text(*b) : "none");
}

bool equal(const MonitorResult& a, const MonitorResult& b) {
    return a.events == b.events && a.swapouts == b.swapouts && a.lost == b.lost && a.lost_records == b.lost_records &&
           a.resident == b.resident && a.swapouts_per_phase == b.swapouts_per_phase &&
           a.ring_high_water == b.ring_high_water && a.stall == b.stall && a.bytes == b.bytes &&
           a.histogram == b.histogram;
}

}  // namespace

bool operator==(const Seen& a, const Seen& b) {
    return a.link == b.link && a.copy == b.copy && a.event.address == b.event.address &&
           a.event.count == b.event.count && a.event.site == b.event.site && a.event.kind == b.event.kind &&
           a.event.core == b.event.core && a.event.time == b.event.time;
}

std::string to_text(const Seen& seen) {
    std::ostringstream text;
    text << "link " << seen.link << '[' << seen.copy << "] " << to_string(seen.event.kind) << " core "
         << unsigned{seen.event.core} << " at " << seen.event.time << " ps, address 0x" << std::hex
         << seen.event.address;
    return text.str();
}

struct Run::Parts {
    explicit Parts(const Case& the_case)
        : test_case(the_case),
          topology(test_case.machine),
          hierarchy(topology),
          source(test_case.programs, test_case.filtered) {}

    Case test_case;
    Topology topology;
    Hierarchy hierarchy;
    ProgramSource source;
    std::vector<Seen> seen;
    std::vector<std::unique_ptr<Watcher>> watchers;
    std::vector<std::unique_ptr<Monitor>> monitors;
    std::unique_ptr<ReplayPlatform> platform;
    RunResult result;
};

Run::Run(const Case& test_case) : parts_(std::make_unique<Parts>(test_case)) {
    Parts& parts = *parts_;
    const auto links = parts.topology.links().size();
    for (std::size_t link = 0; test_case.watching == Watching::each && link < links; ++link)
        for (unsigned copy = 0; copy < parts.hierarchy.copies(link); ++copy) {
            parts.watchers.push_back(std::make_unique<Watcher>(link, copy, parts.seen));
            parts.hierarchy.listen(link, copy, *parts.watchers.back());
        }
    for (const MonitorSpec& spec : test_case.monitors) {
        const std::size_t link = parts.topology.link(spec.link);
        for (unsigned copy = 0; copy < parts.hierarchy.copies(link); ++copy) {
            parts.monitors.push_back(
                std::make_unique<Monitor>(completed(spec, parts.topology), copy, test_case.machine.period));
            parts.hierarchy.listen(link, copy, *parts.monitors.back());
        }
    }
}

Run::~Run() = default;
Run::Run(Run&&) noexcept = default;

const Topology& Run::topology() const { return parts_->topology; }

Hierarchy& Run::hierarchy() { return parts_->hierarchy; }

void Run::by_engine() { parts_->result = run(parts_->hierarchy, parts_->source, parts_->test_case.options); }

void Run::elaborate(const std::string& name) {
    parts_->platform = std::make_unique<ReplayPlatform>(name.c_str(), parts_->topology, parts_->hierarchy,
                                                        parts_->source, parts_->test_case.options);
}

void Run::take() { parts_->result = parts_->platform->result(); }

const RunResult& Run::result() const { return parts_->result; }
const std::vector<Seen>& Run::seen() const { return parts_->seen; }
std::size_t Run::filtered() const { return parts_->source.filtered(); }
const TimedMemory& Run::memory(std::size_t number) const { return parts_->platform->memory(number); }

std::vector<MonitorResult> Run::monitors() {
    std::vector<MonitorResult> results;
    for (auto& monitor : parts_->monitors) {
        monitor->finish();
        results.push_back(monitor->result());
    }
    parts_->monitors.clear();
    return results;
}

std::string difference(Run& first, Run& second) {
    const RunResult &a = first.result(), &b = second.result();
    std::string found = compare_seen(first.seen(), second.seen());
    found += compare(a.counts, b.counts);
    found += compare_ends(a, b);
    if (a.complete != b.complete || a.failure != b.failure || a.time_over != b.time_over)
        found += " failure '" + a.failure + "'/'" + b.failure + "'";
    if (a.quantum != b.quantum) found += " recorded quanta differ";
    if (a.phases.size() != b.phases.size()) return found + " numbers of phases differ";
    for (std::size_t i = 0; found.empty() && i < a.phases.size(); ++i) {
        found = compare(a.phases[i].counts, b.phases[i].counts);
        if (a.phases[i].begin != b.phases[i].begin || a.phases[i].end != b.phases[i].end)
            found += " times of phase " + std::to_string(i);
        if (a.phases[i].name != b.phases[i].name) found += " names of phase " + std::to_string(i);
    }
    const auto monitors = first.monitors(), others = second.monitors();
    for (std::size_t i = 0; i < monitors.size(); ++i)
        if (!equal(monitors[i], others.at(i))) found += " monitor " + std::to_string(i) + " (" + monitors[i].link + ")";
    return found;
}

std::string difference_of_memories(Run& systemc) {
    std::string found;
    const HierarchyCounts counts = systemc.hierarchy().counts();  // also those of the warmup
    for (std::size_t i = 0; i < counts.memories.size(); ++i)
        if (systemc.memory(i).counts() != counts.memories[i])
            found += " memory " + std::to_string(i) + " has seen other accesses than were sent";
    return found;
}

void expect_equal_hosts(const std::vector<Case>& cases) {
    std::vector<Run> runs;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        runs.emplace_back(cases[i]);
        runs.back().elaborate("platform_" + std::to_string(i));
    }
    sc_core::sc_start();
    for (std::size_t i = 0; i < cases.size(); ++i) {
        runs[i].take();
        Run engine(cases[i]);
        engine.by_engine();
        EXPECT_EQ(difference(engine, runs[i]) + difference_of_memories(runs[i]), "")
            << "case " << i << ", quantum " << cases[i].options.quantum << " ps\n"
            << write_machine(cases[i].machine);
    }
}

}  // namespace cachetally::testing

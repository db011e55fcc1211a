// SPDX-License-Identifier: BSD-3-Clause
// True and false sharing: by hand, and against a classification of the whole run at its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "cachetally/run.hpp"
#include "monitor/causes/hierarchy_causes.hpp"
#include "tests/differential/random_machine.hpp"
#include "tests/monitor/sited_program.hpp"

namespace cachetally {
namespace {

/// Notes references in the order in which they are made.
class OrderOfReferences final : public ReferenceListener {
public:
    bool one_by_one() const override { return true; }
    void on_references(unsigned, std::span<const Reference>) override {}
    void on_accesses(unsigned, std::span<const std::uint32_t>) override {}
    void before(unsigned core, const Reference& reference) override { made.emplace_back(core, reference); }
    void on_control(const Control&) override {}
    std::vector<std::pair<unsigned, Reference>> made;
};

struct SharedRun {
    Sharing sharing;
    std::vector<LevelCauses> causes;
    std::vector<std::pair<unsigned, Reference>> made;
};

SharedRun shared(const MachineDescription& machine, SitedProgram source) {
    const Topology topology(machine);
    Hierarchy hierarchy(topology);
    const auto map = [&](Address physical) { return hierarchy.virtual_address(physical); };
    const HierarchyCauses causes(topology, hierarchy, {}, map, source.sites());
    OrderOfReferences order;
    hierarchy.listen(order);
    run(hierarchy, source);
    return {causes.sharing(), causes.found(), order.made};
}

/// Private first levels that lose nothing but to stores.
MachineDescription nodes(unsigned cores) {
    MachineDescription machine = two_sets();
    machine.cores = cores;
    CacheConfig& cache = machine.caches.front();
    cache.shared_by = 1;
    cache.size = 1 << 20;
    cache.ways = 16;
    machine.coherence.protocol = Protocol::mesi;
    return machine;
}

Reference made(Address address, ReferenceKind kind, std::uint32_t site) {
    return {.address = address, .site = site, .size = 8, .kind = kind};
}

using SharingRows = std::vector<SharingRow>;

// Core 0 uses byte 0 of a line, core 1 stores byte 8, then byte 0; each by a phase of its own, so that the order is
// known. Core 0 misses twice: the first time it finds nothing new, the second time it does.
TEST(Sharing, FalseThenTrueByHand) {
    const auto load = made(0, ReferenceKind::load, 1);
    const auto store = [](Address address) { return made(address, ReferenceKind::store, 2); };
    const SharedRun found =
        shared(nodes(2), SitedProgram({{{load}, {}, {load}, {}, {load}}, {{}, {store(8)}, {}, {store(0)}, {}}}, 2));
    EXPECT_EQ(found.sharing.levels, std::vector<std::string>{"L1"});
    EXPECT_EQ(found.sharing.rows, (SharingRows{{0, 2, 0, 0, 1, 1, 2, 0, 1}, {0, 4, 0, 0, 1, 1, 2, 1, 0}}));
}

// What core 1 stored at first is used only after the second miss: that one is true sharing, the first one false.
TEST(Sharing, ValuesStayForeignUntilTheyAreUsed) {
    const auto load = [](Address address) { return made(address, ReferenceKind::load, 1); };
    const auto store = [](Address address) { return made(address, ReferenceKind::store, 2); };
    const SharedRun found = shared(
        nodes(2),
        SitedProgram({{{load(0)}, {}, {load(0)}, {}, {load(0), load(8)}}, {{}, {store(8)}, {}, {store(16)}, {}}}, 2));
    EXPECT_EQ(found.sharing.rows, (SharingRows{{0, 2, 0, 0, 1, 1, 2, 0, 1}, {0, 4, 0, 0, 1, 1, 2, 1, 0}}));
}

/// Misses of nodes that lose lines to stores alone, judged line by line by what comes after them.
std::map<std::pair<unsigned, Address>, std::pair<std::uint64_t, std::uint64_t>> judged(
    const std::vector<std::pair<unsigned, Reference>>& made) {
    constexpr Address line_bytes = 64;
    struct Access {
        unsigned core;
        Address begin, end;
        bool store;
    };
    std::map<Address, std::vector<Access>> lines;
    for (const auto& [core, reference] : made) {
        if (reference.kind == ReferenceKind::fetch) continue;
        for (Address line = reference.address / line_bytes; line <= last_byte(reference) / line_bytes; ++line)
            lines[line * line_bytes].push_back({core, std::max(reference.address, line * line_bytes),
                                                std::min(last_byte(reference) + 1, (line + 1) * line_bytes),
                                                reference.kind == ReferenceKind::store});
    }
    std::map<std::pair<unsigned, Address>, std::pair<std::uint64_t, std::uint64_t>> found;
    for (const auto& of_line : lines)
        for (unsigned core = 0; core < 4; ++core) {
            const Address line = of_line.first;  // clang 14 captures no bindings
            std::set<Address> foreign;
            bool here = false, ever = false, is_true = false, counts = false;
            const auto close = [&] {
                if (counts) ++(is_true ? found[{core, line}].first : found[{core, line}].second);
                counts = false;
            };
            for (const Access& access : of_line.second) {
                if (access.core != core) {
                    if (!access.store) continue;
                    if (here) close();
                    here = false;
                    for (Address byte = access.begin; byte < access.end; ++byte) foreign.insert(byte);
                    continue;
                }
                if (!ever) foreign.clear();
                if (!here) {
                    counts = ever;
                    is_true = false;
                }
                here = ever = true;
                for (Address byte = access.begin; byte < access.end; ++byte)
                    if (foreign.contains(byte)) is_true = true;
                if (is_true) foreign.clear();
            }
            close();
        }
    return found;
}

RC_GTEST_PROP(Sharing, IsAsTheWholeRunShows, ()) {
    Stretches stretches(4);
    for (auto& core : stretches) {
        auto& references = core.emplace_back();
        const auto count = *rc::gen::inRange(1, 60);
        for (int i = 0; i < count; ++i)
            references.push_back({.address = *rc::gen::inRange<Address>(0, 160),
                                  .site = *rc::gen::inRange<std::uint32_t>(1, 4),
                                  .size = *rc::gen::element<std::uint16_t>(1, 8, 16),
                                  .kind = *rc::gen::element(ReferenceKind::load, ReferenceKind::store)});
    }
    const SharedRun run = shared(nodes(4), SitedProgram(stretches, 3));
    std::map<std::pair<unsigned, Address>, std::pair<std::uint64_t, std::uint64_t>> found;
    for (const SharingRow& row : run.sharing.rows) {
        auto& [true_sharing, false_sharing] = found[{row.core, row.line}];
        true_sharing += row.true_sharing;
        false_sharing += row.false_sharing;
        RC_ASSERT(row.by_core != row.core);
    }
    RC_ASSERT(found == judged(run.made));
}

/// Both are among the invalidated misses; and are all of these where only stores invalidate.
RC_GTEST_PROP(Sharing, IsAmongInvalidatedMisses, ()) {
    differential::MachineLimits limits;
    limits.coherence = true;
    const auto choose = [](std::uint64_t bound) { return *rc::gen::inRange<std::uint64_t>(0, bound); };
    const MachineDescription machine = differential::random_machine(choose, limits);
    const SharedRun run = shared(machine, SitedProgram(random_stretches(machine.cores, 5), 5));
    const bool inclusive = std::ranges::any_of(
        machine.caches, [](const CacheConfig& cache) { return cache.inclusion == Inclusion::inclusive; });
    for (std::uint32_t level = 0; level < run.sharing.levels.size(); ++level) {
        std::uint64_t invalidated = 0, sharing = 0;
        for (const LevelCauses& causes : run.causes)
            for (const StructureCauses& row : causes.misses)
                if (causes.level == run.sharing.levels[level])
                    invalidated += row.misses[static_cast<unsigned>(MissCause::invalidated)];
        for (const SharingRow& row : run.sharing.rows)
            if (row.level == level) sharing += row.true_sharing + row.false_sharing;
        RC_ASSERT(sharing <= invalidated);
        if (!inclusive) RC_ASSERT(sharing == invalidated);
    }
}

}  // namespace
}  // namespace cachetally

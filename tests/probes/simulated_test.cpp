// SPDX-License-Identifier: BSD-3-Clause
// The simulated target against the engine itself.
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "cachetally/hierarchy.hpp"
#include "probes/targets/simulated.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

MachineDescription small_machine(const std::string& policy, const std::string& inclusion, const std::string& mapping) {
    return read_machine(
        "name: small\nclock: 1 GHz\ncores: 1\ncaches:\n"
        "  - {name: L1, next: L2, serves: data, shared_by: 1, size: 1536, ways: 3, line: 64, latency: 4, "
        "replacement: " +
            policy +
            "}\n"
            "  - {name: L2, next: memory, size: 8 KiB, ways: 4, line: 64, latency: 10, replacement: " +
            policy + ", inclusion: " + inclusion +
            "}\n"
            "tlbs:\n  - {name: DTLB, serves: data, entries: 4, ways: 2, latency: 0, replacement: " +
            policy +
            "}\n"
            "pages: {size: 4 KiB, mapping: " +
            mapping +
            ", walk: {through: L1}}\n"
            "memory: {name: memory, size: 1 GiB, latency: 100}\n",
        "small.yaml");
}

std::vector<std::uint64_t> some_lines(std::uint64_t seed, std::size_t count, std::uint64_t bytes) {
    Random random(seed);
    std::vector<std::uint64_t> offsets;
    for (std::size_t i = 0; i < count; ++i) offsets.push_back(random.below(bytes / 64) * 64);
    return offsets;
}

/// All laps made one by one.
double laps_made(const MachineDescription& machine, const std::vector<std::uint64_t>& offsets, unsigned warm_up,
                 unsigned laps) {
    Hierarchy hierarchy{Topology(machine)};
    std::vector<Reference> references;
    for (const std::uint64_t offset : offsets)
        references.push_back({(Address{1} << 32) + offset, 0, 1, ReferenceKind::load, 0});
    Tick now = 0, begin = 0;
    for (unsigned lap = 0; lap < warm_up + laps; ++lap) {
        if (lap == warm_up) begin = now;
        for (const Reference& reference : references) now = hierarchy.access(0, reference, now);
    }
    return static_cast<double>(now - begin) / 1000 / static_cast<double>(offsets.size() * laps);
}

TEST(Simulated, LapsThatAreNotMadeAreKnownExactly) {
    std::uint64_t simulated = 0, all = 0;
    for (const std::string_view name : names_of<Replacement>()) {
        const std::string policy(name);
        if (policy == "random") continue;  // its sets hardly ever come back to an earlier state
        for (const char* inclusion : {"nine", "inclusive", "exclusive", "victim"})
            for (std::uint64_t seed = 1; seed <= 6; ++seed) {
                const MachineDescription machine = small_machine(policy, inclusion, "identity");
                const auto offsets = some_lines(seed, 20 + 40 * seed, 4096 * seed);
                SimulatedTarget target(machine);
                const Arena arena = target.make_arena(4096 * seed, 4096);
                const Measurement found = target.run(arena, {Offsets(offsets)}, {3, 301, 0});
                EXPECT_EQ(found.laps, 301);
                EXPECT_NEAR(found.cycles, laps_made(machine, offsets, 3, 301), 1e-9) << policy << inclusion << seed;
                simulated += target.cost().simulated;
                all += 304 * offsets.size();
            }
    }
    EXPECT_LT(simulated, all / 4);
}

TEST(Simulated, RandomReplacementIsSimulated) {
    const MachineDescription machine = small_machine("random", "nine", "identity");
    const auto offsets = some_lines(1, 60, 8192);
    SimulatedTarget target(machine);
    const Arena arena = target.make_arena(8192, 4096);
    EXPECT_NEAR(target.run(arena, {Offsets(offsets)}, {3, 100, 0}).cycles, laps_made(machine, offsets, 3, 100), 1e-9);
}

}  // namespace
}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Speed of the engine on references in memory: nanoseconds per reference.
#include <benchmark/benchmark.h>

#include <limits>
#include <vector>

#include "base/random.hpp"
#include "cachetally/hierarchy.hpp"
#include "cachetally/topology.hpp"

namespace cachetally {
namespace {

constexpr std::size_t count = 1 << 20;

std::vector<Reference> references_of(std::uint64_t stream) {
    Random random(3);
    std::vector<Reference> references(count);
    Address next = 0x10000000;
    for (Reference& reference : references) {
        reference.size = 8;
        switch (stream) {
            case 0: next += 8; break;                                      // sequential
            case 1: next = 0x10000000 + random.below(2 << 20) * 8; break;  // uniform over 16 MiB
            default:                                                       // nine of ten in 24 KiB, the rest in 256 KiB
                next = 0x10000000 + random.below(random.below(10) == 0 ? 32768 : 3072) * 8;
                reference.kind = random.below(3) == 0 ? ReferenceKind::store : ReferenceKind::load;
        }
        reference.address = next;
    }
    return references;
}

void run_engine(benchmark::State& state, const char* machine, bool in_steps) {
    const std::vector<Reference> references = references_of(static_cast<std::uint64_t>(state.range(0)));
    const Topology topology(load_machine(machine));
    Hierarchy hierarchy(topology);
    // The last picosecond but one is no limit in fact, yet makes the engine look at the time of every reference.
    const Tick until = std::numeric_limits<Tick>::max() - (in_steps ? 1 : 0);
    Tick now = 0;
    for (auto _ : state) now = hierarchy.run(0, references, now, until).time;
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * count));
    static constexpr const char* names[] = {"sequential", "uniform 16 MiB", "mostly 24 KiB"};
    state.SetLabel(names[state.range(0)]);
}

BENCHMARK_CAPTURE(run_engine, three_levels, "bench3", false)->DenseRange(0, 2);
BENCHMARK_CAPTURE(run_engine, three_levels_tlb, "bench3tlb", false)->DenseRange(0, 2);
BENCHMARK_CAPTURE(run_engine, three_levels_in_steps, "bench3", true)->DenseRange(0, 2);

}  // namespace
}  // namespace cachetally

BENCHMARK_MAIN();

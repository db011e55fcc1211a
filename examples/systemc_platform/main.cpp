// SPDX-License-Identifier: BSD-3-Clause
// Two cores read an array each, twice, through caches of their own and a shared one. docs/systemc.md walks through it.
#include <cstdio>
#include <vector>

#include "cachetally/timed_memory.hpp"
#include "cachetally/trace_player.hpp"

namespace {

constexpr char machine[] = R"(
name: example
clock: 1 GHz
cores: 2
caches:
  - {name: L1, next: L2, shared_by: 1, size: 4 KiB, ways: 4, line: 64, latency: 1}
  - {name: L2, next: memory, shared_by: 2, size: 64 KiB, ways: 16, line: 64, latency: 10}
memory: {name: memory, latency: 100}
)";

/// 16 KiB per core, read from the beginning to the end, twice, by words of 8 bytes.
class Arrays final : public cachetally::ReferenceSource {
public:
    unsigned cores() const override { return 2; }

    cachetally::Batch next(unsigned core) override {
        references_[core].clear();
        for (int pass = 0; pass < 2; ++pass)
            for (cachetally::Address at = 0; at < bytes; at += 8)
                references_[core].push_back({.address = (core + 1) * 0x10000 + at, .size = 8});
        return {references_[core], {cachetally::Control::Kind::end, 0}};
    }

private:
    static constexpr cachetally::Address bytes = 16384;
    std::vector<cachetally::Reference> references_[2];
};

}  // namespace

int sc_main(int, char**) {
    const cachetally::Topology topology(cachetally::read_machine(machine, "example"));
    cachetally::CacheHierarchy hierarchy("hierarchy", topology);
    cachetally::TimedMemory memory("memory", topology.machine().memories[0], topology.machine().period);
    hierarchy.memory[0].bind(memory.in);

    Arrays source;
    cachetally::RunOptions options;
    options.quantum = 1'000'000;  // 1 us
    cachetally::TraceProgram program(hierarchy, source, options);
    cachetally::TracePlayer first("first", program, 0), second("second", program, 1);
    first.socket.bind(hierarchy.core[0]);
    second.socket.bind(hierarchy.core[1]);
    sc_core::sc_start();

    const cachetally::RunResult result = program.result();
    const auto& caches = result.counts.caches;
    std::printf("%llu references, L1 misses %llu, L2 misses %llu, memory reads %llu\n",
                static_cast<unsigned long long>(result.counts.references),
                static_cast<unsigned long long>(caches[0].load_misses),
                static_cast<unsigned long long>(caches[1].load_misses),
                static_cast<unsigned long long>(memory.counts().reads));
    std::printf("core 0 ends at %llu ps, core 1 at %llu ps\n", static_cast<unsigned long long>(result.core_ends[0]),
                static_cast<unsigned long long>(result.core_ends[1]));
    return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// A monitor between somebody's caches and memory: both installed libraries in one program.
#include <cachetally/tlm_monitor.hpp>
#include <cstdio>
#include <vector>

#include "cachetally/timed_memory.hpp"
#include "cachetally/trace_player.hpp"

namespace {

constexpr char machine[] = R"(
name: small
caches:
  - {name: L1, next: memory, size: 4 KiB, ways: 4, line: 64}
memory: {name: memory, latency: 100}
)";

/// Twice what the cache holds, from the beginning to the end, twice.
class Array final : public cachetally::ReferenceSource {
public:
    unsigned cores() const override { return 1; }
    cachetally::Batch next(unsigned) override {
        for (int pass = 0; pass < 2; ++pass)
            for (cachetally::Address at = 0; at < 8192; at += 8)
                references_.push_back({.address = 0x10000 + at, .size = 8});
        return {references_, {cachetally::Control::Kind::end, 0}};
    }

private:
    std::vector<cachetally::Reference> references_;
};

cachetally::TlmMonitorConfig settings() {
    cachetally::TlmMonitorConfig config;
    config.settings = "counters=4,base=0x80000";
    return config;
}

}  // namespace

int sc_main(int, char**) {
    const cachetally::Topology topology(cachetally::read_machine(machine, "small"));
    cachetally::CacheHierarchy hierarchy("hierarchy", topology);
    cachetally::TlmMonitor monitor("monitor", settings());
    cachetally::TimedMemory memory("memory", topology.machine().memories[0], topology.machine().period);
    hierarchy.memory[0].bind(monitor.in);
    monitor.out.bind(memory.in);

    Array source;
    cachetally::TraceProgram program(hierarchy, source, {});
    cachetally::TracePlayer player("player", program, 0);
    player.socket.bind(hierarchy.core[0]);
    sc_core::sc_start();

    const cachetally::TlmMonitorResult seen = monitor.finish();
    const cachetally::TlmMonitorRow& last = seen.rows.back();
    std::printf("misses %llu, events %llu, lines %zu, line %#llx: %llu\n",
                static_cast<unsigned long long>(program.result().counts.caches[0].load_misses),
                static_cast<unsigned long long>(seen.events), seen.rows.size(),
                static_cast<unsigned long long>(last.address), static_cast<unsigned long long>(last.count));
    return 0;
}

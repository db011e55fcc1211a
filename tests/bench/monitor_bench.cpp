// SPDX-License-Identifier: BSD-3-Clause
// Speed of monitors and sweeps: nanoseconds per event. Streams are made in advance, so that only counting is timed.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/random.hpp"
#include "monitor/exact_histogram.hpp"
#include "monitor/monitor.hpp"
#include "monitor/sweep.hpp"

namespace cachetally {
namespace {

constexpr std::size_t events = 1 << 13;

std::vector<LinkEvent> events_at(const std::vector<Address>& addresses) {
    std::vector<LinkEvent> stream(addresses.size());
    for (std::size_t i = 0; i < addresses.size(); ++i) stream[i].address = addresses[i];
    return stream;
}

/// The inner loops of a blocked LU over row-major 128 x 128 doubles: a(i,j) += alpha * b(k,j), with a few references to
/// the stack in between.
std::vector<LinkEvent> lu_like() {
    std::vector<Address> addresses;
    const Address stack = 0x7ff000;
    for (Address block = 0; addresses.size() < events; ++block)
        for (Address k = 0; k < 16; ++k)
            for (Address i = 0; i < 16; ++i) {
                const Address from = (((block * 7 % 8) * 16 + k) * 128 + (block % 8) * 16) * 8;
                const Address to = (((block * 3 % 8) * 16 + i) * 128 + (block % 8) * 16) * 8;
                for (Address s = 0; s < 18; ++s) addresses.push_back(stack + s * 8);
                for (Address j = 0; j < 16; ++j)
                    addresses.insert(addresses.end(), {from + j * 8, to + j * 8, to + j * 8});
            }
    addresses.resize(events);
    return events_at(addresses);
}

/// Half of the references in a small hot part, the rest over 1 MiB.
std::vector<LinkEvent> mixed() {
    Random random(7);
    std::vector<Address> addresses(events);
    for (Address& address : addresses) address = random.below(random.below(2) == 0 ? 4096 : 1 << 20);
    return events_at(addresses);
}

std::vector<LinkEvent> uniform() {
    Random random(9);
    std::vector<Address> addresses(events);
    for (Address& address : addresses) address = random.below(16 << 20);
    return events_at(addresses);
}

std::vector<LinkEvent> sequential() {
    std::vector<Address> addresses(events);
    for (std::size_t i = 0; i < events; ++i) addresses[i] = i * 8;
    return events_at(addresses);
}

enum Stream : int { lu_stream, mixed_stream, uniform_stream, sequential_stream };

const std::vector<LinkEvent>& stream(std::int64_t which) {
    static const std::vector<LinkEvent> streams[] = {lu_like(), mixed(), uniform(), sequential()};
    return streams[which];
}

void feed(benchmark::State& state, LinkListener& listener, std::int64_t which) {
    const std::vector<LinkEvent>& input = stream(which);
    Injector injector;
    for (auto _ : state) {
        for (const LinkEvent& event : input) {
            listener.on_event(event, injector);
            if (injector.writes().size() > 1024) injector.take();
        }
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * input.size()));
    static constexpr const char* names[] = {"lu", "mixed", "uniform", "sequential"};
    state.SetLabel(names[which]);
}

MonitorSpec spec_with(Eviction eviction, std::uint32_t line) {
    MonitorSpec spec;
    spec.link = "core-L1";
    spec.line = line;
    spec.eviction = eviction;
    return spec;
}

void monitor(benchmark::State& state) {
    MonitorSpec spec = spec_with(static_cast<Eviction>(state.range(0)), 64);
    Monitor listener(spec);
    feed(state, listener, state.range(1));
}
BENCHMARK(monitor)->ArgsProduct({{0, 1, 2, 3, 4, 5}, {0, 1, 2, 3}});

void monitor_dynamic(benchmark::State& state) {
    MonitorSpec spec = spec_with(Eviction::fifo, 64);
    spec.granularity = {Granularity::Mode::dynamic, 4};
    Monitor listener(spec);
    feed(state, listener, state.range(0));
}
BENCHMARK(monitor_dynamic)->DenseRange(0, 3);

void exact(benchmark::State& state) {
    ExactHistogram listener(spec_with(Eviction::fifo, 64));
    feed(state, listener, state.range(0));
}
BENCHMARK(exact)->DenseRange(0, 3);

/// The 24 cells of Table 2 of Schulz et al. 2002.
void sweep(benchmark::State& state) {
    SweepSpec spec;
    spec.base = spec_with(Eviction::fifo, 16);
    spec.counters = {16, 32, 64, 128};
    for (std::uint32_t lines = 1; lines <= 6; ++lines)
        spec.granularities.push_back({Granularity::Mode::aligned, lines});
    spec.evictions = {static_cast<Eviction>(state.range(0))};
    Sweep listener(spec);
    feed(state, listener, state.range(1));
}
BENCHMARK(sweep)->ArgsProduct({{0, 1, 3}, {0, 1, 2, 3}});

void one_of_sweep(benchmark::State& state) {
    Monitor listener(spec_with(static_cast<Eviction>(state.range(0)), 16));
    feed(state, listener, state.range(1));
}
BENCHMARK(one_of_sweep)->ArgsProduct({{0, 1}, {0, 1, 2, 3}});

}  // namespace
}  // namespace cachetally

BENCHMARK_MAIN();

// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/tlm/random_case.hpp"

#include <array>
#include <random>

#include "monitor/spec_placement.hpp"
#include "tests/differential/random_machine.hpp"

namespace cachetally::testing {
namespace {

class Draw {
public:
    explicit Draw(std::uint64_t seed) : generator_(seed) {}
    std::uint64_t operator()(std::uint64_t bound) { return generator_() % bound; }

private:
    std::mt19937_64 generator_;
};

Reference reference(Draw& draw, std::uint64_t pattern, std::uint64_t i) {
    constexpr std::array<Address, 4> bases{0x1000, 0x0, 0x40000000, 0x7ffff3c0};
    Reference made;
    made.address = bases[pattern % 4];
    switch (pattern / 4 % 4) {
        case 0: made.address += draw(64) * 64 + draw(64); break;
        case 1: made.address += i * 24; break;
        case 2: made.address += draw(7) * 4096 + draw(2) * 64; break;
        default: made.address += draw(300); break;
    }
    made.size = static_cast<std::uint16_t>(1 + draw(draw(40) == 0 ? 300 : 8));
    made.kind = static_cast<ReferenceKind>(draw(4) % 3);
    made.site = static_cast<std::uint32_t>(draw(4));
    return made;
}

Control control(Draw& draw) {
    switch (draw(8)) {
        case 0:
        case 1: return {Control::Kind::enter_function, static_cast<std::uint32_t>(draw(3))};
        case 2: return {Control::Kind::leave_function, 0};
        case 3: return {Control::Kind::monitor_off, 0};
        case 4: return {Control::Kind::monitor_on, 0};
        case 5: return {Control::Kind::meet, 0};
        case 6: return {Control::Kind::barrier, static_cast<std::uint32_t>(draw(2))};
        default: return {Control::Kind::none, 0};
    }
}

/// Parts without references are among them.
Program program(Draw& draw, std::uint64_t longest) {
    Program made;
    for (std::uint64_t parts = 1 + draw(8); parts > 0; --parts) {
        Part part;
        const std::uint64_t pattern = draw(16), count = draw(4) == 0 ? draw(2) : draw(longest);
        for (std::uint64_t i = 0; i < count; ++i) part.references.push_back(reference(draw, pattern, i));
        part.control = parts == 1 ? Control{Control::Kind::end, 0} : control(draw);
        made.push_back(std::move(part));
    }
    return made;
}

/// `costly`: those that look at the time, or send records into caches.
MonitorSpec monitor(Draw& draw, const Topology& topology, bool costly) {
    const auto kinds = possible_kinds(topology);
    MonitorSpec spec;
    for (std::uint64_t tries = 0; tries < 100; ++tries) {
        const std::size_t link = draw(topology.links().size());
        spec.link = topology.links()[link].name;
        spec.kinds = kinds[link];
        if (spec.kinds != 0) break;
    }
    spec.counters = 1U << draw(5);
    spec.barriers = draw(2) == 0;
    spec.functions = draw(3) == 0;
    if (!costly || draw(3) == 0) return spec;
    spec.ring.capacity = 2 + draw(6);
    spec.ring.path = draw(2) == 0 ? RingSpec::Path::link : RingSpec::Path::memory;
    spec.ring.overflow = draw(2) == 0 ? RingSpec::Overflow::stall : RingSpec::Overflow::drop;
    spec.ring.write_cost = draw(4);
    spec.ring.drain_cost = draw(20);
    spec.ring.base = 0x2000;
    return spec;
}

}  // namespace

Case random_case(std::uint64_t seed, unsigned cores) {
    Draw draw(seed);
    bool first = true;  // the number of cores is drawn first
    const differential::Chooser choose = [&](std::uint64_t bound) {
        return std::exchange(first, false) ? cores - 1 : draw(bound);
    };
    differential::MachineLimits limits;
    limits.cores = 8;
    limits.link_timing = true;
    limits.coherence = draw(2) == 0;
    limits.numa = true;
    limits.any_row = true;
    Case made;
    made.machine = differential::random_machine(choose, limits);
    const unsigned programs = cores > 1 && draw(8) == 0 ? cores - 1 : cores;
    for (unsigned core = 0; core < programs; ++core) made.programs.push_back(program(draw, 60));
    const Topology topology(made.machine);
    for (std::uint64_t monitors = draw(3); monitors > 0; --monitors)
        made.monitors.push_back(monitor(draw, topology, true));
    made.watching = draw(4) == 0 ? Watching::monitors : Watching::each;
    if (draw(6) == 0) made.options.max_references = 1 + draw(200);
    if (draw(12) == 0) made.programs.back().back().fails = true;
    if (draw(8) == 0) made.options.longest = made.machine.period * (50 + draw(5000));
    if (draw(6) == 0) made.options.warmup = 1 + draw(200);
    if (draw(4) == 0) made.options.phase_every = 1 + draw(40);
    return made;
}

Case random_plain_case(std::uint64_t seed) {
    Draw draw(seed);
    Case made;
    made.machine.name = "plain";
    made.machine.period = draw(2) == 0 ? 1000 : 333;
    CacheConfig first, second;
    first.name = "L1";
    first.next = "L2";
    first.size = 64 * 64 * 8;
    first.ways = 8;
    second.name = "L2";
    second.next = "memory";
    second.size = 8192;
    second.ways = 2;
    second.latency = 10;
    made.machine.caches = {first, second};
    made.machine.memories.emplace_back();
    if (draw(2) == 0) {
        made.machine.pages.mapping = draw(2) == 0 ? Mapping::identity : Mapping::random;
        TlbConfig tlb;
        tlb.name = "TLB";
        tlb.entries = 16;
        tlb.ways = 4;
        made.machine.tlbs.push_back(tlb);
    }
    made.programs.push_back(program(draw, 3000));
    for (Part& part : made.programs.back())
        for (Reference& each : part.references)
            if (each.kind == ReferenceKind::fetch) each.kind = ReferenceKind::load;
    made.watching = Watching::monitors;
    const Topology topology(made.machine);
    for (std::uint64_t monitors = draw(3); monitors > 0; --monitors)
        made.monitors.push_back(monitor(draw, topology, false));
    made.filtered = draw(3) != 0;
    if (draw(4) == 0) made.options.longest = made.machine.period * (1000 + draw(200'000));
    return made;
}

}  // namespace cachetally::testing

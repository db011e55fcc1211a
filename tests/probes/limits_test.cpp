// What times or counts alone leave open is refused, with the reason, rather than told wrong.
#include <fmt/format.h>

#include "tests/probes/hardened.hpp"

namespace cachetally {
namespace {

struct Few {
    std::string l1 = "size: 32 KiB, ways: 8, latency: 4", l2 = "size: 256 KiB, ways: 8, latency: 12";
    std::string tlb = "entries: 64, ways: 4", pages = "size: 4 KiB, mapping: contiguous", memory = "latency: 200";
};

MachineDescription machine_of_few(const Few& parts) {
    return read_machine(fmt::format("name: few\nclock: 1 GHz\ncaches:\n"
                                    "  - {{name: L1, next: L2, serves: data, virtually_indexed: true, {}}}\n"
                                    "  - {{name: L2, next: memory, {}}}\n"
                                    "tlbs:\n  - {{name: DTLB, serves: data, {}}}\n"
                                    "pages: {{{}}}\nmemory: {{{}}}\n",
                                    parts.l1, parts.l2, parts.tlb, parts.pages, parts.memory),
                        "few.yaml");
}

SimulatedOptions without_events() {
    SimulatedOptions options;
    options.no_events = "none here";
    return options;
}

/// A third level of 4 MiB that takes so much longer than the second.
MachineDescription with_third_level(unsigned cycles) {
    MachineDescription machine = machine_of_few({});
    machine.caches[1].latency = 46;
    machine.caches[1].next = "L3";
    CacheConfig third = machine.caches[1];
    third.name = "L3";
    third.next = "memory";
    third.size = 4 << 20;
    third.latency = cycles;
    machine.caches.push_back(third);
    return machine;
}

// 50 cycles, and 51 to 55.
TEST(Limits, LevelsOfNearlyTheSameLatencyAreNotTakenForOne) {
    for (const unsigned cycles : {1, 2, 4, 5}) {
        const TestReport report = hardened(with_third_level(cycles), "levels", without_events());
        expect_none_wrong(report);
        EXPECT_FALSE(finding(report, "", "levels").value);
        for (const char* parameter : {"capacity", "latency"})
            EXPECT_NE(finding(report, "L2", parameter).reason.find("of nearly the same latency"), std::string::npos);
        EXPECT_EQ(finding(report, "memory", "latency").verdict, Verdict::right);
        expect_none_wrong(hardened(with_third_level(cycles), "change_points", without_events()));
        expect_none_wrong(hardened(with_third_level(cycles), "l2", without_events()));
    }
    const TestReport clear = hardened(with_third_level(20), "levels", without_events());
    EXPECT_EQ(finding(clear, "", "levels").verdict, Verdict::right);
}

TEST(Limits, ALevelThatIsNearlyAsSlowAsMemory) {
    MachineDescription machine = machine_of_few({});
    machine.caches[1].latency = 196;
    machine.memories.front().latency = 12;
    const TestReport report = hardened(machine, "levels", without_events());
    expect_none_wrong(report);
    EXPECT_FALSE(finding(report, "", "levels").value);
    EXPECT_NE(finding(report, "memory", "latency").reason.find("too little for a level"), std::string::npos);
}

// 72 KiB in sets that are three times a power of two: of the lines that L1 adds some do not stay.
TEST(Limits, AnExclusiveSecondLevelOfOddSets) {
    Few parts;
    parts.l1 = "size: 16 KiB, ways: 8, latency: 1";
    parts.l2 = "size: 72 KiB, ways: 6, latency: 4, inclusion: exclusive";
    const TestReport report = hardened(machine_of_few(parts), "l2");
    expect_none_wrong(report);
    EXPECT_EQ(finding(report, "L2", "ways").low, 6);
    EXPECT_EQ(finding(report, "L2", "capacity").low, 72 << 10);
}

// A bank that is busy for 200 cycles: chains take that, or half of it by turns, but a load alone takes 66.
TEST(Limits, MemoryThatIsBusyWithTheLoadBefore) {
    for (const char* memory : {"latency: 50, banks: 2, bank_busy: 200", "latency: 50, bank_busy: 120",
                               "latency: 50, banks: 8, bank_busy: 900"})
        for (const char* noise : {"none", "realistic"}) {
            Few parts;
            parts.memory = memory;
            SimulatedOptions options;
            options.noise = noise_named(noise);
            const TestReport report = hardened(machine_of_few(parts), "levels", options);
            expect_none_wrong(report);
            EXPECT_NE(finding(report, "memory", "latency").reason.find("still busy"), std::string::npos) << memory;
            expect_none_wrong(hardened(machine_of_few(parts), "prefetcher", options));
        }
    Few quick;
    quick.memory = "latency: 100, banks: 2, bank_busy: 100";
    EXPECT_EQ(finding(hardened(machine_of_few(quick), "levels"), "memory", "latency").verdict, Verdict::right);
}

// 64 lines ahead is beyond the page; 64 halves of a line are not.
TEST(Limits, AStridePrefetcherThatLooksFarAhead) {
    for (const unsigned distance : {1, 16, 48, 64})
        for (const char* no_events : {"", "none here"}) {
            Few parts;
            parts.l1 += fmt::format(", prefetch: {{kind: stride, degree: 8, distance: {}}}", distance);
            SimulatedOptions options;
            options.no_events = no_events;
            EXPECT_EQ(finding(hardened(machine_of_few(parts), "prefetcher", options), "", "prefetcher").verdict,
                      Verdict::right)
                << distance << no_events;
        }
    EXPECT_EQ(finding(hardened(machine_of_few({}), "prefetcher"), "", "prefetcher").verdict, Verdict::right);
}

}  // namespace
}  // namespace cachetally

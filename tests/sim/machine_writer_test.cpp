// SPDX-License-Identifier: BSD-3-Clause
// Machine files that are written: what is read back is what was there, and nothing is written without need.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "cachetally/topology.hpp"
#include "sim/model/prefetch/table.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

/// A description without the file that it came from.
MachineDescription bare(MachineDescription machine) {
    const auto strip = [](auto& part) {
        part.mark = {};
        part.keys.clear();
    };
    for (CacheConfig& cache : machine.caches) strip(cache);
    for (TlbConfig& tlb : machine.tlbs) strip(tlb);
    for (MemoryConfig& memory : machine.memories) strip(memory);
    for (PageRange& range : machine.pages.ranges) range.mark = {};
    for (HomeRange& range : machine.numa.ranges) range.mark = {};
    strip(machine.numa);
    strip(machine.pages);
    for (MonitorEntry& monitor : machine.monitors) {
        monitor.mark = {};
        for (MonitorEntry::Setting& setting : monitor.settings) setting.mark = {};
    }
    machine.keys.clear();
    machine.file.clear();
    machine.text.clear();
    return machine;
}

unsigned number(unsigned least, unsigned most) { return *rc::gen::inRange(least, most + 1); }
bool flag() { return *rc::gen::arbitrary<bool>(); }
template <class Enum>
Enum choice() {
    return static_cast<Enum>(number(0, static_cast<unsigned>(names_of<Enum>().size()) - 1));
}
std::uint64_t seed() { return *rc::gen::arbitrary<std::uint64_t>(); }
std::string word() {
    return *rc::gen::element<std::string>("L1", "L2", "null", "true", "7", "a.b_c", "~", "L1-D", "with blank", "#",
                                          "...");
}
std::string text() {
    return *rc::gen::element<std::string>("", "plain", "two\nlines\tand a tab", "quote \" and \\",
                                          "gr\xc3\xb6\xc3\x9f"
                                          "e",
                                          ": # - {}[]", "null", "  blanks  ", "\x01\x7f", "'x'");
}

CacheConfig cache() {
    CacheConfig cache;
    cache.name = word();
    cache.next = word();
    cache.serves = choice<Serves>();
    cache.shared_by = number(0, 256);
    cache.size = std::uint64_t{number(0, 5000)} << number(0, 24);
    cache.ways = number(0, 65536);
    cache.line = number(0, 5000);
    cache.sector = flag() ? number(1, 5000) : 0;
    cache.latency = number(0, 1000000);
    cache.replacement = choice<Replacement>();
    cache.seed = seed();
    cache.empty_way = choice<EmptyWay>();
    cache.indexing = choice<Indexing>();
    cache.slices = flag() ? number(2, 1024) : 0;
    cache.virtually_indexed = flag();
    cache.inclusion = choice<Inclusion>();
    cache.write = choice<WritePolicy>();
    cache.write_allocate = flag();
    cache.write_back_first = flag();
    cache.write_back_miss = choice<WriteBackMiss>();
    cache.write_back_traffic = flag();
    cache.store_hit_refreshes = flag();
    cache.write_back_refreshes = flag();
    if (flag()) cache.bus = {number(0, 1000000), number(0, 4096), flag()};
    cache.outstanding_misses = number(0, 1024);
    cache.write_buffer = number(0, 1024);
    cache.prefetch.kind = choice<PrefetchKind>();
    if (cache.prefetch.kind == PrefetchKind::none) return cache;
    if (cache.prefetch.kind != prefetchers::adjacent_line) {
        cache.prefetch.degree = number(1, 64);
        cache.prefetch.distance = number(1, 64);
    }
    if (cache.prefetch.kind == prefetchers::stride || cache.prefetch.kind == prefetchers::stream)
        cache.prefetch.entries = number(1, 65536);
    return cache;
}

TlbConfig tlb() {
    TlbConfig tlb;
    tlb.name = word();
    tlb.next = flag() ? word() : "";
    tlb.serves = choice<Serves>();
    tlb.shared_by = number(0, 256);
    tlb.entries = number(1, 1 << 20);
    tlb.ways = number(0, 65536);
    tlb.latency = number(0, 1000000);
    tlb.replacement = choice<Replacement>();
    tlb.seed = seed();
    tlb.indexing = choice<Indexing>();
    for (unsigned i = number(0, 3); i > 0; --i)
        tlb.page_sizes.push_back(std::uint64_t{number(0, 5000)} << number(0, 20));
    tlb.granule = std::uint64_t{number(0, 5000)} << number(0, 20);
    tlb.coalesces = number(1, 16);
    return tlb;
}

PagesConfig pages(bool walks) {
    PagesConfig pages;
    pages.size = std::uint64_t{number(0, 5000)} << number(0, 20);
    pages.mapping = choice<Mapping>();
    if (pages.mapping == Mapping::coloured) pages.colours = number(1, 1 << 20);
    pages.seed = seed();
    for (unsigned i = number(0, 3); i > 0; --i)
        pages.ranges.push_back({seed(), seed(), std::uint64_t{number(0, 5000)}, {}});
    if (!walks) return pages;
    pages.walk_latency = number(0, 1000000);
    pages.walk_references = flag();
    if (pages.walk_references && flag()) pages.walk_through = word();
    for (unsigned i = number(0, 3); i > 0; --i) pages.walk_caches.push_back(number(0, 1024));
    return pages;
}

/// Without what the policy does not look at.
NumaConfig numa() {
    NumaConfig numa;
    numa.nodes = number(1, 64);
    numa.policy = choice<HomePolicy>();
    if (numa.policy == HomePolicy::interleaved) numa.granule = std::uint64_t{number(0, 5000)} << number(0, 20);
    if (numa.policy == HomePolicy::fixed) {
        for (unsigned i = number(0, 3); i > 0; --i) numa.ranges.push_back({seed(), seed(), word(), {}});
        if (flag()) numa.otherwise = word();
    }
    if (flag()) numa.interconnect = {number(0, 1000000), number(1, 4096), flag()};
    return numa;
}

MachineDescription description() {
    MachineDescription machine;
    machine.name = text();
    machine.description = text();
    machine.source = text();
    machine.period = number(1, 1000000);
    machine.cores = number(1, 256);
    for (unsigned i = number(0, 3); i > 0; --i) machine.caches.push_back(cache());
    for (unsigned i = number(0, 2); i > 0; --i) machine.tlbs.push_back(tlb());
    machine.pages = pages(!machine.tlbs.empty());
    if (flag()) machine.numa = numa();
    for (unsigned i = number(1, 3); i > 0; --i) {
        MemoryConfig& memory = machine.memories.emplace_back();
        memory.name = word();
        if (machine.has_nodes()) memory.node = number(0, 63);
        memory.size = std::uint64_t{number(0, 5000)} << number(0, 40);
        memory.latency = number(0, 1000000);
        if (flag()) continue;
        memory.banks = number(1, 4096);
        memory.interleave = number(0, 5000);
        memory.bank_busy = number(0, 1000000);
    }
    for (unsigned i = number(0, 2); i > 0; --i)
        machine.monitors.push_back(
            {{{"link", word(), {}}, {"kinds", "load+store", {}}, {word() + "x", text(), {}}}, {}});
    return machine;
}

RC_GTEST_PROP(MachineWriter, WhatIsWrittenIsReadBack, ()) {
    const MachineDescription machine = description();
    const std::string text = write_machine(machine);
    try {
        const MachineDescription read = bare(read_machine(text, "written"));
        RC_ASSERT(read == machine);
        RC_ASSERT(write_machine(read) == text);
    } catch (const MachineError& error) {
        RC_FAIL(text + error.what());
    }
}

TEST(MachineWriter, WritesOnlyWhatDiffersFromTheDefaults) {
    const std::string text =
        "name: small\n"
        "clock: 2.2 GHz\n"
        "caches:\n"
        "  - {name: L1, next: memory, size: 3 KiB, ways: 3, line: 32}\n"
        "tlbs:\n"
        "  - {name: T, entries: 16, ways: full}\n"
        "pages: {mapping: contiguous, walk: {latency: 30}}\n";
    EXPECT_EQ(write_machine(read_machine(text, "m")), text);
    EXPECT_EQ(write_machine(MachineDescription{}), "{}\n");
    EXPECT_EQ(write_machine(read_machine("{}", "m")), "{}\n");
}

TEST(MachineWriter, LeavesOutWhatHasNoEffect) {
    MachineDescription machine;
    machine.pages.walk_latency = 7;
    machine.pages.colours = 5;
    EXPECT_EQ(write_machine(machine), "{}\n");
}

}  // namespace
}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "sim/topology/host_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "cachetally/topology.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cachetally {
namespace {

struct HostCache {
    unsigned level = 0;
    std::string type;
    unsigned kib = 0, ways = 0, line = 0;  ///< 0 ways: fully associative
    bool of_core = true;                   ///< shared by no other core
};

struct HostTlb {
    unsigned entries = 0, ways = 0;  ///< 0 ways: fully associative
};

struct HostTlbs {
    std::optional<HostTlb> data, instructions, second;
};

std::string word_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string word;
    file >> word;
    return word;
}

unsigned number_of(const std::filesystem::path& path) {
    const auto number = parse_size(word_of(path));
    return number && *number < 1U << 20 ? static_cast<unsigned>(*number) : 0;
}

std::vector<HostCache> kernel_caches(const std::string& folder) {
    std::vector<HostCache> caches;
    std::string threads_of_core;
    for (unsigned i = 0;; ++i) {
        const std::filesystem::path index = folder + "/index" + std::to_string(i);
        const unsigned level = number_of(index / "level"), line = number_of(index / "coherency_line_size");
        if (level == 0) return caches;
        const std::string size = word_of(index / "size"), shared = word_of(index / "shared_cpu_list");
        const auto bytes = parse_size(size);
        if (line == 0 || !bytes || !size.ends_with('K')) continue;
        if (caches.empty()) threads_of_core = shared;
        caches.push_back({level, word_of(index / "type"), static_cast<unsigned>(*bytes >> 10),
                          number_of(index / "ways_of_associativity"), line, shared == threads_of_core});
    }
}

/// Intel leaf 4 and AMD leaf 0x8000001D, which have the same fields (manuals as below).
std::vector<HostCache> cpuid_caches(const Cpuid& cpuid, std::uint32_t leaf) {
    std::vector<HostCache> caches;
    unsigned threads_of_core = 0;
    for (std::uint32_t subleaf = 0; subleaf < 16; ++subleaf) {
        const auto [eax, ebx, ecx, edx] = cpuid(leaf, subleaf);
        static constexpr const char* types[] = {"", "Data", "Instruction", "Unified"};
        const unsigned type = eax & 0x1f, threads = (eax >> 14 & 0xfff) + 1;
        if (type == 0 || type > 3) break;
        if (caches.empty()) threads_of_core = threads;
        const unsigned line = (ebx & 0xfff) + 1, ways = (ebx >> 22) + 1, partitions = (ebx >> 12 & 0x3ff) + 1;
        const std::uint64_t bytes = std::uint64_t{ecx + 1} * ways * partitions * line;
        caches.push_back({eax >> 5 & 7, types[type], static_cast<unsigned>(bytes >> 10), (eax & 0x200) != 0 ? 0 : ways,
                          line, threads <= threads_of_core});
    }
    return caches;
}
/// Of 4 KiB pages. Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID leaf 18H.
HostTlbs intel_tlbs(const Cpuid& cpuid) {
    HostTlbs tlbs;
    if (cpuid(0, 0)[0] < 0x18) return tlbs;
    const std::uint32_t last = std::min(cpuid(0x18, 0)[0], 63U);
    for (std::uint32_t subleaf = 0; subleaf <= last; ++subleaf) {
        const auto [eax, ebx, ecx, edx] = cpuid(0x18, subleaf);
        const unsigned type = edx & 0x1f, level = edx >> 5 & 7;
        if (type == 0 || (ebx & 1) == 0) continue;
        const unsigned ways = ebx >> 16;
        const HostTlb tlb{ways * ecx, (edx & 0x100) != 0 ? 0 : ways};
        if (level == 1 && (type == 1 || type == 4)) tlbs.data = tlb;
        if (level == 1 && type == 2) tlbs.instructions = tlb;
        if (level == 2 && type != 2) tlbs.second = tlb;
    }
    return tlbs;
}

/// AMD64 Architecture Programmer's Manual, volume 3, E.4.5: 0xff is fully associative; 0 for no cache, and for 9, which
/// says that the other fields mean nothing.
constexpr unsigned amd_ways(std::uint32_t code) {
    constexpr unsigned ways[16] = {0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0xff};
    return ways[code & 15];
}

/// Likewise, CPUID Fn8000_0005 and Fn8000_0006: older processors, and virtual machines without Fn8000_001D.
std::vector<HostCache> older_amd_caches(const Cpuid& cpuid) {
    if (cpuid(0x80000000, 0)[0] < 0x80000006) return {};
    std::vector<HostCache> caches;
    const auto add = [&](unsigned level, const char* type, unsigned kib, unsigned ways, unsigned line) {
        if (kib != 0 && ways != 0 && line != 0) caches.push_back({level, type, kib, ways == 0xff ? 0 : ways, line});
    };
    const auto first = cpuid(0x80000005, 0), below = cpuid(0x80000006, 0);
    add(1, "Data", first[2] >> 24, first[2] >> 16 & 0xff, first[2] & 0xff);
    add(1, "Instruction", first[3] >> 24, first[3] >> 16 & 0xff, first[3] & 0xff);
    add(2, "Unified", below[2] >> 16, amd_ways(below[2] >> 12), below[2] & 0xff);
    const std::size_t own = caches.size();
    add(3, "Unified", (below[3] >> 18) * 512, amd_ways(below[3] >> 12), below[3] & 0xff);
    if (caches.size() > own) caches.back().of_core = false;
    return caches;
}

/// Likewise, CPUID Fn8000_0005, Fn8000_0006 and Fn8000_0021 (L2TlbSizeX32).
HostTlbs amd_tlbs(const Cpuid& cpuid) {
    HostTlbs tlbs;
    if (cpuid(0x80000000, 0)[0] < 0x80000006) return tlbs;
    const std::uint32_t first = cpuid(0x80000005, 0)[1], second = cpuid(0x80000006, 0)[1];
    const auto tlb = [](unsigned entries, unsigned ways) {
        return entries == 0 || ways == 0 ? std::nullopt : std::optional(HostTlb{entries, ways == 0xff ? 0 : ways});
    };
    tlbs.instructions = tlb(first & 0xff, first >> 8 & 0xff);
    tlbs.data = tlb(first >> 16 & 0xff, first >> 24);
    const bool by_32 = cpuid(0x80000000, 0)[0] >= 0x80000021 && (cpuid(0x80000021, 0)[0] >> 14 & 1) != 0;
    tlbs.second = tlb((second >> 16 & 0xfff) * (by_32 ? 32 : 1), amd_ways(second >> 28));
    return tlbs;
}

constexpr std::uint32_t intel = 0x756e6547, amd = 0x68747541;  // ebx of leaf 0: "Genu", "Auth"

HostTlbs tlbs_of(const Cpuid& cpuid) {
    const std::uint32_t maker = cpuid(0, 0)[1];
    return maker == intel ? intel_tlbs(cpuid) : maker == amd ? amd_tlbs(cpuid) : HostTlbs{};
}

struct HostCaches {
    std::vector<HostCache> caches;
    const char* stated_by;
};

/// The kernel first: it knows errata. Some virtual machines' kernels state nothing.
HostCaches caches_of(const std::string& folder, const Cpuid& cpuid) {
    if (auto caches = kernel_caches(folder); !caches.empty()) return {std::move(caches), "the kernel"};
    const std::uint32_t maker = cpuid(0, 0)[1];
    std::vector<HostCache> caches;
    if (maker == intel && cpuid(0, 0)[0] >= 4) caches = cpuid_caches(cpuid, 4);
    if (maker == amd && cpuid(0x80000000, 0)[0] >= 0x8000001d) caches = cpuid_caches(cpuid, 0x8000001d);
    if (maker == amd && caches.empty()) caches = older_amd_caches(cpuid);
    if (caches.empty())
        throw MachineError("host", {{{},
                                     "neither " + folder +
                                         " nor CPUID states caches of this machine; name a machine file, or measure "
                                         "one: cachetally probe --machine native --write-machine FILE.yaml"}});
    return {std::move(caches), "CPUID"};
}

/// Sets must be whole; else the ways nearest below that divide the entries.
std::string tlb_text(const char* name, const char* rest, const HostTlb& tlb) {
    unsigned ways = tlb.ways == 0 ? tlb.entries : tlb.ways;
    while (tlb.entries % ways != 0) --ways;
    return fmt::format("  - {{name: {}, {}entries: {}, ways: {}}}\n", name, rest, tlb.entries, ways);
}

std::string cache_name(const HostCache& cache) {
    return fmt::format("L{}{}", cache.level, cache.type == "Data" ? "D" : cache.type == "Instruction" ? "I" : "");
}

}  // namespace

#if defined(__x86_64__)
std::array<std::uint32_t, 4> host_cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
    std::array<std::uint32_t, 4> words{};
    __get_cpuid_count(leaf, subleaf, &words[0], &words[1], &words[2], &words[3]);
    return words;
}
#else
std::array<std::uint32_t, 4> host_cpuid(std::uint32_t, std::uint32_t) { return {}; }
#endif

std::string host_machine_file(const std::string& folder, const Cpuid& cpuid) {
    const auto [caches, stated_by] = caches_of(folder, cpuid);
    const HostTlbs tlbs = tlbs_of(cpuid);
    const HostTlb data = tlbs.data.value_or(HostTlb{64, 4}), instructions = tlbs.instructions.value_or(HostTlb{64, 4}),
                  second = tlbs.second.value_or(HostTlb{1536, 12});
    const bool third = std::ranges::any_of(caches, [](const HostCache& cache) { return cache.level == 3; });
    std::string assumed;
    if (!tlbs.data) assumed += "DTLB, ";
    if (!tlbs.instructions) assumed += "ITLB, ";
    if (!tlbs.second) assumed += "STLB, ";
    std::string text = fmt::format(
        "name: host\ndescription: \"this machine: caches as {} states them{}, TLBs by CPUID; assumed: {}"
        "latencies, LRU, NINE, sets by address bits, no prefetchers, 4 KiB pages\"\nsource: sysfs and CPUID\n"
        "clock: 3 GHz\ncores: 1\ncaches:\n",
        stated_by, third ? "" : " (no L3)", assumed);
    static constexpr unsigned latencies[] = {4, 14, 50, 100};
    for (const HostCache& cache : caches) {
        const auto below =
            std::ranges::find_if(caches, [&](const HostCache& other) { return other.level > cache.level; });
        const char* const serves = cache.type == "Data"          ? "serves: data, "
                                   : cache.type == "Instruction" ? "serves: fetch, "
                                                                 : "";
        text +=
            fmt::format("  - {{name: {}, next: {}, {}shared_by: {}, size: {} KiB, ways: {}, line: {}, latency: {}}}\n",
                        cache_name(cache), below == caches.end() ? "memory" : cache_name(*below), serves,
                        cache.of_core ? "1" : "all", cache.kib, cache.ways == 0 ? "full" : std::to_string(cache.ways),
                        cache.line, latencies[std::min(cache.level, 4U) - 1]);
    }
    text += "tlbs:\n" + tlb_text("DTLB", "next: STLB, serves: data, ", data) +
            tlb_text("ITLB", "next: STLB, serves: fetch, ", instructions) + tlb_text("STLB", "latency: 7, ", second);
    return text + "pages: {size: 4 KiB, mapping: contiguous}\nmemory: {name: memory, size: 1 TiB, latency: 200}\n";
}

bool is_assumed(const MachineDescription& host, std::string_view level) {
    const std::string_view name = level == "TLB1" ? "DTLB, " : level == "TLB2" ? "STLB, " : "";
    const std::size_t list = host.description.find("; assumed: ");
    return host.source == "sysfs and CPUID" && !name.empty() && list != std::string::npos &&
           host.description.find(name, list) != std::string::npos;
}

}  // namespace cachetally

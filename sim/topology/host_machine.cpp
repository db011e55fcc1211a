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
    std::string type, size, shared;
    unsigned ways = 0, line = 0;
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

std::vector<HostCache> caches_of(const std::string& folder) {
    std::vector<HostCache> caches;
    for (unsigned i = 0;; ++i) {
        const std::filesystem::path index = folder + "/index" + std::to_string(i);
        HostCache cache{number_of(index / "level"),
                        word_of(index / "type"),
                        word_of(index / "size"),
                        word_of(index / "shared_cpu_list"),
                        number_of(index / "ways_of_associativity"),
                        number_of(index / "coherency_line_size")};
        if (cache.level == 0) break;
        if (cache.line != 0 && cache.size.ends_with('K')) caches.push_back(std::move(cache));
    }
    if (caches.empty())
        throw MachineError("host", {{{}, folder + " states no caches of this machine; name a machine file"}});
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

/// AMD64 Architecture Programmer's Manual, volume 3, CPUID Fn8000_0005, Fn8000_0006 and Fn8000_0021 (L2TlbSizeX32).
HostTlbs amd_tlbs(const Cpuid& cpuid) {
    HostTlbs tlbs;
    if (cpuid(0x80000000, 0)[0] < 0x80000006) return tlbs;
    const std::uint32_t first = cpuid(0x80000005, 0)[1], second = cpuid(0x80000006, 0)[1];
    const auto tlb = [](unsigned entries, unsigned ways) {
        return entries == 0 || ways == 0 ? std::nullopt : std::optional(HostTlb{entries, ways == 0xff ? 0 : ways});
    };
    tlbs.instructions = tlb(first & 0xff, first >> 8 & 0xff);
    tlbs.data = tlb(first >> 16 & 0xff, first >> 24);
    static constexpr unsigned ways_of_code[16] = {0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0xff};
    const bool by_32 = cpuid(0x80000000, 0)[0] >= 0x80000021 && (cpuid(0x80000021, 0)[0] >> 14 & 1) != 0;
    tlbs.second = tlb((second >> 16 & 0xfff) * (by_32 ? 32 : 1), ways_of_code[second >> 28]);
    return tlbs;
}

HostTlbs tlbs_of(const Cpuid& cpuid) {
    const auto [eax, ebx, ecx, edx] = cpuid(0, 0);
    constexpr std::uint32_t genu = 0x756e6547, auth = 0x68747541;  // GenuineIntel, AuthenticAMD
    return ebx == genu ? intel_tlbs(cpuid) : ebx == auth ? amd_tlbs(cpuid) : HostTlbs{};
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
    const std::vector<HostCache> caches = caches_of(folder);
    const HostTlbs tlbs = tlbs_of(cpuid);
    const HostTlb data = tlbs.data.value_or(HostTlb{64, 4}), instructions = tlbs.instructions.value_or(HostTlb{64, 4}),
                  second = tlbs.second.value_or(HostTlb{1536, 12});
    std::string assumed;
    if (!tlbs.data) assumed += "DTLB, ";
    if (!tlbs.instructions) assumed += "ITLB, ";
    if (!tlbs.second) assumed += "STLB, ";
    std::string text = fmt::format(
        "name: host\ndescription: \"this machine: caches as the kernel states them, TLBs by CPUID; assumed: {}"
        "latencies, LRU, NINE, sets by address bits, no prefetchers, 4 KiB pages\"\nsource: sysfs and CPUID\n"
        "clock: 3 GHz\ncores: 1\ncaches:\n",
        assumed);
    static constexpr unsigned latencies[] = {4, 14, 50, 100};
    const std::string own = caches.front().shared;  // the threads of a core
    for (const HostCache& cache : caches) {
        const auto below =
            std::ranges::find_if(caches, [&](const HostCache& other) { return other.level > cache.level; });
        const char* const serves = cache.type == "Data"          ? "serves: data, "
                                   : cache.type == "Instruction" ? "serves: fetch, "
                                                                 : "";
        text +=
            fmt::format("  - {{name: {}, next: {}, {}shared_by: {}, size: {} KiB, ways: {}, line: {}, latency: {}}}\n",
                        cache_name(cache), below == caches.end() ? "memory" : cache_name(*below), serves,
                        cache.shared == own ? "1" : "all", cache.size.substr(0, cache.size.size() - 1),
                        cache.ways == 0 ? "full" : std::to_string(cache.ways), cache.line,
                        latencies[std::min(cache.level, 4U) - 1]);
    }
    text += "tlbs:\n" + tlb_text("DTLB", "next: STLB, serves: data, ", data) +
            tlb_text("ITLB", "next: STLB, serves: fetch, ", instructions) + tlb_text("STLB", "latency: 7, ", second);
    return text + "pages: {size: 4 KiB, mapping: contiguous}\nmemory: {name: memory, size: 1 TiB, latency: 200}\n";
}

}  // namespace cachetally

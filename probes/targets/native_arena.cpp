// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/native_arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "base/random.hpp"
#include "base/units.hpp"
#include "probes/target.hpp"

namespace cachetally {
namespace {

/// KiB of large pages in the mapping that begins here, as the system says.
std::uint64_t large_kib_at(const void* begin) {
    std::ostringstream wanted;
    wanted << std::hex << reinterpret_cast<std::uintptr_t>(begin) << '-';
    std::ifstream maps("/proc/self/smaps");
    bool here = false;
    for (std::string line; std::getline(maps, line);) {
        const std::size_t space = line.find(' '), colon = line.find(':');
        if (line.find('-') < space && colon > space) here = line.starts_with(wanted.str());
        if (here && line.starts_with("AnonHugePages:"))
            return std::stoull(line.substr(line.find_first_of("0123456789")));
    }
    return 0;
}

std::uint64_t digest_of(std::span<const std::uint64_t> offsets, unsigned chains) {
    std::uint64_t digest = splitmix64(offsets.size() + 1) ^ chains;
    for (const std::uint64_t offset : offsets) digest = splitmix64(digest ^ offset) + 1;
    return digest | 1;
}

/// Chains of `each` locations follow each other; the last one of each goes on with its first. Calls `see` from location
/// to location while that says so; returns whether it always did.
template <class See>
bool for_each_step(std::span<const std::uint64_t> offsets, std::size_t each, See see) {
    for (std::size_t begin = 0; begin < offsets.size(); begin += each) {
        const std::size_t last = begin + each - 1;
        for (std::size_t i = begin; i < last; ++i)
            if (!see(offsets[i], offsets[i + 1])) return false;
        if (!see(offsets[last], offsets[begin])) return false;
    }
    return true;
}

}  // namespace

NativeArena& NativeArenas::memory_of(const Arena& arena) {
    const auto known = std::ranges::find(arenas_, arena.id, &Placed::id);
    if (known != arenas_.end()) {
        arenas_.splice(arenas_.begin(), arenas_, known);
        return arenas_.front().memory;
    }
    std::uint64_t all = arena.bytes;
    for (const Placed& placed : arenas_) all += placed.memory.bytes();
    while (all > most_bytes_ && !arenas_.empty()) {
        all -= arenas_.back().memory.bytes();
        arenas_.pop_back();
    }
    arenas_.emplace_front(arena);
    return arenas_.front().memory;
}

void NativeArenas::release(const Arena& arena) {
    std::erase_if(arenas_, [&](const Placed& placed) { return placed.id == arena.id; });
}

std::uint64_t small_page() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

NativeArena::NativeArena(std::uint64_t bytes, std::uint64_t page) : bytes_((bytes + page - 1) / page * page) {
    const bool large = page > small_page();
    mapped_bytes_ = bytes_ + (large ? page : 0);  // to begin at a large page
    void* const memory = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        throw ProbeError("the system gives no {} of memory: {}", format_size(mapped_bytes_), std::strerror(errno));
    mapped_ = static_cast<std::byte*>(memory);
    const std::uint64_t over = reinterpret_cast<std::uintptr_t>(mapped_) % page;
    begin_ = mapped_ + (over == 0 ? 0 : page - over);
    madvise(begin_, bytes_, large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);  // a system without large pages refuses: fine
    for (std::uint64_t at = 0; at < bytes_; at += small_page()) begin_[at] = std::byte{1};
    if (!large || large_kib_at(begin_) * 1024 >= bytes_) return;
    munmap(mapped_, mapped_bytes_);
    throw ProbeError("the system gives no {} in pages of {}: see /sys/kernel/mm/transparent_hugepage/enabled",
                     format_size(bytes_), format_size(page));
}

NativeArena::~NativeArena() { munmap(mapped_, mapped_bytes_); }

std::vector<void**> NativeArena::write(std::span<const std::uint64_t> offsets, unsigned chains) {
    const auto place = [&](std::size_t i) { return reinterpret_cast<void**>(begin_ + offsets[i]); };
    const std::size_t each = offsets.size() / chains;
    std::vector<void**> first;
    for (std::size_t i = 0; i < offsets.size(); i += each) first.push_back(place(i));
    const std::uint64_t digest = digest_of(offsets, chains);
    if (digest == written_) return first;
    written_ = 0;
    for (const std::uint64_t offset : offsets)
        if (offset % sizeof(void*) != 0 || offset + sizeof(void*) > bytes_)
            throw ProbeError("offset {} of a chase is no multiple of {}, or lies outside of an arena of {}", offset,
                             sizeof(void*), format_size(bytes_));
    for_each_step(offsets, each, [&](std::uint64_t from, std::uint64_t to) {
        *reinterpret_cast<void**>(begin_ + from) = begin_ + to;
        return true;
    });
    if (!holds(offsets, chains))
        throw ProbeError("an offset is in a chase twice: a real chain of loads cannot go on two ways");
    written_ = digest;
    return first;
}

bool NativeArena::holds(std::span<const std::uint64_t> offsets, unsigned chains) const {
    return for_each_step(offsets, offsets.size() / chains, [&](std::uint64_t from, std::uint64_t to) {
        return *reinterpret_cast<void* const*>(begin_ + from) == begin_ + to;
    });
}

std::vector<std::uint64_t> NativeArena::physical_pages(std::uint64_t page) const {
    constexpr std::uint64_t present = std::uint64_t{1} << 63, frame = (std::uint64_t{1} << 55) - 1;  // pagemap.rst
    const std::uint64_t own = small_page();
    const int map = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (map < 0) return {};
    std::vector<std::uint64_t> pages;
    for (std::uint64_t at = 0; at < bytes_; at += page) {
        std::uint64_t entry = 0;
        const std::uint64_t number = (reinterpret_cast<std::uintptr_t>(begin_) + at) / own;
        const auto place = static_cast<off_t>(number * sizeof(entry));
        if (::pread(map, &entry, sizeof(entry), place) != sizeof(entry) || (entry & present) == 0) entry = 0;
        if ((entry & frame) == 0) {
            pages.clear();
            break;
        }
        pages.push_back((entry & frame) * own);
    }
    ::close(map);
    return pages;
}

namespace {

/// Until all loads, stores and flushes are done.
void wait_for_all() {
#if defined(__x86_64__)
    asm volatile("mfence" ::: "memory");
#elif defined(__aarch64__)
    asm volatile("dsb sy" ::: "memory");
#endif
}

}  // namespace

void NativeArena::store(std::span<const std::uint64_t> offsets) const {
    for_each_step(offsets, offsets.size(), [&](std::uint64_t from, std::uint64_t to) {
        *reinterpret_cast<void* volatile*>(begin_ + from) = begin_ + to;
        return true;
    });
    wait_for_all();
}

void NativeArena::flush(std::span<const std::uint64_t> offsets) const {
    for (const std::uint64_t offset : offsets) {
        const std::byte* const place = begin_ + offset;
#if defined(__x86_64__)
        asm volatile("clflush (%0)" ::"r"(place) : "memory");
#elif defined(__aarch64__)
        asm volatile("dc civac, %0" ::"r"(place) : "memory");
#endif
    }
    wait_for_all();
}

void** follow(void** at, std::uint64_t loads) {
    for (; loads % 16 != 0; --loads) {
        at = static_cast<void**>(*at);
        asm volatile("" : "+r"(at));
    }
    std::uint64_t rounds = loads / 16;
    if (rounds == 0) return at;
#if defined(__x86_64__)
    asm volatile("1:\n\t.rept 16\n\tmov (%0), %0\n\t.endr\n\tsub $1, %1\n\tjnz 1b"
                 : "+r"(at), "+r"(rounds)
                 :
                 : "cc", "memory");
#elif defined(__aarch64__)
    asm volatile("1:\n\t.rept 16\n\tldr %0, [%0]\n\t.endr\n\tsubs %1, %1, #1\n\tb.ne 1b"
                 : "+r"(at), "+r"(rounds)
                 :
                 : "cc", "memory");
#endif
    return at;
}

void** follow_and_store(void** at, std::uint64_t loads) {
    for (; loads > 0; --loads) {
        void* volatile* const place = at;
        void* const next = *place;
        *place = next;
        at = static_cast<void**>(next);
    }
    return at;
}

namespace {

/// Cursors are in registers as far as these go. The loads are volatile: they stay, in this order.
template <std::size_t... chain>
void follow_these(void*** at, std::uint64_t loads_of_each, std::index_sequence<chain...>) {
    std::array<void**, sizeof...(chain)> cursors{at[chain]...};
    for (; loads_of_each > 0; --loads_of_each)
        ((cursors[chain] = static_cast<void**>(*static_cast<void* volatile*>(cursors[chain]))), ...);
    ((at[chain] = cursors[chain]), ...);
}

using Follow = void (*)(void*** at, std::uint64_t loads_of_each);

/// By the number of chains less one.
template <std::size_t... fewer>
constexpr std::array<Follow, sizeof...(fewer)> ways_to_follow(std::index_sequence<fewer...>) {
    return {[](void*** at, std::uint64_t loads) { follow_these(at, loads, std::make_index_sequence<fewer + 1>()); }...};
}

}  // namespace

void follow_in_turn(std::span<void**> at, std::uint64_t loads_of_each) {
    static constexpr auto ways = ways_to_follow(std::make_index_sequence<most_native_chains>());
    ways.at(at.size() - 1)(at.data(), loads_of_each);
}

}  // namespace cachetally

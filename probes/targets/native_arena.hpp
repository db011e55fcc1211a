// SPDX-License-Identifier: BSD-3-Clause
// NativeArena: memory in pages of a size that is known, with a chase written into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "cachetally/probe_target.hpp"

namespace cachetally {

class NativeArena {
public:
    /// Mapped and written. Throws ProbeError where the system has no such memory, or pages of another size.
    NativeArena(std::uint64_t bytes, std::uint64_t page);
    ~NativeArena();
    NativeArena(const NativeArena&) = delete;
    NativeArena& operator=(const NativeArena&) = delete;

    std::uint64_t bytes() const { return bytes_; }

    /// Each location holds the address of the next one, the last one that of the first, in each of so many equal parts.
    /// Returns the first of each. Throws ProbeError where two locations overlap, or an offset lies outside.
    std::vector<void**> write(std::span<const std::uint64_t> offsets, unsigned chains);

    /// Whether chains that were written are still whole, though others were written after them.
    bool holds(std::span<const std::uint64_t> offsets, unsigned chains) const;

    /// Stores once more what a chase through these offsets holds, loading nothing, and waits until it is done.
    void store(std::span<const std::uint64_t> offsets) const;

    void load(std::uint64_t offset) const { static_cast<void>(*(reinterpret_cast<void* volatile*>(begin_ + offset))); }

    /// Its memory, to be overwritten: it holds no chase any more.
    std::byte* overwrite() {
        written_ = 0;
        return begin_;
    }

    /// Physical addresses of its pages, in order; empty where the system does not tell (it does root).
    std::vector<std::uint64_t> physical_pages(std::uint64_t page) const;

    /// Takes the lines at these offsets out of all caches.
    void flush(std::span<const std::uint64_t> offsets) const;

private:
    std::byte* mapped_ = nullptr;
    std::byte* begin_ = nullptr;
    std::uint64_t mapped_bytes_ = 0, bytes_ = 0;
    std::uint64_t written_ = 0;  ///< digest of the chase that it holds
};

/// The memory of arenas, up to so many bytes: those unused for longest are given back.
class NativeArenas {
public:
    explicit NativeArenas(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

    /// Of an arena, placed anew if it was given back. Throws what NativeArena() throws.
    NativeArena& memory_of(const Arena& arena);
    void release(const Arena& arena);

private:
    struct Placed {
        explicit Placed(const Arena& arena) : id(arena.id), memory(arena.bytes, arena.page) {}
        std::uint32_t id;
        NativeArena memory;
    };
    std::uint64_t most_bytes_;
    std::list<Placed> arenas_;  ///< the one used last first
};

constexpr unsigned most_native_chains = 32;

/// The ordinary size of pages, bytes.
std::uint64_t small_page();

/// Makes so many loads, each of the address that the one before it gave.
void** follow(void** at, std::uint64_t loads);

/// The same, each followed by a store of what it loaded to the same place.
void** follow_and_store(void** at, std::uint64_t loads);

/// Makes so many loads of each of 1 to most_native_chains chains, one of each in turn. Where there are more than the
/// processor has registers for, the addresses of the rest wait in L1: some cycles more for each of their loads, in
/// which loads of the other chains are made.
void follow_in_turn(std::span<void**> at, std::uint64_t loads_of_each);

}  // namespace cachetally

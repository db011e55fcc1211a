// SPDX-License-Identifier: BSD-3-Clause
// Layout: where the data structures of a workload lie in its simulated address space.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "workloads/kernels/processor.hpp"

namespace cachetally {

/// Regions follow each other from 0x10000000, each beginning `offset` bytes after a page boundary; stacks lie below
/// 0x7fff1000, or far above where the regions reach that high.
class Layout {
public:
    static constexpr Address heap = 0x10000000;
    static constexpr std::uint64_t page = 4096;
    static constexpr std::uint64_t stack_bytes = 8192;

    /// Reserves addresses; returns the first.
    Address place(std::string name, std::uint64_t bytes, std::uint32_t element_bytes, std::uint64_t offset = 0);

    template <class T>
    Array<T> array(std::string name, std::uint64_t count, std::uint64_t offset = 0) {
        reserve_host(count * sizeof(T));
        return {place(std::move(name), count * sizeof(T), sizeof(T), offset), count};
    }

    /// To be called before so many bytes of data are allocated. Throws OptionError where this machine's memory cannot
    /// hold all that was reserved.
    void reserve_host(std::uint64_t bytes);

    /// The stack of a processor, region "stackP"; to be placed after all other regions. Returns the stack pointer; the
    /// stack grows down from there.
    Address stack(unsigned processor);

    const std::vector<Region>& regions() const { return regions_; }

private:
    Address next_ = heap;
    std::uint64_t host_bytes_ = 0;
    std::vector<Region> regions_;
};

/// The part of 0 .. count - 1 that is processor `number`'s: contiguous, sizes differ by at most one.
struct Share {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};
Share share_of(std::uint64_t count, unsigned number, unsigned processors);

/// Depends on every byte and their order.
std::uint64_t fingerprint_of(const void* data, std::size_t bytes);
template <class T>
std::uint64_t fingerprint_of(std::span<const T> data) {
    return fingerprint_of(data.data(), data.size_bytes());
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Layout: a bump allocator of simulated addresses.
#include "workloads/kernels/layout.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/random.hpp"
#include "workloads/kernels/options.hpp"

namespace cachetally {
namespace {

std::string mebibytes(std::uint64_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

}  // namespace

Address Layout::place(std::string name, std::uint64_t bytes, std::uint32_t element_bytes, std::uint64_t offset) {
    const Address base = next_ + offset;
    next_ += divide_round_up(offset + bytes, page) * page;
    regions_.push_back({std::move(name), base, bytes, element_bytes});
    return base;
}

void Layout::reserve_host(std::uint64_t bytes) {
    host_bytes_ += bytes;
    const auto memory =
        static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    if (host_bytes_ > memory)
        throw OptionError(
            fmt::format("the data structures take {}, the memory of this machine is {}; make them smaller",
                        mebibytes(host_bytes_), mebibytes(memory)));
}

Address Layout::stack(unsigned processor) {
    // One page lies above the stack pointer, as the frames of the callers would. Where in the page it
    // points matters to monitors with groups of lines (docs/workloads.md, lu).
    const Address first = next_ < 0x7f000000 ? 0x7ffef000 : 0x7ffffffef000;
    const Address base = first - processor * (stack_bytes + page);
    regions_.push_back({"stack" + std::to_string(processor), base, stack_bytes, 4});
    return base + stack_bytes / 2 + 32;
}

Share share_of(std::uint64_t count, unsigned number, unsigned processors) {
    const std::uint64_t each = count / processors, over = count % processors;
    const std::uint64_t begin = number * each + std::min<std::uint64_t>(number, over);
    return {begin, begin + each + (number < over ? 1 : 0)};
}

std::uint64_t fingerprint_of(const void* data, std::size_t bytes) {
    std::uint64_t hash = splitmix64(bytes);
    for (std::size_t i = 0; i < bytes; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, static_cast<const char*>(data) + i, std::min<std::size_t>(8, bytes - i));
        hash = splitmix64(hash ^ word);
    }
    return hash;
}

}  // namespace cachetally

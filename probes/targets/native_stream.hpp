// SPDX-License-Identifier: BSD-3-Clause
// Loads and stores of bytes that lie side by side, with the widest vectors of the processor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "probes/target.hpp"
#include "probes/targets/native_work.hpp"

namespace cachetally {

/// Bytes that cannot be parted: whole lines, and whole rounds of the loops for vectors of up to 256 bytes.
constexpr std::uint64_t stream_grain = 1024;

/// Steps are blocks of Streaming::block bytes that are loaded or stored.
class StreamWork final : public NativeWork {
public:
    /// Of memory that begins at `begin`, whose content it overwrites unless it reads. Streaming::bytes is a multiple of
    /// twice the grain.
    StreamWork(std::byte* begin, const Streaming& stream) : begin_(begin), stream_(stream) {}

    void go_on(std::uint64_t steps) override;
    std::uint64_t lap() const override { return stream_.bytes / Streaming::block; }
    std::uint64_t grain() const override { return 2 * stream_grain / Streaming::block; }

private:
    std::byte* begin_;
    Streaming stream_;
    std::uint64_t done_ = 0;  ///< bytes of the lap
    std::uint64_t value_ = 0;
};

/// One pass; `bytes` is a multiple of the grain. What is read adds up to the result, so that it is not left out.
std::uint64_t read_bytes(const std::byte* from, std::uint64_t bytes);
void write_bytes(std::byte* to, std::uint64_t bytes, std::uint64_t value);
void copy_bytes(const std::byte* from, std::byte* to, std::uint64_t bytes);

}  // namespace cachetally

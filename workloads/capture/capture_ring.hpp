// SPDX-License-Identifier: BSD-3-Clause
// CaptureRing: the reader's side of the ring that captured programs fill (ring.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

struct ct_ring;

namespace cachetally {

/// A chunk of captured words. Valid until it is released.
struct CapturedChunk {
    std::uint32_t number = 0;
    std::uint32_t thread = 0;
    std::span<const std::uint64_t> data;
    std::span<const std::uint64_t> runs;        ///< the first in program order is the last
    std::span<const std::uint64_t> pairs = {};  ///< of the compiled runtime, whose chunks have neither data nor runs
};

/// Shared memory of one capture. Not for several threads at once, but for leave().
class CaptureRing {
public:
    /// Throws TraceError where there is no memory.
    explicit CaptureRing(unsigned chunks);
    ~CaptureRing();
    CaptureRing(const CaptureRing&) = delete;
    CaptureRing& operator=(const CaptureRing&) = delete;

    /// Where the captured program finds it while this process lives.
    std::string path() const;

    /// The next chunk in order. While there is none, waits as long as `alive` says that more may come; then what a
    /// killed program left in its open chunks; then nothing. Throws TraceError where the ring contradicts itself.
    std::optional<CapturedChunk> next(const std::function<bool()>& alive);

    /// The words are used up.
    void release(const CapturedChunk& chunk);

    /// Whether a process has come to write.
    bool is_written() const;

    /// Whether the program announced its end.
    bool ended() const;

    /// Nobody reads on: the program goes on without recording, and next() returns nothing. By any thread.
    void leave();
    bool left() const;

private:
    std::optional<CapturedChunk> published();
    std::optional<CapturedChunk> left_open();
    const std::uint64_t* chunk_words(std::uint32_t number) const;
    CapturedChunk view(std::uint32_t number, std::uint64_t data_words, std::uint64_t run_words) const;

    int descriptor_ = -1;
    std::size_t bytes_ = 0;
    ct_ring* ring_ = nullptr;
    std::uint32_t chunks_ = 0, taken_ = 0;
    std::uint32_t scanned_ = 0;  ///< open chunks before this were looked for
};

}  // namespace cachetally

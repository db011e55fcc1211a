// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/capture_ring.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>

#include "workloads/capture/ring.h"
#include "workloads/traces/byte_stream.hpp"

namespace cachetally {
namespace {

/// Between processes: fields of the ring are plain words for C.
std::uint32_t load(const std::uint32_t& word) { return __atomic_load_n(&word, __ATOMIC_SEQ_CST); }
void store(std::uint32_t& word, std::uint32_t value) { __atomic_store_n(&word, value, __ATOMIC_SEQ_CST); }

/// For a short time, while the word is 1: whoever dies in between is noticed then.
void sleep_on(std::uint32_t& word) {
    const timespec limit{0, 20'000'000};
    ::syscall(SYS_futex, &word, FUTEX_WAIT, 1, &limit, nullptr, 0);
}
void wake(std::uint32_t& word) { ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace

CaptureRing::CaptureRing(unsigned chunks) : chunks_(chunks) {
    bytes_ = CT_HEADER_BYTES + std::size_t{chunks} * CT_CHUNK_BYTES;
    descriptor_ = ::memfd_create("cachetally", MFD_CLOEXEC);
    if (descriptor_ >= 0 && ::ftruncate(descriptor_, static_cast<off_t>(bytes_)) == 0) {
        void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
        if (memory != MAP_FAILED) ring_ = static_cast<ct_ring*>(memory);
    }
    if (ring_ == nullptr) {
        const int error = errno;
        if (descriptor_ >= 0) ::close(descriptor_);
        throw TraceError(fmt::format("a ring of {} MiB for the program's references cannot be made: {}", bytes_ >> 20U,
                                     std::strerror(error)));
    }
    ring_->version = CT_RING_VERSION;
    ring_->chunk_bytes = CT_CHUNK_BYTES;
    ring_->chunks = chunks;
    ring_->header_bytes = CT_HEADER_BYTES;
    ring_->reader = static_cast<std::uint32_t>(::getpid());
    ring_->magic = CT_RING_MAGIC;
}

CaptureRing::~CaptureRing() {
    leave();
    ::munmap(ring_, bytes_);
    ::close(descriptor_);
}

std::string CaptureRing::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), descriptor_); }

bool CaptureRing::is_written() const { return load(ring_->writer) != 0; }

bool CaptureRing::ended() const { return load(ring_->ended) != 0; }

bool CaptureRing::left() const { return load(ring_->reader_gone) != 0; }

void CaptureRing::leave() {
    store(ring_->reader_gone, 1);
    wake(ring_->consumed);
    store(ring_->reader_waits, 0);
    wake(ring_->reader_waits);
}

const std::uint64_t* CaptureRing::chunk_words(std::uint32_t number) const {
    return reinterpret_cast<const std::uint64_t*>(reinterpret_cast<const char*>(ring_) + CT_HEADER_BYTES +
                                                  std::size_t{number} * CT_CHUNK_BYTES);
}

CapturedChunk CaptureRing::view(std::uint32_t number, std::uint64_t data_words, std::uint64_t run_words) const {
    constexpr std::uint64_t words = CT_CHUNK_BYTES / sizeof(std::uint64_t);
    const bool in_pairs = run_words == CT_PAIRS;
    if (in_pairs) run_words = 0;
    if ((in_pairs && data_words < CT_PAIRS_BEGIN) || data_words > words || run_words > words - data_words)
        throw TraceError(fmt::format("the captured program's ring is damaged: chunk {} holds {} and {} words", number,
                                     data_words, run_words));
    const std::uint64_t* const first = chunk_words(number);
    if (in_pairs) return {number, ring_->chunk[number].thread, {}, {}, {first + CT_PAIRS_BEGIN, first + data_words}};
    return {number, ring_->chunk[number].thread, {first, data_words}, {first + words - run_words, run_words}, {}};
}

std::optional<CapturedChunk> CaptureRing::published() {
    if (load(ring_->published) == taken_) return std::nullopt;
    const std::uint32_t number = load(ring_->order[taken_ % CT_MOST_CHUNKS]);
    if (number >= chunks_)
        throw TraceError(fmt::format("the captured program's ring is damaged: there is no chunk {}", number));
    ++taken_;
    return view(number, load(ring_->chunk[number].data_words), load(ring_->chunk[number].run_words));
}

/// Of a program that ended without a word: what its open chunks hold so far.
std::optional<CapturedChunk> CaptureRing::left_open() {
    while (scanned_ < chunks_) {
        const std::uint32_t number = scanned_++;
        const ct_chunk& chunk = ring_->chunk[number];
        const std::uint32_t state = load(chunk.state);
        if (state != CT_FILLING && state != CT_FULL) continue;
        std::uint64_t data_words = chunk.data_words, run_words = chunk.run_words;
        if (run_words == CT_PAIRS) {
            const auto* const words = chunk_words(number);
            return view(number, (words[0] - words[1]) / sizeof(std::uint64_t), run_words);
        }
        if (ring_->open == 1 && ring_->open_chunk == number) {
            const std::uint64_t begin = ring_->base + CT_HEADER_BYTES + std::uint64_t{number} * CT_CHUNK_BYTES;
            data_words = (ring_->data - begin) / sizeof(std::uint64_t);
            run_words = (begin + CT_CHUNK_BYTES - ring_->runs) / sizeof(std::uint64_t);
        }
        if (run_words != 0) return view(number, data_words, run_words);
    }
    return std::nullopt;
}

std::optional<CapturedChunk> CaptureRing::next(const std::function<bool()>& alive) {
    while (!left()) {
        if (auto chunk = published()) return chunk;
        const bool more = alive();
        if (auto chunk = published()) return chunk;  // written between the two questions
        if (!more) return left_open();
        store(ring_->reader_waits, 1);
        if (load(ring_->published) == taken_ && !left()) sleep_on(ring_->reader_waits);
        store(ring_->reader_waits, 0);
    }
    return std::nullopt;
}

void CaptureRing::release(const CapturedChunk& chunk) {
    store(ring_->chunk[chunk.number].state, CT_FREE);
    __atomic_fetch_add(&ring_->consumed, 1, __ATOMIC_SEQ_CST);
    if (load(ring_->writer_waits) != 0) wake(ring_->consumed);
}

}  // namespace cachetally

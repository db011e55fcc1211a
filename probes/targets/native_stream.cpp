// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/native_stream.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "probes/targets/native_stream.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cachetally::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Words = hn::ScalableTag<std::uint64_t>;

// Four vectors in a round: additions of one do not wait for those of another. Where compilers see a loop that stores
// only, they call functions of the C library, which write past caches: the empty assembly keeps them from it.

std::uint64_t read_words(const std::uint64_t* from, std::size_t words) {
    const Words tag;
    const std::size_t lanes = hn::Lanes(tag);
    auto a = hn::Zero(tag), b = a, c = a, d = a;
    for (std::size_t i = 0; i < words; i += 4 * lanes) {
        a = hn::Add(a, hn::Load(tag, from + i));
        b = hn::Add(b, hn::Load(tag, from + i + lanes));
        c = hn::Add(c, hn::Load(tag, from + i + 2 * lanes));
        d = hn::Add(d, hn::Load(tag, from + i + 3 * lanes));
    }
    return hn::GetLane(hn::SumOfLanes(tag, hn::Add(hn::Add(a, b), hn::Add(c, d))));
}

void write_words(std::uint64_t* to, std::size_t words, std::uint64_t value) {
    const Words tag;
    const std::size_t lanes = hn::Lanes(tag);
    const auto vector = hn::Set(tag, value);
    for (std::size_t i = 0; i < words; i += 4 * lanes) {
        for (std::size_t k = 0; k < 4; ++k) hn::Store(vector, tag, to + i + k * lanes);
        asm volatile("" ::: "memory");
    }
}

void copy_words(const std::uint64_t* from, std::uint64_t* to, std::size_t words) {
    const Words tag;
    const std::size_t lanes = hn::Lanes(tag);
    for (std::size_t i = 0; i < words; i += 4 * lanes) {
        for (std::size_t k = 0; k < 4; ++k) hn::Store(hn::Load(tag, from + i + k * lanes), tag, to + i + k * lanes);
        asm volatile("" ::: "memory");
    }
}

}  // namespace cachetally::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cachetally {

HWY_EXPORT(read_words);
HWY_EXPORT(write_words);
HWY_EXPORT(copy_words);

namespace {

constexpr std::uint64_t word = sizeof(std::uint64_t);

}  // namespace

std::uint64_t read_bytes(const std::byte* from, std::uint64_t bytes) {
    return HWY_DYNAMIC_DISPATCH(read_words)(reinterpret_cast<const std::uint64_t*>(from), bytes / word);
}

void write_bytes(std::byte* to, std::uint64_t bytes, std::uint64_t value) {
    HWY_DYNAMIC_DISPATCH(write_words)(reinterpret_cast<std::uint64_t*>(to), bytes / word, value);
}

void copy_bytes(const std::byte* from, std::byte* to, std::uint64_t bytes) {
    HWY_DYNAMIC_DISPATCH(copy_words)
    (reinterpret_cast<const std::uint64_t*>(from), reinterpret_cast<std::uint64_t*>(to), bytes / word);
}

void StreamWork::go_on(std::uint64_t steps) {
    for (std::uint64_t left = steps * Streaming::block; left > 0;) {
        const std::uint64_t some = std::min(left, stream_.bytes - done_);
        switch (stream_.kind) {
            case Streaming::Kind::read: value_ += read_bytes(begin_ + done_, some); break;
            case Streaming::Kind::write: write_bytes(begin_ + done_, some, ++value_); break;
            case Streaming::Kind::copy:
                copy_bytes(begin_ + done_ / 2, begin_ + (stream_.bytes + done_) / 2, some / 2);
                break;
        }
        done_ = (done_ + some) % stream_.bytes;
        left -= some;
    }
    asm volatile("" ::"r"(value_) : "memory");  // what is read is used
}

}  // namespace cachetally
#endif

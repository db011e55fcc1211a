// SPDX-License-Identifier: BSD-3-Clause
// What the page and the core hand each other: blocks of 64-bit words, which are addresses or numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "viewer/core/counts.hpp"

namespace cachetally::wasm {

using Words = std::span<const std::uint64_t>;

/// What a function makes is the page's until it lets go of it.
class Held {
public:
    virtual ~Held() = default;
    /// Of sums: rows of lines of `unit` bytes.
    virtual void add(const CountRows& /*rows*/, std::uint64_t /*unit*/) {}
};

/// An answer, word by word; the page knows which are addresses.
class Answer : public Held {
public:
    explicit Answer(std::initializer_list<double> numbers = {}) { put_all(numbers); }

    Answer& put(double number) { return put_address(std::bit_cast<std::uint64_t>(number)); }
    Answer& put_address(std::uint64_t address) {
        words_.push_back(address);
        return *this;
    }
    template <typename Numbers>
    Answer& put_all(const Numbers& numbers) {
        for (const auto number : numbers) put(static_cast<double>(number));
        return *this;
    }
    Words words() const { return words_; }

private:
    std::vector<std::uint64_t> words_;
};

/// An axis: its bytes; of each stretch base, bytes, start, and 1 for the rest of one.
constexpr std::size_t words_of_stretch = 4;

inline AddressAxis axis_from(Words words) {
    const auto number = [&](std::size_t i) { return std::bit_cast<double>(words[i]); };
    AddressAxis axis{{}, number(0)};
    for (std::size_t i = 1; i + words_of_stretch <= words.size(); i += words_of_stretch)
        axis.stretches.push_back({words[i], number(i + 1), number(i + 2), number(i + 3) > 0});
    return axis;
}

inline Answer* answer_of(const AddressAxis& axis) {
    auto* answer = new Answer({axis.bytes});
    for (const auto& [base, bytes, start, rest] : axis.stretches)
        answer->put_address(base).put(bytes).put(start).put(rest ? 1 : 0);
    return answer;
}

/// The first and the last byte of each range.
inline std::vector<ByteRange> ranges_from(Words words) {
    std::vector<ByteRange> ranges;
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) ranges.push_back({words[i], words[i + 1]});
    return ranges;
}

inline void put_lines(Answer& answer, std::span<const CountedLine> lines) {
    for (const CountedLine& line : lines) answer.put_address(line.address).put(line.first).put(line.second);
}

inline void put_columns(Answer& answer, const CountColumns& columns) {
    answer.put(columns.total).put(columns.clip).put(columns.above);
    for (const auto* each : {&columns.touched, &columns.sum, &columns.least, &columns.most}) answer.put_all(*each);
}

}  // namespace cachetally::wasm

// SPDX-License-Identifier: BSD-3-Clause
#include "probes/strings/strings.hpp"

#include <algorithm>
#include <numeric>

#include "base/random.hpp"

namespace cachetally {
namespace {

Offsets multiples(std::uint64_t count, std::uint64_t step) {
    Offsets offsets(count);
    for (std::uint64_t i = 0; i < count; ++i) offsets[i] = i * step;
    return offsets;
}

/// Groups of eight in random order, each in its own.
void in_groups(Offsets& offsets, std::uint64_t seed) {
    constexpr std::size_t group = 8;
    Offsets order = multiples((offsets.size() + group - 1) / group, group);
    shuffle(order, seed);
    Offsets ordered;
    for (const std::uint64_t first : order)
        for (std::size_t i = first; i < std::min<std::size_t>(first + group, offsets.size()); ++i)
            ordered.push_back(offsets[i]);
    offsets = std::move(ordered);
}

bool is_prime(std::uint64_t number) {
    for (std::uint64_t divisor = 2; divisor * divisor <= number; ++divisor)
        if (number % divisor == 0) return false;
    return number > 1;
}

}  // namespace

void shuffle(std::span<std::uint64_t> values, std::uint64_t seed) {
    Random random(seed);
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

Offsets gap_string(std::uint64_t n, std::uint64_t gap, std::uint64_t offset) {
    Offsets offsets = multiples(n, gap);
    if (!offsets.empty()) offsets.back() += offset;
    return offsets;
}

Offsets page_local_string(std::uint64_t bytes, std::uint64_t page, std::uint64_t line, std::uint64_t seed) {
    Offsets rows = multiples((bytes + page - 1) / page, page);
    shuffle(rows, seed);
    Offsets offsets;
    offsets.reserve(bytes / line + 1);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        Offsets columns = multiples((std::min(page, bytes - rows[row]) + line - 1) / line, line);
        shuffle(columns, splitmix64(seed) + row);
        for (const std::uint64_t column : columns) offsets.push_back(rows[row] + column);
    }
    return offsets;
}

Offsets random_string(std::uint64_t bytes, std::uint64_t line, std::uint64_t seed) {
    Offsets offsets = multiples((bytes + line - 1) / line, line);
    shuffle(offsets, seed);
    return offsets;
}

Offsets tlb_string(unsigned n, std::uint64_t bytes, std::uint64_t page, std::uint64_t line, std::uint64_t seed) {
    Offsets columns = multiples(page / line, line);
    shuffle(columns, splitmix64(seed));
    Offsets offsets;
    for (std::uint64_t row = 0; row < (bytes + page - 1) / page; ++row)
        for (unsigned i = 0; i < n; ++i) offsets.push_back(row * page + columns[(row * n + i) % columns.size()]);
    shuffle(offsets, seed);
    return offsets;
}

PairedStrings paired_strings(std::uint64_t pages, std::uint64_t page, std::uint64_t line, std::uint64_t seed) {
    PairedStrings strings;
    const std::uint64_t lines = page / line;
    for (std::uint64_t i = 0; i < pages; ++i) {
        strings.spread.push_back(i * page + (i + i / lines) % lines * line);
        strings.packed.push_back(i * line);
    }
    in_groups(strings.spread, seed);
    shuffle(strings.packed, seed);
    return strings;
}

Offsets in_prime_steps(const Offsets& offsets) {
    const std::uint64_t n = offsets.size();
    if (n < 3) return offsets;
    // A prime of about 0.6 n more than n: p mod n is neither 1 nor n - 1, and has no factor in common with n.
    std::uint64_t prime = n + n * 3 / 5 + 1;
    while (!is_prime(prime) || prime % n == 0) ++prime;
    Offsets ordered(n);
    for (std::uint64_t i = 0, at = 0; i < n; ++i, at = (at + prime) % n) ordered[i] = offsets[at];
    return ordered;
}

Offsets compact_string(std::uint64_t stride, std::uint64_t n) { return in_prime_steps(multiples(n, stride)); }

Offsets shifted_string(std::uint64_t stride, std::uint64_t n, std::uint64_t shift) {
    Offsets offsets = multiples(n, stride);
    for (std::uint64_t i = n / 2; i < n; ++i) offsets[i] += shift;
    return in_prime_steps(offsets);
}

Offsets decomposed_string(std::uint64_t stride, std::uint64_t n, std::uint64_t old_stride, unsigned r,
                          std::uint64_t shift) {
    // Halves that are moved apart follow each other: what lies above is used by one after the other, as by one alone.
    const std::uint64_t half = shift == 0 ? n : (n + 1) / 2;
    Offsets ordered;
    for (std::uint64_t begin = 0; begin < n; begin += half) {
        Offsets offsets;
        for (std::uint64_t i = begin; i < std::min(n, begin + half); ++i)
            for (unsigned j = 0; j <= r; ++j) offsets.push_back(i * stride + j * old_stride + (begin > 0 ? shift : 0));
        for (const std::uint64_t offset : in_prime_steps(offsets)) ordered.push_back(offset);
    }
    return ordered;
}

Offsets strided_string(std::uint64_t bytes, std::uint64_t stride) {
    return multiples((bytes + stride - 1) / stride, stride);
}

Offsets ping_pong_string(std::uint64_t bytes, std::uint64_t line) {
    const std::uint64_t half = bytes / line / 2;
    Offsets offsets;
    for (std::uint64_t i = 0; i < half; ++i) {
        offsets.push_back(i * line);
        offsets.push_back((half + i) * line);
    }
    return offsets;
}

}  // namespace cachetally

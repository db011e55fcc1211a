// SPDX-License-Identifier: BSD-3-Clause
#include "cachetally/probe_strings.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/random.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t bytes_of_word = 8;

std::vector<std::uint64_t> multiples(std::uint64_t count, std::uint64_t step) {
    std::vector<std::uint64_t> offsets(count);
    for (std::uint64_t i = 0; i < count; ++i) offsets[i] = i * step;
    return offsets;
}

/// Groups of eight in random order, each in its own.
std::vector<std::uint64_t> in_groups(const std::vector<std::uint64_t>& offsets, std::uint64_t seed) {
    constexpr std::size_t group = 8;
    std::vector<std::uint64_t> order = multiples((offsets.size() + group - 1) / group, group);
    shuffle(order, seed);
    std::vector<std::uint64_t> ordered;
    for (const std::uint64_t first : order)
        for (std::size_t i = first; i < std::min<std::size_t>(first + group, offsets.size()); ++i)
            ordered.push_back(offsets[i]);
    return ordered;
}

bool is_prime(std::uint64_t number) {
    for (std::uint64_t divisor = 2; divisor * divisor <= number; ++divisor)
        if (number % divisor == 0) return false;
    return number > 1;
}

/// What (X-Ray, 4.4.3) does to the order of a set of addresses.
std::vector<std::uint64_t> in_prime_steps(const std::vector<std::uint64_t>& offsets) {
    const std::uint64_t n = offsets.size();
    if (n < 3) return offsets;
    // A prime of about 0.6 n more than n: p mod n is neither 1 nor n - 1, and has no factor in common with n.
    std::uint64_t prime = n + n * 3 / 5 + 1;
    while (!is_prime(prime) || prime % n == 0) ++prime;
    std::vector<std::uint64_t> ordered(n);
    for (std::uint64_t i = 0, at = 0; i < n; ++i, at = (at + prime) % n) ordered[i] = offsets[at];
    return ordered;
}

/// Pages in random order, lines in random order within each.
std::vector<std::uint64_t> page_after_page(std::uint64_t bytes, std::uint64_t page, std::uint64_t line,
                                           std::uint64_t seed) {
    std::vector<std::uint64_t> rows = multiples((bytes + page - 1) / page, page);
    shuffle(rows, seed);
    std::vector<std::uint64_t> offsets;
    offsets.reserve(bytes / line + 1);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        std::vector<std::uint64_t> columns = multiples((std::min(page, bytes - rows[row]) + line - 1) / line, line);
        shuffle(columns, splitmix64(seed) + row);
        for (const std::uint64_t column : columns) offsets.push_back(rows[row] + column);
    }
    return offsets;
}

}  // namespace

void shuffle(std::span<std::uint64_t> values, std::uint64_t seed) {
    Random random(seed);
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

Offsets moved(const Offsets& offsets, std::uint64_t bytes) {
    Recipe recipe = offsets.recipe();
    if (recipe.generator != Generator::listed) recipe.moved_by += bytes;
    Offsets further = offsets;
    for (std::uint64_t& offset : further.change()) offset += bytes;
    return {std::move(further.change()), recipe};
}

Offsets with_other_words(const Offsets& offsets, std::uint64_t line, std::uint64_t others) {
    std::vector<std::uint64_t> loads;
    loads.reserve(offsets.size() * (others + 1));
    for (const std::uint64_t offset : offsets) {
        loads.push_back(offset);
        for (std::uint64_t i = 0; i < others; ++i) {
            const std::uint64_t number = i % 2 == 0 ? line / bytes_of_word - 1 - i / 2 : 1 + i / 2;
            loads.push_back(offset / line * line + (offset + number * bytes_of_word) % line);
        }
    }
    Recipe recipe = offsets.recipe();
    if (recipe.generator == Generator::listed || recipe.other_words != 0) return {std::move(loads)};
    recipe.line = line;
    recipe.other_words = others;
    return {std::move(loads), recipe};
}

Offsets gap_string(std::uint64_t n, std::uint64_t gap, std::uint64_t offset) {
    std::vector<std::uint64_t> offsets = multiples(n, gap);
    if (!offsets.empty()) offsets.back() += offset;
    return {std::move(offsets), {Generator::gap, 0, {n, gap, offset}}};
}

Offsets page_local_string(std::uint64_t bytes, std::uint64_t page, std::uint64_t line, std::uint64_t seed) {
    return {page_after_page(bytes, page, line, seed), {Generator::page_local, seed, {bytes, page, line}}};
}

Offsets spread_pages_string(std::uint64_t bytes, std::uint64_t page, std::uint64_t line, std::uint64_t apart,
                            std::uint64_t seed) {
    std::vector<std::uint64_t> offsets = page_after_page(bytes, page, line, seed);
    for (std::uint64_t& offset : offsets) offset = offset / page * apart + offset % page;
    return {std::move(offsets), {Generator::spread_pages, seed, {bytes, page, line, apart}}};
}

Offsets page_sample_string(std::uint64_t bytes, std::uint64_t page, std::uint64_t line, std::uint64_t loads,
                           std::uint64_t seed) {
    std::vector<std::uint64_t> offsets;
    std::uint64_t last = ~std::uint64_t{0}, taken = 0;
    for (const std::uint64_t offset : page_after_page(bytes, page, line, seed)) {
        taken = offset / page == last ? taken : 0;
        last = offset / page;
        if (taken++ < loads) offsets.push_back(offset);
    }
    return {std::move(offsets), {Generator::page_sample, seed, {bytes, page, line, loads}}};
}

Offsets page_lines_string(std::vector<std::uint64_t> pages, const PageLines& how, std::uint64_t seed) {
    const std::uint64_t strides = how.page / how.stride;
    std::vector<std::vector<std::uint64_t>> of_pages;  // offsets in the order of visit
    for (const std::uint64_t page : pages) {
        of_pages.push_back(multiples(strides, how.stride));
        shuffle(of_pages.back(), splitmix64(seed ^ splitmix64(page)));
        for (std::uint64_t& offset : of_pages.back()) offset += page * how.page;
    }
    std::vector<std::uint64_t> offsets;
    offsets.reserve(pages.size() * strides * how.words);
    for (std::uint64_t word = 0; word < how.words; ++word)
        for (std::uint64_t begin = 0; begin < strides; begin += how.together)
            for (const auto& all : of_pages)
                for (std::uint64_t i = begin; i < std::min(begin + how.together, strides); ++i)
                    offsets.push_back(all[i] + word * sizeof(void*));
    Recipe recipe{Generator::page_lines, seed, {how.page, how.stride, how.together, how.words}};
    recipe.pages = std::move(pages);
    return {std::move(offsets), recipe};
}

Offsets random_string(std::uint64_t bytes, std::uint64_t line, std::uint64_t seed) {
    std::vector<std::uint64_t> offsets = multiples((bytes + line - 1) / line, line);
    shuffle(offsets, seed);
    return {std::move(offsets), {Generator::random, seed, {bytes, line}}};
}

Offsets tlb_string(unsigned n, std::uint64_t bytes, std::uint64_t page, std::uint64_t line, std::uint64_t seed) {
    std::vector<std::uint64_t> columns = multiples(page / line, line);
    shuffle(columns, splitmix64(seed));
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t row = 0; row < (bytes + page - 1) / page; ++row)
        for (unsigned i = 0; i < n; ++i) offsets.push_back(row * page + columns[(row * n + i) % columns.size()]);
    shuffle(offsets, seed);
    return {std::move(offsets), {Generator::tlb, seed, {n, bytes, page, line}}};
}

PairedStrings paired_strings(std::uint64_t pages, std::uint64_t page, std::uint64_t line, std::uint64_t seed) {
    const std::uint64_t lines = page / line;
    std::vector<std::uint64_t> spread = multiples(pages, page), packed = multiples(pages, line);
    for (std::uint64_t i = 0; i < pages; ++i) spread[i] += (i + i / lines) % lines * line;
    shuffle(packed, seed);
    return {{in_groups(spread, seed), {Generator::spread, seed, {pages, page, line}}},
            {std::move(packed), {Generator::packed, seed, {pages, line}}}};
}

Offsets compact_string(std::uint64_t stride, std::uint64_t n) {
    return {in_prime_steps(multiples(n, stride)), {Generator::compact, 0, {stride, n}}};
}

Offsets shifted_string(std::uint64_t stride, std::uint64_t n, std::uint64_t shift) {
    std::vector<std::uint64_t> offsets = multiples(n, stride);
    for (std::uint64_t i = n / 2; i < n; ++i) offsets[i] += shift;
    return {in_prime_steps(offsets), {Generator::shifted, 0, {stride, n, shift}}};
}

Offsets grouped_string(std::uint64_t stride, std::uint64_t n, std::uint64_t shift, const Groups& groups) {
    std::vector<std::uint64_t> offsets = multiples(n, stride);
    for (std::uint64_t i = 0; i < n; ++i) offsets[i] += i / groups.group * groups.step + (i < n / 2 ? 0 : shift);
    return {in_prime_steps(offsets), {Generator::grouped, 0, {stride, n, shift, groups.group, groups.step}}};
}

Offsets decomposed_string(std::uint64_t stride, std::uint64_t n, std::uint64_t old_stride, unsigned r,
                          std::uint64_t shift) {
    // Halves that are moved apart follow each other: what lies above is used by one after the other, as by one alone.
    const std::uint64_t half = shift == 0 ? n : (n + 1) / 2;
    std::vector<std::uint64_t> ordered;
    for (std::uint64_t begin = 0; begin < n; begin += half) {
        std::vector<std::uint64_t> offsets;
        for (std::uint64_t i = begin; i < std::min(n, begin + half); ++i)
            for (unsigned j = 0; j <= r; ++j) offsets.push_back(i * stride + j * old_stride + (begin > 0 ? shift : 0));
        for (const std::uint64_t offset : in_prime_steps(offsets)) ordered.push_back(offset);
    }
    return {std::move(ordered), {Generator::decomposed, 0, {stride, n, old_stride, r, shift}}};
}

Offsets strided_string(std::uint64_t bytes, std::uint64_t stride) {
    return {multiples((bytes + stride - 1) / stride, stride), {Generator::strided, 0, {bytes, stride}}};
}

Offsets ping_pong_string(std::uint64_t bytes, std::uint64_t line) {
    const std::uint64_t half = bytes / line / 2;
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t i = 0; i < half; ++i) {
        offsets.push_back(i * line);
        offsets.push_back((half + i) * line);
    }
    return {std::move(offsets), {Generator::ping_pong, 0, {bytes, line}}};
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Reference strings: the chains of loads that the probes of the literature visit, as offsets into an arena.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cachetally {

using Offsets = std::vector<std::uint64_t>;

/// Fisher-Yates with the project's generator: equal seeds give equal orders everywhere.
void shuffle(std::span<std::uint64_t> values, std::uint64_t seed);

/// G(n,k,o): n locations `gap` bytes apart, the last of them `offset` bytes further. (Cooper and Xu 2018, 3.2)
Offsets gap_string(std::uint64_t n, std::uint64_t gap, std::uint64_t offset);

/// C(k): one location in each line of `bytes` bytes, page after page: pages in random order, lines in random order
/// within each. (Cooper and Xu 2018, 3.3)
Offsets page_local_string(std::uint64_t bytes, std::uint64_t page, std::uint64_t line, std::uint64_t seed);

/// C(k) in an order that is random throughout. (ours: order within a page is still prefetched by some machines)
Offsets random_string(std::uint64_t bytes, std::uint64_t line, std::uint64_t seed);

/// T(n,k): n locations in each page of `bytes` bytes, on lines that move on from page to page; random order
/// throughout. (Cooper and Xu 2018, 3.4)
Offsets tlb_string(unsigned n, std::uint64_t bytes, std::uint64_t page, std::uint64_t line, std::uint64_t seed);

/// One location in each of `pages` pages, and its twin: as many lines, packed into as few pages as they fill. Both use
/// the sets of caches whose ways are up to a page times its lines long in the same proportion. Pages follow each other
/// in groups of eight, whose table entries share a line, so that walks are alike whether caches hold few tables or
/// many. (ours)
struct PairedStrings {
    Offsets spread, packed;
};
PairedStrings paired_strings(std::uint64_t pages, std::uint64_t page, std::uint64_t line, std::uint64_t seed);

/// <S,n>: n locations S bytes apart. (X-Ray, 4.2) Visited by a prime step p > n, i -> (i + p) mod n. (X-Ray, 4.4.3)
Offsets compact_string(std::uint64_t stride, std::uint64_t n);

/// <S,n,b>: the second half of <S,n> is moved by b bytes. (X-Ray, 4.4.1)
Offsets shifted_string(std::uint64_t stride, std::uint64_t n, std::uint64_t shift);

/// <S,n,S_old,r>: each stride S is divided into r of S_old and the rest. (X-Ray, 4.5.1)
/// <S,n,b,S_old,r>: the second half of it is moved by b.
Offsets decomposed_string(std::uint64_t stride, std::uint64_t n, std::uint64_t old_stride, unsigned r,
                          std::uint64_t shift = 0);

/// An array of `bytes` bytes visited in order with a stride: papi_cacheSize (stride = element) and papi_cacheBlock.
/// (Dongarra et al. 2004, 2)
Offsets strided_string(std::uint64_t bytes, std::uint64_t stride);

/// A chase between the halves of an array: bottom 0, top 0, bottom 1, ... (Drongowski 2013, initialize_array)
Offsets ping_pong_string(std::uint64_t bytes, std::uint64_t line);

/// What (X-Ray, 4.4.3) does to the order of a set of addresses.
Offsets in_prime_steps(const Offsets& offsets);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Reference strings: the chains of loads that the probes of the literature visit, as offsets into an arena.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace cachetally {

/// What a string is made by: the functions below, or `listed`, each offset by itself.
enum class Generator : std::uint8_t {
    listed,
    gap,
    page_local,
    random,
    tlb,
    spread,
    packed,
    compact,
    shifted,
    decomposed,
    strided,
    ping_pong,
    spread_pages,
    page_sample,
    page_lines,
    grouped,
};
constexpr unsigned generator_count = 16;
std::string_view name_of(Generator generator);

/// All of a string in a few bytes, so that it can be recorded and made again.
struct Recipe {
    Generator generator = Generator::listed;
    std::uint64_t seed = 0;
    std::array<std::uint64_t, 5> parameters{};  ///< of the function, in its order, without the seed; else 0
    std::uint64_t moved_by = 0;                 ///< by moved()
    std::uint64_t line = 0, other_words = 0;    ///< by with_other_words()
    std::vector<std::uint64_t> pages{};         ///< of page_lines

    friend bool operator==(const Recipe&, const Recipe&) = default;
};

/// A string: offsets into an arena in the order of visit, and what they were made by.
class Offsets {
public:
    using value_type = std::uint64_t;

    Offsets() = default;
    Offsets(std::initializer_list<std::uint64_t> list) : list_(list) {}
    Offsets(std::vector<std::uint64_t> list, const Recipe& recipe = {}) : list_(std::move(list)), recipe_(recipe) {}

    std::size_t size() const { return list_.size(); }
    bool empty() const { return list_.empty(); }
    auto begin() const { return list_.begin(); }
    auto end() const { return list_.end(); }
    std::uint64_t operator[](std::size_t i) const { return list_[i]; }
    std::uint64_t back() const { return list_.back(); }

    const Recipe& recipe() const { return recipe_; }

    /// To be changed: from here on it is listed.
    std::vector<std::uint64_t>& change() {
        recipe_ = {};
        return list_;
    }

    friend bool operator==(const Offsets& a, const Offsets& b) { return a.list_ == b.list_; }

private:
    std::vector<std::uint64_t> list_;
    Recipe recipe_;
};

/// The string that is made by a recipe. Throws std::invalid_argument for one that is listed, and for parameters of
/// which none can be made, or of more than `most` offsets.
Offsets string_of(const Recipe& recipe, std::uint64_t most);

/// Each offset `bytes` further.
Offsets moved(const Offsets& offsets, std::uint64_t bytes);

/// Each offset followed by so many other words of its `line` bytes: from both ends in turn, so that no two of them are
/// as far apart as the two before, which a prefetcher would follow. (ours)
Offsets with_other_words(const Offsets& offsets, std::uint64_t line, std::uint64_t others);

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

/// C(k) of pages that lie `apart` pages from each other. (ours)
Offsets spread_pages_string(std::uint64_t bytes, std::uint64_t page, std::uint64_t line, std::uint64_t apart,
                            std::uint64_t seed);

/// The first `loads` of each page of C(k): lines drawn at random, page after page. (ours)
Offsets page_sample_string(std::uint64_t bytes, std::uint64_t page, std::uint64_t line, std::uint64_t loads,
                           std::uint64_t seed);

/// A location in every `stride` bytes of some pages, in random order: `together` of a page, then as many of the next;
/// in `words` laps, each on another word. (ours)
struct PageLines {
    std::uint64_t page = 0, stride = 0;  ///< bytes
    std::uint64_t together = 0, words = 1;
};
Offsets page_lines_string(std::vector<std::uint64_t> pages, const PageLines& how, std::uint64_t seed);

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

/// <S,n,b>, where the stride is `step` bytes longer between groups of `group` locations. (X-Ray, 4.6)
struct Groups {
    std::uint64_t group = 1, step = 0;
};
Offsets grouped_string(std::uint64_t stride, std::uint64_t n, std::uint64_t shift, const Groups& groups);

/// <S,n,S_old,r>: each stride S is divided into r of S_old and the rest. (X-Ray, 4.5.1)
/// <S,n,b,S_old,r>: the second half of it is moved by b.
Offsets decomposed_string(std::uint64_t stride, std::uint64_t n, std::uint64_t old_stride, unsigned r,
                          std::uint64_t shift = 0);

/// An array of `bytes` bytes visited in order with a stride: papi_cacheSize (stride = element) and papi_cacheBlock.
/// (Dongarra et al. 2004, 2)
Offsets strided_string(std::uint64_t bytes, std::uint64_t stride);

/// A chase between the halves of an array: bottom 0, top 0, bottom 1, ... (Drongowski 2013, initialize_array)
Offsets ping_pong_string(std::uint64_t bytes, std::uint64_t line);

}  // namespace cachetally

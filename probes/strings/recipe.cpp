// SPDX-License-Identifier: BSD-3-Clause
// Strings made again from what is recorded of them.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "cachetally/probe_strings.hpp"

namespace cachetally {
namespace {

/// A way to make strings: its parameters that divide, and how many offsets come of it, at most.
struct Maker {
    std::string_view name;
    std::vector<unsigned> divisors;
    double (*most_offsets)(const Recipe&);
    Offsets (*make)(const Recipe&);
};

constexpr double no_string = std::numeric_limits<double>::infinity();  ///< a line is longer than its page

double real(std::uint64_t number) { return static_cast<double>(number); }

double pieces(std::uint64_t bytes, std::uint64_t piece) { return real(bytes) / real(piece) + 1; }

#define MAKE(expression)               \
    [](const Recipe& of) -> Offsets {  \
        const auto& p = of.parameters; \
        return expression;             \
    }
#define COUNT(expression)              \
    [](const Recipe& of) -> double {   \
        const auto& p = of.parameters; \
        return expression;             \
    }

/// By Generator.
const std::vector<Maker>& makers() {
    static const std::vector<Maker> all{
        {"listed", {}, nullptr, nullptr},
        {"gap", {}, COUNT(real(p[0])), MAKE(gap_string(p[0], p[1], p[2]))},
        // A line longer than its page is one in each.
        {"page_local",
         {1, 2},
         COUNT(pieces(p[0], std::min(p[1], p[2])) + pieces(p[0], p[1])),
         MAKE(page_local_string(p[0], p[1], p[2], of.seed))},
        {"random", {1}, COUNT(pieces(p[0], p[1])), MAKE(random_string(p[0], p[1], of.seed))},
        {"tlb",
         {2, 3},
         COUNT(p[2] < p[3] ? no_string : real(p[0]) * pieces(p[1], p[2]) + pieces(p[2], p[3])),
         MAKE(tlb_string(static_cast<unsigned>(p[0]), p[1], p[2], p[3], of.seed))},
        {"spread",
         {1, 2},
         COUNT(p[1] < p[2] ? no_string : real(p[0])),
         MAKE(paired_strings(p[0], p[1], p[2], of.seed).spread)},
        {"packed", {1}, COUNT(real(p[0])), MAKE(paired_strings(p[0], p[1], p[1], of.seed).packed)},
        {"compact", {}, COUNT(real(p[1])), MAKE(compact_string(p[0], p[1]))},
        {"shifted", {}, COUNT(real(p[1])), MAKE(shifted_string(p[0], p[1], p[2]))},
        {"decomposed",
         {},
         COUNT(real(p[1]) * (real(p[3]) + 1)),
         MAKE(decomposed_string(p[0], p[1], p[2], static_cast<unsigned>(p[3]), p[4]))},
        {"strided", {1}, COUNT(pieces(p[0], p[1])), MAKE(strided_string(p[0], p[1]))},
        {"ping_pong", {1}, COUNT(pieces(p[0], p[1])), MAKE(ping_pong_string(p[0], p[1]))},
        {"spread_pages",
         {1, 2},
         COUNT(pieces(p[0], std::min(p[1], p[2])) + pieces(p[0], p[1])),
         MAKE(spread_pages_string(p[0], p[1], p[2], p[3], of.seed))},
        {"page_sample",
         {1, 2},
         COUNT(pieces(p[0], std::min(p[1], p[2])) + pieces(p[0], p[1])),
         MAKE(page_sample_string(p[0], p[1], p[2], p[3], of.seed))},
        {"page_lines",
         {1, 2},
         COUNT(p[1] > p[0] || p[3] > p[1] / sizeof(void*) ? no_string
                                                          : real(of.pages.size()) * pieces(p[0], p[1]) * real(p[3])),
         MAKE(page_lines_string(of.pages, {p[0], p[1], p[2], p[3]}, of.seed))},
        {"grouped", {3}, COUNT(real(p[1])), MAKE(grouped_string(p[0], p[1], p[2], {p[3], p[4]}))},
    };
    return all;
}

#undef MAKE
#undef COUNT

}  // namespace

std::string_view name_of(Generator generator) { return makers().at(static_cast<unsigned>(generator)).name; }

Offsets string_of(const Recipe& recipe, std::uint64_t most) {
    const auto number = static_cast<unsigned>(recipe.generator);
    if (number >= generator_count || recipe.generator == Generator::listed)
        throw std::invalid_argument("its offsets are listed, or made in an unknown way");
    const Maker& maker = makers()[number];
    for (const unsigned divisor : maker.divisors)
        if (recipe.parameters.at(divisor) == 0) throw std::invalid_argument("a length of 0");
    const double loads = maker.most_offsets(recipe) * (1 + real(recipe.other_words));
    if (!(loads <= real(most))) throw std::invalid_argument("more offsets than the arena has words");
    if (recipe.other_words > 0 && recipe.other_words >= recipe.line / 8)
        throw std::invalid_argument("more words than a line has");
    Offsets string = maker.make(recipe);
    if (recipe.moved_by != 0) string = moved(string, recipe.moved_by);
    return recipe.other_words == 0 ? string : with_other_words(string, recipe.line, recipe.other_words);
}

}  // namespace cachetally

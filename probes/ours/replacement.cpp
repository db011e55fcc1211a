// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/replacement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/model/replacement/table.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

constexpr unsigned word = 8;  ///< bytes of a location: a line is visited as often as it has words
constexpr unsigned patterns = 10, bases = 3;
constexpr std::uint64_t moved_by = policy_margin / bases;

constexpr std::array candidates{Replacement::lru, replacements::tree_plru, replacements::fifo, replacements::random,
                                replacements::srrip};
using Shares = std::array<double, candidates.size()>;  ///< by candidate

/// An order of visits, as often to each line as to the others, and what each candidate would miss.
struct Trial {
    unsigned lines;
    std::vector<std::uint64_t> order;
    Shares expected;
};

/// Orders of one line more than the set has ways to nearly twice as many.
std::vector<Trial> trials_of(const PolicySearch& search) {
    const std::uint64_t visits = std::min<std::uint64_t>(3, search.line / word);
    std::vector<Trial> trials;
    for (unsigned i = 0; i < patterns; ++i) {
        Trial trial{search.ways + 1 + i * (search.ways - 1) / patterns, {}, {}};
        for (std::uint64_t visit = 0; visit < visits; ++visit)
            for (unsigned line = 0; line < trial.lines; ++line) trial.order.push_back(line);
        shuffle(trial.order, search.seed + i);
        std::ranges::transform(candidates, trial.expected.begin(),
                               [&](Replacement policy) { return search.expected(trial.order, policy); });
        trials.push_back(std::move(trial));
    }
    return trials;
}

/// How far each candidate is from what is measured. In some sets lines of others stay: the least of several.
Shares errors_of(const PolicySearch& search) {
    const std::vector<Trial> trials = trials_of(search);
    Shares errors;
    errors.fill(1);
    for (unsigned base = 0; base < bases; ++base) {
        Shares squares{};
        for (const Trial& trial : trials) {
            std::vector<unsigned> seen(trial.lines, 0);
            Offsets loads;
            for (const std::uint64_t line : trial.order)
                loads.push_back(base * moved_by / search.line * search.line + line * search.way + word * seen[line]++);
            const double share = search.measured(loads);
            for (std::size_t c = 0; c < candidates.size(); ++c) squares[c] += std::pow(share - trial.expected[c], 2);
        }
        for (std::size_t c = 0; c < candidates.size(); ++c)
            errors[c] = std::min(errors[c], std::sqrt(squares[c] / patterns));
    }
    return errors;
}

}  // namespace

std::optional<Replacement> known_policy(const std::string& name) {
    const auto known = std::ranges::find(candidates, name, [](Replacement policy) { return name_of(policy); });
    return known == candidates.end() ? std::nullopt : std::optional(*known);
}

void find_policy(TestReport& report, const PolicySearch& search) {
    const Shares errors = errors_of(search);
    std::string text = "errors:";
    for (std::size_t c = 0; c < candidates.size(); ++c)
        text += fmt::format(" {} {:.3f}", name_of(candidates[c]), errors[c]);
    report.decisions.push_back(text);
    const auto best = static_cast<std::size_t>(std::ranges::min_element(errors) - errors.begin());
    double second = 1;
    for (std::size_t c = 0; c < candidates.size(); ++c)
        if (c != best) second = std::min(second, errors[c]);
    if (errors[best] > search.best_error)
        report.refuse(search.level, "replacement", search.unlike);
    else if (second < 2 * errors[best] + 0.01)
        report.refuse(search.level, "replacement", search.alike);
    else
        report.answer(search.level, "replacement", std::string(name_of(candidates[best])), search.method);
}

}  // namespace cachetally

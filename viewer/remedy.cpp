// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/remedy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viewer/answer_words.hpp"
#include "viewer/text_table.hpp"
#include "viewer/worst.hpp"

namespace cachetally {
namespace {

/// Of data without a name nothing is known.
bool evicts_itself(const Worst& worst) { return worst.evictor == worst.structure && !worst.structure.starts_with('('); }

std::string evictor_in_words(const Worst& worst) {
    const bool known = !worst.evictor.empty() && (worst.evictor != worst.structure || evicts_itself(worst));
    return known ? abridged(worst.evictor, words_of_answers().longest_name) : "Another line";
}

/// The name of a remedy against a cause; empty: none. As remedyOf() of the page.
std::string name_of(const Worst& worst, const std::optional<Part>& cause, bool is_tlb) {
    if (!worst.part) return "";
    if (!cause) return is_tlb ? "TLB" : "";
    switch (static_cast<MissCause>(cause->index)) {
        case MissCause::first_use: return "first use";
        case MissCause::invalidated:
            if (!worst.false_share) return "invalidated";
            return *worst.false_share > 0.5 ? "false sharing" : "true sharing";
        case MissCause::capacity: return "capacity";
        case MissCause::conflict: return evicts_itself(worst) ? "self-conflict" : "conflict";
    }
    return "";
}

bool is_first(const RunView& view, const std::string& level) {
    return std::ranges::find(view.first_levels, level) != view.first_levels.end();
}

std::string with(std::string text, const std::string& place, const std::string& value) {
    if (const std::size_t at = text.find(place); at != std::string::npos) text.replace(at, place.size(), value);
    return text;
}

/// Of the level or of one structure; nothing: not known.
std::optional<double> miss_rate(const RunView& view, const std::string& level, const std::string& structure,
                                const Worst& worst) {
    const LevelTotals totals = totals_of(view.counts.names, view.counts.run.counts, level);
    const double misses = structure.empty() ? static_cast<double>(totals.misses) : worst.part->count;
    const auto accesses = structure.empty() ? std::optional(static_cast<double>(totals.accesses)) : worst.accesses;
    return accesses && *accesses > 0 ? std::optional(misses / *accesses) : std::nullopt;
}

}  // namespace

std::string remedy(const RunView& view, const std::string& level, const std::string& structure) {
    const Worst worst = worst_of(view, level, structure);
    const std::string name = name_of(worst, worst.cause, std::ranges::count(view.counts.names.tlbs, level) != 0);
    if (name.empty()) return "";
    const std::map<std::string, Remedy>& remedies = words_of_answers().remedies;
    const std::optional<double> rate = miss_rate(view, level, structure, worst);
    if (rate && *rate < words_of_answers().rare)
        return fmt::format("What to try: {}. {}.", remedies.at("rare").words,
                           with(remedies.at("rare").fact, "{rate}", percentage(*rate)));
    const double uses = is_first(view, level) && worst.accesses ? *worst.accesses / worst.part->count : 0;
    const bool sparse = name == "capacity" && uses > 0 && uses < words_of_answers().sparse;
    const Remedy& found = remedies.at(sparse ? "sparse" : name);
    const double false_share = worst.false_share.value_or(0);
    const std::string fact =
        with(with(with(found.fact, "{uses}", fmt::format("{:.1f}", std::floor(10 * uses + 0.5) / 10)), "{share}",
                  percentage(std::max(false_share, 1 - false_share))),
             "{evictor}", evictor_in_words(worst));
    std::string text = fmt::format("What to try: {}. {}.", found.words, fact);
    if (!worst.times || !worst.times->cause) return text;
    return fmt::format("{} In the worst phases: {}.", text,
                       remedies.at(name_of(worst, worst.times->cause, false)).words);
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>

#include "viewer/answer_words.hpp"
#include "viewer/component_tables.hpp"
#include "viewer/text_table.hpp"
#include "viewer/worst.hpp"

namespace cachetally {
namespace {

std::string share(const Part& part) { return percentage(part.count / part.of); }

std::string in_sentence(const std::string& name) { return abridged(name, words_of_answers().longest_name); }

constexpr std::size_t most_named = 8, most_kinds = 4;

bool has_comma(const std::vector<std::string>& names) {
    return std::ranges::any_of(names, [](const std::string& name) { return name.find(',') != std::string::npos; });
}

/// "phase 4", "phases 6, 9 (solve), 12 (check)": names once for those in a row; of many, or where names come again,
/// these alone, "36 phases (solve, check)", or the first, "and 29 more"
std::string phases_in_words(const std::vector<std::size_t>& numbers, const std::vector<PhaseResult>& phases) {
    const auto name = [&](std::size_t number) { return number < phases.size() ? phases[number].name : std::string(); };
    std::vector<std::string> kinds;
    for (const std::size_t number : numbers)
        if (std::ranges::find(kinds, name(number)) == kinds.end()) kinds.push_back(name(number));
    const bool all_named = std::ranges::find(kinds, "") == kinds.end();
    std::size_t runs = 0;  // of one name
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (i + 1 == numbers.size() || name(numbers[i]) != name(numbers[i + 1])) ++runs;
    if ((numbers.size() > most_named || runs > kinds.size()) && all_named && kinds.size() <= most_kinds)
        return fmt::format("{} phases ({})", numbers.size(), fmt::join(kinds, has_comma(kinds) ? "; " : ", "));
    const std::span shown = std::span(numbers).first(std::min(numbers.size(), most_named));
    std::vector<std::string> words;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const std::string own = name(shown[i]);
        const bool again = i + 1 < shown.size() && own == name(shown[i + 1]);
        words.push_back(own.empty() || again ? std::to_string(shown[i]) : fmt::format("{} ({})", shown[i], own));
    }
    const std::size_t rest = numbers.size() - shown.size();
    return fmt::format("phase{} {}{}", numbers.size() == 1 ? "" : "s", fmt::join(words, ", "),
                       rest > 0 ? fmt::format(" and {} more", rest) : "");
}

/// ", worst in phase 4", ", all in phase 1", "; no phase stands out"; empty where there is but one.
std::string worst_phases(const std::vector<double>& by_phase, const RunView& view) {
    const std::vector<PhaseResult>& run = view.counts.run.phases;
    const std::size_t count = view.chosen_phases.empty() ? by_phase.size() : view.chosen_phases.size();
    const std::optional<Part> worst = largest(by_phase);
    if (!worst || count == 1) return "";
    if (worst->of == worst->count) return ", all in " + phases_in_words({worst->index}, run);
    const AnswerWords& words = words_of_answers();
    if (worst->count * static_cast<double>(count) < words.stands_out * worst->of)
        return "; " + words.no_phase_stands_out;
    std::vector<std::size_t> phases;
    for (std::size_t phase = 0; phase < by_phase.size(); ++phase)
        if (by_phase[phase] >= words.alike * worst->count) phases.push_back(phase);
    return ", worst in " + phases_in_words(phases, run);
}

/// "61.82 % of those are conflicts", where causes are known.
std::string cause_in_words(const Worst& worst) {
    if (!worst.cause) return "";
    return fmt::format("{} of those {}", share(*worst.cause), words_of_answers().causes[worst.cause->index]);
}

/// "; A causes 99.65 % of them, 61.82 % of those are conflicts, worst in phase 4"
std::string in_words(const Worst& worst, const RunView& view) {
    std::string text;
    if (worst.part) text += fmt::format("; {} causes {} of them", in_sentence(worst.structure), share(*worst.part));
    if (worst.cause) text += ", " + cause_in_words(worst);
    return text + worst_phases(worst.by_phase, view);
}

/// " in phases 1 (solve), 3", where these are chosen.
std::string in_chosen(const RunView& view) {
    if (view.chosen_phases.empty()) return "";
    return " in " + phases_in_words(view.chosen_phases, view.counts.run.phases);
}

}  // namespace

std::string answered_level(const RunView& view) {
    if (view.first_levels.empty()) return "";
    return *std::ranges::max_element(view.first_levels, {}, [&](const std::string& level) {
        return totals_of(view.counts.names, view.counts.run.counts, level).misses;
    });
}

std::string answer(const RunView& view, const std::string& level) {
    const LevelTotals totals = totals_of(view.counts.names, view.counts.run.counts, level);
    if (totals.accesses == 0) return "";
    const std::string accesses = count_cell(totals.accesses).full;
    const std::string where = in_chosen(view);
    if (totals.misses == 0) return fmt::format("{} has no misses in {} accesses{}.", level, accesses, where);
    const double rate = static_cast<double>(totals.misses) / static_cast<double>(totals.accesses);
    return fmt::format("{} misses {} of {} accesses{}{}.", level, percentage(rate), accesses, where,
                       in_words(worst_of(view, level), view));
}

std::string answer_of_structure(const RunView& view, const std::string& level, const std::string& structure) {
    if (totals_of(view.counts.names, view.counts.run.counts, level).accesses == 0) return "";
    const Worst worst = worst_of(view, level, structure);
    const std::string name = in_sentence(structure);
    const std::string accesses =
        worst.accesses ? count_cell(static_cast<std::uint64_t>(*worst.accesses)).full + " " : std::string();
    const std::string where = fmt::format("accesses to {}{}", name, in_chosen(view));
    if (worst.accesses == 0.0) return fmt::format("{} has no {}.", level, where);
    if (!worst.part) return fmt::format("{} has no misses in {}{}.", level, accesses, where);
    const std::string misses = worst.accesses
                                   ? fmt::format("{} of {}", percentage(worst.part->count / *worst.accesses), accesses)
                                   : count_cell(static_cast<std::uint64_t>(worst.part->count)).full + " ";
    return fmt::format("{} misses {}{}, {} of all that it misses{}{}{}.", level, misses, where, share(*worst.part),
                       worst.cause ? "; " : "", cause_in_words(worst), worst_phases(worst.by_phase, view));
}

}  // namespace cachetally

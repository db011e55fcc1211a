// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "viewer/answer_words.hpp"
#include "viewer/component_tables.hpp"
#include "viewer/text_table.hpp"
#include "viewer/worst.hpp"

namespace cachetally {
namespace {

std::string share(const Part& part) { return percentage(part.count / part.of); }

std::string in_sentence(const std::string& name) { return abridged(name, words_of_answers().longest_name); }

constexpr std::size_t most_named = 8, most_kinds = 4, most_runs = 4;

/// Neighbours of one name: "6", "6, 7", "6-9"; `count` of them, the last of which is `last`.
struct PhaseRun {
    std::string numbers;
    std::uint32_t last;
    std::size_t count;
};

template <class Name>
std::vector<PhaseRun> runs_of_phases(const std::vector<std::uint32_t>& numbers, const Name& name) {
    std::vector<PhaseRun> runs;
    for (std::size_t i = 0, first = 0; i < numbers.size(); ++i) {
        const std::uint32_t last = numbers[i];
        if (i + 1 < numbers.size() && numbers[i + 1] == last + 1 && name(last + 1) == name(last)) continue;
        const std::size_t count = i + 1 - std::exchange(first, i + 1);
        const std::string from = count > 1 ? fmt::format("{}{}", last + 1 - count, count > 2 ? "-" : ", ") : "";
        runs.push_back({.numbers = from + std::to_string(last), .last = last, .count = count});
    }
    return runs;
}

/// "phase 4", "phases 6-8, 9 (solve), 12 (check)": names once for those in a row; of many, or where names come again,
/// all of these, "phases 17-60 (solve; check)", "36 phases (solve; check)", or the first, "and 29 more"
std::string phases_in_words(const std::vector<std::uint32_t>& numbers, const std::vector<PhaseResult>& phases) {
    const auto name = [&](std::uint32_t number) {
        return number < phases.size() ? phases[number].name : std::string();
    };
    std::vector<std::string> kinds;
    for (const std::uint32_t number : numbers)
        if (std::ranges::find(kinds, name(number)) == kinds.end()) kinds.push_back(name(number));
    const bool all_named = std::ranges::find(kinds, "") == kinds.end();
    std::size_t changes = 1;  // of names
    for (std::size_t i = 1; i < numbers.size(); ++i) changes += name(numbers[i]) != name(numbers[i - 1]);
    const std::vector<PhaseRun> runs = runs_of_phases(numbers, name);
    const bool few = runs_of_phases(numbers, [](std::uint32_t) { return 0; }).size() <= most_runs;
    if ((runs.size() > most_named || changes > kinds.size()) && all_named && kinds.size() <= most_kinds)
        return fmt::format("{} ({})", few ? phases_in_words(numbers, {}) : fmt::format("{} phases", numbers.size()),
                           fmt::join(kinds, "; "));
    const std::span shown = std::span(runs).first(std::min(runs.size(), most_named));
    std::vector<std::string> words;
    std::size_t rest = numbers.size();
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const std::string own = name(shown[i].last);
        const bool again = i + 1 < shown.size() && own == name(shown[i + 1].last);
        words.push_back(own.empty() || again ? shown[i].numbers : fmt::format("{} ({})", shown[i].numbers, own));
        rest -= shown[i].count;
    }
    return fmt::format("phase{} {}{}", numbers.size() == 1 ? "" : "s", fmt::join(words, ", "),
                       rest > 0 ? fmt::format(" and {} more", rest) : "");
}

/// ", worst in phase 4", ", all in phase 1", "; no phase stands out"; empty where there is but one.
std::string times_in_words(const Worst& worst, const RunView& view) {
    if (!worst.times) return "";
    const WorstTimes& times = *worst.times;
    const AnswerWords& words = words_of_answers();
    const std::vector<PhaseResult>& phases = view.counts.run.phases;
    if (times.in.phases.empty()) return "; " + words.no_phase_stands_out;
    std::string text = fmt::format(", {} in {}", times.all ? "all" : "worst", phases_in_words(times.in.phases, phases));
    const auto add_cause = [&](const std::optional<Part>& cause) {
        if (cause) text += fmt::format(", where {} of them {}", share(*cause), words.causes[cause->index]);
    };
    add_cause(times.cause);
    if (!times.in.peaks.empty()) text += fmt::format(", most of all in {}", phases_in_words(times.in.peaks, {}));
    if (!times.in.others.empty())
        text += fmt::format("; {} in {}, at a {} rate", percentage(times.in_others),
                            phases_in_words(times.in.others, phases), times.in.others_higher ? "higher" : "lower");
    add_cause(times.others_cause);
    return text;
}

/// "61.82 % of those are conflicts", where causes are known.
std::string cause_in_words(const Worst& worst, std::string_view misses = "those") {
    if (!worst.cause) return "";
    return fmt::format("{} of {} {}", share(*worst.cause), misses, words_of_answers().causes[worst.cause->index]);
}

/// "; A causes 99.65 % of them, 61.82 % of those are conflicts, worst in phase 4"
std::string in_words(const Worst& worst, const RunView& view) {
    std::string text;
    const bool unnamed = worst.structure == "(elsewhere)" && view.structures.regions.empty();
    if (worst.part && !unnamed)
        text += fmt::format("; {} causes {} of them", in_sentence(worst.structure), share(*worst.part));
    if (worst.cause) text += unnamed ? "; " + cause_in_words(worst, "the misses") : ", " + cause_in_words(worst);
    return text + times_in_words(worst, view);
}

/// " in phases 1 (solve), 3", where these are chosen.
std::string in_chosen(const RunView& view) {
    if (view.chosen_phases.empty()) return "";
    const std::vector<std::uint32_t> chosen(view.chosen_phases.begin(), view.chosen_phases.end());
    return " in " + phases_in_words(chosen, view.counts.run.phases);
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
    const std::string where = in_chosen(view);
    if (totals.accesses == 0) return where.empty() ? "" : fmt::format("{} has no accesses{}.", level, where);
    const std::string accesses = count_cell(totals.accesses).full;
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
    return fmt::format("{} misses {}{}, {} of all misses of {}{}{}{}{}.", level, misses, where, share(*worst.part),
                       level,
                       view.chosen_phases.empty()      ? ""
                       : view.chosen_phases.size() > 1 ? " in these phases"
                                                       : " in this phase",
                       worst.cause ? "; " : "", cause_in_words(worst), times_in_words(worst, view));
}

}  // namespace cachetally

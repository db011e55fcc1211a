// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/advice_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

using Json = nlohmann::ordered_json;

/// Of random layouts; where there are none, of the recorded one. At most so many as there are runs of a trial.
Distribution misses_of(const std::vector<Measured>& runs, std::size_t layouts, std::size_t cache) {
    std::vector<std::uint64_t> values;
    for (std::size_t i = layouts > 1 ? 1 : 0; i < layouts; ++i) values.push_back(runs[i].misses[cache]);
    return distribution(std::move(values));
}
Distribution cycles_of(const std::vector<Measured>& runs, std::size_t layouts) {
    std::vector<std::uint64_t> values;
    for (std::size_t i = layouts > 1 ? 1 : 0; i < layouts; ++i) values.push_back(runs[i].cycles);
    return distribution(std::move(values));
}

/// "L1D misses 65,537 -> 8,193 (8,190 to 8,201 over 32 layouts), 12.3 % of the cycles less"
std::string effect(const Advice& advice, const Trial& trial) {
    const std::size_t layouts = trial.after.size();
    const Distribution before = misses_of(advice.before, layouts, trial.cache),
                       after = misses_of(trial.after, layouts, trial.cache);
    const auto range = [](const Distribution& of) {
        return fmt::format("{} to {}", with_separators(of.least), with_separators(of.most));
    };
    // where one says nothing without the other, both
    const std::string had_range = after.most < before.least ? "" : fmt::format(" ({})", range(before));
    std::string text = fmt::format("{} misses {}{} -> {}", advice.caches[trial.cache], with_separators(before.median),
                                   layouts > 1 ? had_range : "", with_separators(after.median));
    if (layouts > 1) text += fmt::format(" ({} over {})", range(after), numbered(layouts - 1, "layout"));
    const std::uint64_t had = cycles_of(advice.before, layouts).median, has = cycles_of(trial.after, layouts).median;
    if (has < had) text += fmt::format(", cycles -{} %", percent_text(had - has, had));
    return text;
}

/// Why a trial is of no use.
std::string failure(const Advice& advice, const Trial& trial) {
    const Measured &before = advice.before.front(), &after = trial.after.front();
    if (trial.better == 0 || trial.after.size() == 1) {
        if (after.misses[trial.cache] < before.misses[trial.cache] && after.cycles > before.cycles)
            return fmt::format("cycles {} -> {}", with_separators(before.cycles), with_separators(after.cycles));
        return fmt::format("{} misses {} -> {}{}", advice.caches[trial.cache],
                           with_separators(before.misses[trial.cache]), with_separators(after.misses[trial.cache]),
                           after.misses[trial.cache] < before.misses[trial.cache] ? ", less than 1 % fewer" : "");
    }
    return fmt::format("luck: better in {} of {} layouts only", trial.better, trial.after.size());
}

/// "10,123 L1D misses, 54.2 % (conflict 87 %, capacity 13 %)"
std::string misses_text(const Advice& advice, const Advice::Structure& structure) {
    constexpr MissCause causes[] = {MissCause::first_use, MissCause::invalidated, MissCause::capacity,
                                    MissCause::conflict};
    for (std::size_t cache = 0; cache < advice.caches.size(); ++cache) {
        const std::uint64_t misses = structure.misses.of(cache);
        if (misses == 0) continue;
        std::string text = fmt::format("{} {} misses, {} %", with_separators(misses), advice.caches[cache],
                                       percent_text(misses, advice.before.front().misses[cache]));
        std::string parts;
        for (const MissCause cause : causes) {
            const std::uint64_t count = structure.misses.causes[cache][static_cast<unsigned>(cause)];
            if (count * 100 < misses) continue;
            std::string name = to_string(cause);
            std::ranges::replace(name, '_', ' ');
            parts += fmt::format("{}{} {} %", parts.empty() ? "" : ", ", name, (count * 100 + misses / 2) / misses);
        }
        return text + " (" + parts + ")";
    }
    return "no misses";
}

/// Less than a hundredth of the misses of each cache.
bool is_small(const Advice& advice, const Advice::Structure& structure) {
    for (std::size_t cache = 0; cache < advice.caches.size(); ++cache)
        if (const std::uint64_t misses = structure.misses.of(cache);
            misses != 0 && misses * 100 >= advice.before.front().misses[cache])
            return false;
    return true;
}

Json to_json(const Distribution& values) {
    return {{"median", values.median}, {"least", values.least}, {"most", values.most}};
}

Json to_json(const Advice& advice, const Trial& trial) {
    const std::size_t layouts = trial.after.size();
    Json json{{"structure", trial.structure},
              {"change", trial.text},
              {"level", advice.caches[trial.cache]},
              {"helps", trial.helps},
              {"layouts", layouts - 1},
              {"better", trial.better},
              {"recorded",
               {{"before", advice.before.front().misses[trial.cache]},
                {"after", trial.after.front().misses[trial.cache]},
                {"cycles_before", advice.before.front().cycles},
                {"cycles_after", trial.after.front().cycles}}}};
    if (layouts < 2) return json;
    json["before"] = to_json(misses_of(advice.before, layouts, trial.cache));
    json["after"] = to_json(misses_of(trial.after, layouts, trial.cache));
    json["cycles_before"] = to_json(cycles_of(advice.before, layouts));
    json["cycles_after"] = to_json(cycles_of(trial.after, layouts));
    return json;
}

/// What the numbers of changes are.
std::string meaning(const Advice& advice) {
    if (advice.trials.empty()) return "";
    std::string text = "Misses and cycles behind changes are those of the whole program, before -> after: ";
    const bool any_helps = std::ranges::any_of(advice.trials, [](const Trial& trial) { return trial.helps; });
    if (any_helps && advice.layouts != 0)
        return text + "medians of the random layouts, or, of changes without help, as recorded.\n";
    return text + "as recorded.\n";
}

/// What came of all.
std::string outcome(const Advice& advice) {
    if (advice.structures.empty()) return "Nothing was tried: no data structure that can be changed misses.";
    if (advice.trials.empty()) return "Nothing was tried: no stride, field or conflict stands out.";
    if (std::ranges::none_of(advice.trials, [](const Trial& trial) { return trial.helps; }))
        return "No change that was tried helps.";
    return fmt::format("Changes that are better in the recorded layout and in all of {}:",
                       numbered(advice.layouts, "random layout"));
}

}  // namespace

std::string to_text(const Advice& advice, const AdviceTitle& title) {
    std::string text =
        fmt::format("{} on {}{}{}, as recorded: ", without_controls(title.source), without_controls(title.machine),
                    title.count == 0 ? "" : fmt::format(", at most {} (--count)", counted(title.count, "reference")),
                    title.warmup == 0 ? "" : fmt::format(", after {} of warm-up", counted(title.warmup, "reference")));
    for (std::size_t cache = 0; cache < advice.caches.size(); ++cache)
        text += fmt::format("{}{} misses {}", cache == 0 ? "" : ", ", advice.caches[cache],
                            with_separators(advice.before.front().misses[cache]));
    text += '\n' + meaning(advice) + outcome(advice) + '\n';
    for (const Advice::Structure& structure : advice.structures) {
        const auto is_own = [&](const Trial& trial) { return trial.structure == structure.name; };
        const bool was_changed = std::ranges::any_of(advice.trials, is_own);
        if (!was_changed && (advice.trials.empty() || is_small(advice, structure))) continue;
        text += fmt::format("\n{}, {}: {}\n", without_controls(structure.name), bytes_text(structure.bytes),
                            misses_text(advice, structure));
        if (!was_changed) text += "  nothing was tried: no stride, field or conflict stands out\n";
        for (const Trial& trial : advice.trials)
            if (is_own(trial))
                text += trial.helps ? fmt::format("  {}: {}\n", trial.text, effect(advice, trial))
                                    : fmt::format("  no help: {}: {}\n", trial.text, failure(advice, trial));
    }
    for (const Trial& trial : advice.together)
        text += trial.helps
                    ? fmt::format("\nThe first of each structure together: {}\n", effect(advice, trial))
                    : fmt::format("\nThe first of each structure together: no help: {}\n", failure(advice, trial));
    return text;
}

Json to_json(const Advice& advice, const AdviceTitle& title) {
    Json json{{"source", title.source}, {"machine", title.machine}, {"complete", title.incomplete.empty()}};
    if (!title.incomplete.empty()) json["incomplete"] = title.incomplete;
    json["layouts"] = advice.layouts;
    json["seed"] = advice.seed;
    for (std::size_t cache = 0; cache < advice.caches.size(); ++cache)
        json["misses"][advice.caches[cache]] = advice.before.front().misses[cache];
    json["cycles"] = advice.before.front().cycles;
    json["structures"] = Json::array();
    for (const Advice::Structure& structure : advice.structures) {
        Json levels;
        for (std::size_t cache = 0; cache < advice.caches.size(); ++cache)
            for (unsigned cause = 0; cause < miss_cause_count; ++cause)
                levels[advice.caches[cache]][to_string(static_cast<MissCause>(cause))] =
                    structure.misses.causes[cache][cause];
        json["structures"].push_back({{"name", structure.name}, {"bytes", structure.bytes}, {"causes", levels}});
    }
    json["trials"] = Json::array();
    for (const Trial& trial : advice.trials) json["trials"].push_back(to_json(advice, trial));
    if (!advice.together.empty()) json["together"] = to_json(advice, advice.together.front());
    return json;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// A run as tables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "viewer/answer.hpp"
#include "viewer/attribution_text.hpp"
#include "viewer/causes_text.hpp"
#include "viewer/component_tables.hpp"
#include "viewer/cores_text.hpp"
#include "viewer/remedy.hpp"
#include "viewer/reuse_text.hpp"
#include "viewer/run_view.hpp"
#include "viewer/sharing_text.hpp"
#include "viewer/text_table.hpp"
#include "viewer/worst.hpp"

namespace cachetally {
namespace {

constexpr std::size_t phases_shown_first = 16, phases_shown_last = 4, structure_rows = 40, fewest_structures = 5;
constexpr std::size_t longest_name = 24;

/// Levels for the table of phases: those that are asked for, or all that are used.
std::vector<std::size_t> levels_by_phase(const RunView& view, const TextOptions& options) {
    std::vector<std::size_t> levels;
    for (std::size_t i = 0; i < view.counts.names.levels.size(); ++i) {
        const bool used = Demand(view.counts.run.counts.caches[i]).accesses != 0;
        if (options.level.empty() ? used : view.counts.names.levels[i] == options.level) levels.push_back(i);
    }
    return levels;
}

/// "title: a, b," in lines of at most so many columns.
std::string wrapped_list(const std::string& title, const std::vector<std::string>& words, std::size_t width) {
    std::string text, line = title;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string word = words[i] + (i + 1 < words.size() ? "," : "");
        if (line != title && columns_of(line) + columns_of(word) >= width) {
            text += line + '\n';
            line = "  ";
        }
        line += (line.ends_with(' ') ? "" : " ") + word;
    }
    return text + line + '\n';
}

/// The structures with most misses at a level, these first. `used`: how many there are that something happened in.
std::vector<std::size_t> structures_to_show(const StructureTable& table, const std::vector<std::vector<Tally>>& levels,
                                            std::size_t level, const TextOptions& options, std::size_t& used) {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i <= table.regions.size(); ++i) {
        const std::string name = i == table.regions.size() ? "(elsewhere)" : table.regions[i].name;
        const bool touched = std::ranges::any_of(levels, [&](const auto& each) { return each[i] != Tally{}; });
        if (options.structure.empty() ? touched : name == options.structure) shown.push_back(i);
    }
    used = shown.size();
    std::ranges::stable_sort(shown, std::greater<>(), [&](std::size_t i) {
        return std::pair(levels[level][i].misses, levels[level][i].accesses);
    });
    const auto busy = [](const std::vector<Tally>& each) {
        return std::ranges::any_of(each, [](const Tally& tally) { return tally != Tally{}; });
    };
    const auto rows_each = std::max<std::size_t>(1, static_cast<std::size_t>(std::ranges::count_if(levels, busy)));
    shown.resize(std::min(shown.size(), std::max(structure_rows / rows_each, fewest_structures)));
    return shown;
}

/// `worst`: the level by whose misses they are sorted.
std::string structure_table(const StructureTable& table, const std::string& worst, const TextOptions& options) {
    std::vector<std::vector<Tally>> levels;
    std::vector<std::string> names;
    bool exact = true;
    for (std::size_t i = 0; i < table.levels.size(); ++i) {
        if (!wanted(table.levels[i].name, options.level)) continue;
        levels.push_back(table.totals(i));
        names.push_back(table.levels[i].name);
        exact = exact && table.levels[i].exact;
    }
    if (table.regions.empty() || levels.empty()) return "";
    const auto by = static_cast<std::size_t>(std::ranges::find(names, worst) - names.begin());
    std::size_t used = 0;
    const std::vector<std::size_t> shown = structures_to_show(table, levels, by < names.size() ? by : 0, options, used);
    TextTable text({{part_title("data structure", shown.size(), used), to_left},
                    {"size"},
                    {"level", to_left},
                    {"accesses"},
                    {"hits"},
                    {"misses"},
                    {"miss %"}},
                   3);
    for (const std::size_t i : shown) {
        const bool elsewhere = i == table.regions.size();
        bool first = true;
        for (std::size_t level = 0; level < levels.size(); ++level) {
            const Tally& tally = levels[level][i];
            if (tally == Tally{} && options.structure.empty()) continue;
            const bool again = !std::exchange(first, false);
            text.add(
                {again ? Cell("") : (elsewhere ? Cell("(elsewhere)") : name_cell(table.regions[i].name, longest_name)),
                 again || elsewhere ? "" : bytes_text(table.regions[i].bytes), names[level], count_cell(tally.accesses),
                 count_cell(tally.hits()), count_cell(tally.misses),
                 tally.accesses == 0 ? "-" : percent_text(100 * tally.miss_rate())});
        }
    }
    return (exact ? "\n" : "\ncounts for several lines, spread evenly over them\n") + text.text(options.width);
}

/// Of which levels it is not known where their accesses and misses went, and what would help.
std::string unknown_levels(const RunView& view, const TextOptions& options) {
    if (view.structures.regions.empty()) return "";
    std::vector<std::string> hidden, uncounted;
    const auto add = [&](const std::string& name, bool used) {
        const bool known =
            std::ranges::any_of(view.structures.levels, [&](const auto& level) { return level.name == name; }) ||
            std::ranges::any_of(view.causes, [&](const auto& level) { return level.level == name; });
        if (used && !known && wanted(name, options.level))
            (std::ranges::count(view.hidden_levels, name) != 0 ? hidden : uncounted).push_back(name);
    };
    const HierarchyCounts& counts = view.counts.run.counts;
    for (std::size_t i = 0; i < counts.caches.size(); ++i)
        add(view.counts.names.levels[i], Demand(counts.caches[i]).accesses != 0);
    for (std::size_t i = 0; i < counts.tlbs.size(); ++i) add(view.counts.names.tlbs[i], counts.tlbs[i].accesses != 0);
    std::string text;
    for (const auto& [names, why] :
         {std::pair(uncounted, "-o FILE.h5 without --no-exact, or a monitor on each link, counts it"),
          std::pair(hidden, "no option helps: links do not show exactly what is missed there")})
        if (!names.empty())
            text += wrapped(fmt::format("{} by data structure: not known; {} (docs/monitors.md, \"Levels combined\")",
                                        fmt::join(names, ", "), why),
                            options.width, 2);
    return text.empty() ? text : '\n' + text;
}

std::string monitor_table(const RunView& view, const TextOptions& options) {
    const std::vector<MonitorSummary>& monitors = view.monitors;
    if (monitors.empty() || !(view.monitors_asked || options.monitors)) return "";
    TextTable table({{"monitor", to_left},
                     {"counters"},
                     {"group"},
                     {"events"},
                     {"swap-outs"},
                     {"resident"},
                     {"lost"},
                     {"error %"},
                     {"B/event"}});
    std::vector<std::string> idle;
    bool by_range = false;
    for (const MonitorSummary& monitor : monitors) {
        if (monitor.events == 0) {
            idle.push_back(shortened(monitor.name, longest_name));
            by_range |= monitor.spec.find(",range=") != std::string::npos && !view.counts.names.tlbs.empty();
            continue;
        }
        table.add({shortened(monitor.name, longest_name), std::to_string(monitor.counters), monitor.granularity,
                   count_cell(monitor.events), count_cell(monitor.swapouts), count_cell(monitor.resident),
                   count_cell(monitor.lost), monitor.error ? percent_text(100 * *monitor.error) : "-",
                   fmt::format("{:.3f}", monitor.bytes_per_event())});
    }
    std::string text = "\n";
    if (idle.size() < monitors.size()) text += table.text(options.width);
    if (!idle.empty()) text += wrapped_list("monitors that saw no event: ", idle, options.width);
    if (by_range)
        text += wrapped("range= is of physical addresses, but between core and TLBs, where it is of the program's",
                        options.width, 2);
    for (const MonitorSummary& monitor : monitors)
        if (monitor.stall_cycles != 0 || monitor.lost_records != 0)
            text += fmt::format(
                "{}: stalled the system for {} cycles, lost {} records; at most {} of {} places of the "
                "ring were taken\n",
                without_controls(monitor.name), count_cell(monitor.stall_cycles).full,
                count_cell(monitor.lost_records).full, monitor.ring_high_water, monitor.ring_capacity);
    return text;
}

/// Where monitors distinguished functions.
std::string function_table(const RunView& view, const TextOptions& options) {
    TextTable table({{"function", to_left}, {"monitor", to_left}, {"events"}, {"%"}}, 2);
    bool any = false;
    for (const MonitorSummary& monitor : view.monitors)
        for (const auto& [index, events] : monitor.events_per_function) {
            table.add({name_cell(view.function(index), longest_name), shortened(monitor.name, longest_name),
                       count_cell(events), percent_text(events, monitor.events)});
            any = true;
        }
    return any ? '\n' + table.text(options.width) : "";
}

/// Of a time, by what it exceeds that of hits alone.
double part_beyond(Tick hits, Tick time) { return 1 - static_cast<double>(hits) / static_cast<double>(time); }

std::string phase_table(const RunView& view, const TextOptions& options) {
    const auto& phases = view.counts.run.phases;
    if (phases.size() < 2) return "";
    const bool named = std::ranges::any_of(phases, [](const PhaseResult& phase) { return !phase.name.empty(); });
    std::vector<TextTable::Column> columns{{"phase"}};
    if (named) columns.push_back({"name", TextTable::Align::left});
    columns.insert(columns.end(), {{"references"}, {"cycles"}});
    const std::vector<Tick>& hit_times = view.counts.hit_times;
    if (!hit_times.empty()) columns.push_back({"beyond hits %", TextTable::Align::right, true});
    const std::vector<std::size_t> levels = levels_by_phase(view, options);
    for (const std::size_t level : levels) {
        columns.push_back({view.counts.names.levels[level] + " misses"});
        columns.push_back({"miss %", TextTable::Align::right, true});
    }
    for (const std::string& tlb : view.counts.names.tlbs)
        if (tlb == options.level) {
            columns.push_back({tlb + " misses"});
            columns.push_back({"miss %", TextTable::Align::right, true});
        }
    TextTable table(std::move(columns));
    for (std::size_t i = 0; i < phases.size(); ++i) {
        if (!options.all_phases && phases.size() > phases_shown_first + phases_shown_last + 1 &&
            i == phases_shown_first) {
            i = phases.size() - phases_shown_last;
            table.add_line(fmt::format("  ... {} more phases", i - phases_shown_first));
        }
        std::vector<Cell> cells{std::to_string(i)};
        if (named) cells.push_back(name_cell(phases[i].name, longest_name));
        cells.insert(cells.end(), {count_cell(phases[i].counts.references),
                                   count_cell((phases[i].end - phases[i].begin) / view.counts.period)});
        const Tick time = phases[i].end - phases[i].begin;
        if (!hit_times.empty())
            cells.emplace_back(time == 0 ? "-" : percent_text(100 * part_beyond(hit_times[i], time)));
        for (const std::size_t level : levels) {
            const Demand demand(phases[i].counts.caches[level]);
            cells.push_back(count_cell(demand.misses));
            cells.emplace_back(percent_text(demand.misses, demand.accesses));
        }
        for (std::size_t tlb = 0; tlb < view.counts.names.tlbs.size(); ++tlb) {
            if (view.counts.names.tlbs[tlb] != options.level) continue;
            const TlbCounts& counts = phases[i].counts.tlbs[tlb];
            cells.push_back(count_cell(counts.misses));
            cells.emplace_back(percent_text(counts.misses, counts.accesses));
        }
        table.add(std::move(cells));
    }
    return '\n' + table.text(options.width);
}

/// By differences, which are all that counts of whole hierarchies have.
HierarchyCounts sum(const HierarchyCounts& a, const HierarchyCounts& b) { return a - ((b - b) - b); }

/// What happened in some phases.
RunView of_phases(RunView view, const PhaseChoice& phases) {
    RunResult& run = view.counts.run;
    bool any = false;
    for (std::uint32_t i = 0; i < run.phases.size(); ++i) {
        if (!phases.contains(i)) {
            run.phases[i].counts = run.phases[i].counts - run.phases[i].counts;
            continue;
        }
        run.counts = any ? sum(run.counts, run.phases[i].counts) : run.phases[i].counts;
        view.chosen_phases.push_back(i);
        any = true;
    }
    const auto unwanted = [&](const auto& row) { return !phases.contains(row.phase); };
    for (StructureTable::Level& level : view.structures.levels) std::erase_if(level.tallies, unwanted);
    for (LevelCauses& level : view.causes) {
        for (StructureCauses& row : level.misses)
            if (unwanted(row)) row.misses = {};  // that the level missed at all is known
        std::erase_if(level.evictions, unwanted);
    }
    std::erase_if(view.attribution.rows, unwanted);
    std::erase_if(view.sharing.rows, unwanted);
    std::erase_if(view.cores.rows, unwanted);
    for (ReuseDistances& reuse : view.reuse) std::erase_if(reuse.rows, unwanted);
    for (ObjectEvictions& level : view.attribution.evictions) std::erase_if(level.pairs, unwanted);
    return view;
}

std::string heading(const RunView& view, const TextOptions& options) {
    const RunResult& run = view.counts.run;
    const std::uint64_t references = run.counts.references;
    Tick time = 0, hits = 0;
    for (std::uint32_t i = 0; i < run.phases.size(); ++i) {
        if (!options.phases.contains(i)) continue;
        time += run.phases[i].end - run.phases[i].begin;
        if (!view.counts.hit_times.empty()) hits += view.counts.hit_times[i];
    }
    const Tick cycles = options.phases.all() ? view.cycles() : time / view.counts.period;
    const std::string text =
        view.title.head() +
        (options.phases.all() ? "" : fmt::format(", {} of 0-{}", options.phases.text(), run.phases.size() - 1));
    std::string sums = fmt::format("{}, {}", counted(references, "reference"), counted(cycles, "cycle"));
    if (references != 0)
        sums +=
            fmt::format(", {:.3f} cycles per reference", static_cast<double>(cycles) / static_cast<double>(references));
    if (!view.counts.hit_times.empty() && time > 0)
        sums += fmt::format("; {} of the time is beyond hits of the first levels", percentage(part_beyond(hits, time)));
    const std::string level = options.level.empty() ? answered_level(view) : options.level;
    std::string lines;
    const std::string& structure = options.structure;
    for (const std::string& line :
         {structure.empty() ? answer(view, level) : answer_of_structure(view, level, structure),
          remedy(view, level, structure)})
        if (!line.empty()) lines += wrapped(line, options.width, 2);
    lines += wrapped(text, options.width, 2) + wrapped(sums, options.width, 2);
    if (view.check)
        lines += wrapped(fmt::format("result {} ({} {:.3g}, at most {:.3g})", view.check->passed ? "right" : "WRONG",
                                     view.check->meaning, view.check->residual, view.check->bound),
                         options.width, 2);
    return lines + view.title.remarks() + options.remarks;
}

std::string listener_tables(const RunView& view, const TextOptions& options) {
    std::string text;
    for (const auto& [name, link, spec, table] : view.listeners) {
        std::vector<TextTable::Column> columns;
        std::string meanings;
        for (const ListenerTable::Column& column : table.columns) {
            columns.push_back({column.name, columns.empty() ? TextTable::Align::left : TextTable::Align::right});
            meanings += fmt::format("{}{}: {}", meanings.empty() ? "" : "; ", column.name, column.meaning);
        }
        TextTable shown(columns);
        for (const ListenerTable::Row& row : table.rows) {
            std::vector<Cell> cells{row.label};
            for (const std::uint64_t number : row.numbers) cells.push_back(count_cell(number));
            shown.add(cells);
        }
        text += '\n' + wrapped(fmt::format("{} on {} ({})", spec, link, meanings), options.width, 2) +
                shown.text(options.width);
    }
    return text;
}

}  // namespace

std::string RunView::function(std::uint32_t index) const {
    return index < functions.size() ? functions[index] : "(none)";
}

std::string RunTitle::text() const {
    return without_controls(
        fmt::format("{}{}{} on {}", input, settings.empty() ? "" : " ", fmt::join(settings, " "), machine));
}

std::string RunTitle::head() const {
    return text() + (cut ? fmt::format(", cut after {}, as asked", counted(count, "reference")) : "");
}

std::string RunTitle::remarks() const {
    std::string text;
    if (lines && lines->skipped != 0)
        text += fmt::format("{} of the {} of the trace skipped: not references\n", count_cell(lines->skipped).full,
                            counted(lines->lines, "line"));
    if (!complete) text += fmt::format("PARTIAL: {}\n", folded(incomplete));
    return text;
}

std::string to_text(const RunView& whole, const TextOptions& options) {
    const RunView part = options.phases.all() ? RunView() : of_phases(whole, options.phases);
    const RunView& view = options.phases.all() ? whole : part;
    HierarchyCounts counts = view.counts.run.counts;
    if (!view.monitors_asked && !options.monitors)
        for (MemoryCounts& memory : counts.memories) memory.ring_writes = 0;  // of monitors that nobody asked for
    std::string text = heading(view, options);
    if (whole.counts.run.counts.references == 0) return text + "no references: nothing was counted\n";
    const AttributionText attributed = attribution_text(view.attribution, options);
    text += whole.attribution.empty()
                ? structure_table(view.structures, answered_level(whole), options) + unknown_levels(view, options)
                : attributed.data;
    text += level_table(view.counts.names, counts, options) + attributed.code + causes_text(view, options) +
            sharing_text(view, options) + reuse_text(view, options) + cores_text(view, options) +
            bus_table(view.counts, counts, options) + coherence_table(view.counts.names, counts, options) +
            numa_table(view.counts.names, counts, options);
    if (!options.phases.all() || !options.structure.empty()) return text;
    text += phase_table(view, options) + monitor_table(view, options) + function_table(view, options) +
            listener_tables(view, options);
    return text;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "advice/advice.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "base/random.hpp"
#include "base/text.hpp"
#include "cachetally/run.hpp"
#include "cachetally/topology.hpp"
#include "monitor/attribution/hierarchy_attribution.hpp"
#include "monitor/causes/hierarchy_causes.hpp"

namespace cachetally {
namespace {

using Open = std::function<std::unique_ptr<ReferenceSource>()>;

std::uint64_t data_and_fetch_misses(const CacheCounts& counts) {
    return counts.load_misses + counts.store_misses + counts.fetch_misses;
}

/// Throws where the run did not come to its end.
Measured measured(const RunResult& result, const MachineDescription& machine) {
    if (!result.failure.empty()) throw std::runtime_error(result.failure);
    if (!result.complete) throw std::runtime_error("interrupted");
    Measured found;
    for (const CacheCounts& cache : result.counts.caches) found.misses.push_back(data_and_fetch_misses(cache));
    found.cycles = result.end() / machine.period;
    return found;
}

/// Runs of a source on a machine, in layouts of its memory and with changes.
class Laboratory {
public:
    Laboratory(const MachineDescription& machine, Open open, const AdviceOptions& options)
        : machine_(machine), options_(options), open_([this, open = std::move(open)] { return opened(open); }) {}

    const Open& open() const { return open_; }
    bool go_on() const { return options_.go_on(done_, planned_); }

    void survey() {
        survey_ = cachetally::survey(open_, [this] { return go_on(); });
        layouts_.push_back(recorded_layout(survey_.segments));
        for (unsigned i = 0; i < options_.layouts; ++i)
            layouts_.push_back(random_layout(survey_.segments, splitmix64(options_.seed) + i));
    }
    const Survey& surveyed() const { return survey_; }

    /// As recorded, with causes; fills in what the structures miss.
    Measured diagnose(std::vector<StructureMisses>& misses) const;

    struct Task {
        std::vector<StructureChange> changes;
        std::size_t layout = 0;
    };
    /// In the order of the tasks.
    std::vector<Measured> run_all(const std::vector<Task>& tasks);

    void plan(std::uint64_t runs) { planned_ += runs; }

private:
    RunOptions run_options(std::uint64_t warmup) const {
        RunOptions run;
        run.quantum = options_.quantum;
        run.warmup = warmup;
        run.progress = [this](std::uint64_t) { return go_on(); };
        return run;
    }

    Measured run_one(const Task& task) const {
        MachineDescription machine = machine_;
        if (task.layout != 0) machine.pages.seed = splitmix64(machine.pages.seed + options_.seed + task.layout);
        const Topology topology(std::move(machine));
        Hierarchy hierarchy(topology);
        const auto placement = std::make_shared<const Placement>(survey_.segments, layouts_[task.layout], task.changes);
        PlacedSource source(open_(), survey_.finder, placement);
        return measured(run(hierarchy, source, run_options(warmup_in(placement))), machine_);
    }

    /// A change makes several references of one: with all changes the same part of the program is counted.
    std::uint64_t warmup_in(const std::shared_ptr<const Placement>& placement) const {
        if (options_.warmup == 0) return 0;
        PlacedSource source(opened(options_.open_warmup), survey_.finder, placement);
        return count_references(source, [this] { return go_on(); });
    }

    std::unique_ptr<ReferenceSource> opened(const Open& open) const {
        const std::lock_guard lock(opening_);
        return open();
    }

    const MachineDescription& machine_;
    const AdviceOptions& options_;
    mutable std::mutex opening_;
    Open open_;
    Survey survey_;
    std::vector<MemoryLayout> layouts_;
    std::atomic<std::uint64_t> done_ = 0, planned_ = 0;
};

/// Adds up causes of attributed rows.
void add_by_site(const Attribution& attribution, const StructureFinder& finder, const std::vector<std::size_t>& caches,
                 std::vector<StructureMisses>& misses) {
    for (const Attribution::Row& row : attribution.rows) {
        const std::uint32_t structure = finder.find({.site = row.site});
        if (structure == no_structure) continue;
        for (std::size_t level = 0; level < caches.size(); ++level)
            for (unsigned cause = 0; cause < miss_cause_count; ++cause)
                misses[structure].causes[caches[level]][cause] += row.causes[level][cause];
    }
}

Measured Laboratory::diagnose(std::vector<StructureMisses>& misses) const {
    const Topology topology(machine_);
    Hierarchy hierarchy(topology);
    const std::unique_ptr<ReferenceSource> source = open_();
    const SiteTable* const sites = source->sites();
    std::vector<Region> regions;  // by the survey's numbers
    for (const SurveyedStructure& structure : survey_.structures)
        for (const Extent& extent : structure.extents)
            if (sites == nullptr) regions.push_back({structure.name, extent.base, extent.bytes, 1});
    const auto map = [&](Address physical) { return hierarchy.virtual_address(physical); };
    HierarchyCauses causes(topology, hierarchy, regions,
                           machine_.pages.mapping == Mapping::identity ? AddressMap() : AddressMap(map), sites);
    HierarchyAttribution attribution(topology, hierarchy);
    const Measured found = measured(run(hierarchy, *source, run_options(options_.warmup)), machine_);
    misses.clear();
    for (std::uint32_t i = 0; i < survey_.structures.size(); ++i)
        misses.push_back({i, std::vector<CauseCounts>(machine_.caches.size())});
    std::map<std::string, std::size_t> by_name;
    for (std::size_t i = 0; i < machine_.caches.size(); ++i) by_name[machine_.caches[i].name] = i;
    std::vector<std::size_t> caches;
    if (sites != nullptr) {
        Attribution rows = attribution.found(*sites, source->site_names());
        causes.attribute(rows);
        for (const std::string& level : rows.caused) caches.push_back(by_name[level]);
        add_by_site(rows, survey_.finder, caches, misses);
        return found;
    }
    for (const LevelCauses& level : causes.found()) {
        const std::vector<CauseCounts> totals = level.totals(regions.size());
        for (std::size_t region = 0; region < regions.size(); ++region)
            for (unsigned cause = 0; cause < miss_cause_count; ++cause)
                misses[survey_.finder.number(regions[region].name)].causes[by_name[level.level]][cause] +=
                    totals[region][cause];
    }
    return found;
}

std::vector<Measured> Laboratory::run_all(const std::vector<Task>& tasks) {
    std::vector<Measured> results(tasks.size());
    std::vector<std::exception_ptr> errors(tasks.size());
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> failed = false;
    const auto work = [&] {
        for (std::size_t i = next++; i < tasks.size() && !failed; i = next++) try {
                results[i] = run_one(tasks[i]);
                ++done_;
            } catch (...) {
                errors[i] = std::current_exception();
                failed = true;
            }
    };
    std::vector<std::thread> workers;
    for (std::size_t i = 1; i < std::min<std::size_t>(options_.jobs, tasks.size()); ++i) workers.emplace_back(work);
    work();
    for (std::thread& worker : workers) worker.join();
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
    return results;
}

/// A trial and the changes that it makes.
struct Experiment {
    Trial trial;
    std::vector<StructureChange> changes;
};

/// Tries all, in waves of layouts; what is not better in all layouts of a wave has no part in the next.
void try_all(Laboratory& laboratory, std::vector<Experiment>& experiments, Advice& advice, unsigned layouts) {
    constexpr std::size_t second_wave = 5;
    const std::size_t ends[] = {1, std::min<std::size_t>(second_wave, layouts + 1U), layouts + std::size_t{1}};
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
        std::vector<Experiment*> running;
        for (Experiment& experiment : experiments)
            if (experiment.trial.better == begin && experiment.trial.after.size() == begin)
                running.push_back(&experiment);
        if (running.empty()) return;
        std::vector<Laboratory::Task> tasks;
        const std::size_t known = advice.before.size();
        for (std::size_t layout = known; layout < end; ++layout) tasks.push_back({{}, layout});
        for (const Experiment* const experiment : running)
            for (std::size_t layout = begin; layout < end; ++layout) tasks.push_back({experiment->changes, layout});
        laboratory.plan(tasks.size());
        std::vector<Measured> results = laboratory.run_all(tasks);
        auto result = results.begin();
        for (std::size_t layout = known; layout < end; ++layout) advice.before.push_back(std::move(*result++));
        for (Experiment* const experiment : running) {
            Trial& trial = experiment->trial;
            for (std::size_t layout = begin; layout < end; ++layout) {
                trial.after.push_back(std::move(*result++));
                trial.better += is_better(advice.before[layout], trial.after.back(), trial.cache) ? 1 : 0;
            }
        }
        begin = end;
    }
    for (Experiment& experiment : experiments) experiment.trial.helps = experiment.trial.better == layouts + 1U;
}

std::uint64_t median_of(const std::vector<Measured>& runs, std::size_t cache, bool cycles) {
    std::vector<std::uint64_t> values;
    for (std::size_t i = runs.size() > 1 ? 1 : 0; i < runs.size(); ++i)
        values.push_back(cycles ? runs[i].cycles : runs[i].misses[cache]);
    return distribution(std::move(values)).median;
}

/// What helps, with the fewest cycles and then misses first; then what does not, as it was suggested.
void sort_trials(std::vector<Experiment>& experiments) {
    const auto key = [](const Experiment& experiment) {
        const Trial& trial = experiment.trial;
        return trial.helps ? std::tuple(0, median_of(trial.after, trial.cache, true),
                                        median_of(trial.after, trial.cache, false))
                           : std::tuple(1, std::uint64_t{0}, std::uint64_t{0});
    };
    std::ranges::stable_sort(experiments, {}, key);
}

/// Structures that can be changed, with most misses in the first cache, then in the next, first.
std::vector<StructureMisses> worst(std::vector<StructureMisses> misses, const Survey& survey, std::size_t most) {
    std::erase_if(misses, [&](const StructureMisses& each) {
        const auto none = [&](std::size_t cache) { return each.of(cache) == 0; };
        bool misses_nothing = true;
        for (std::size_t cache = 0; cache < each.causes.size(); ++cache) misses_nothing = misses_nothing && none(cache);
        return misses_nothing || !can_be_changed(survey.structures[each.structure].name);
    });
    const auto key = [](const StructureMisses& each) {
        std::vector<std::uint64_t> sums;
        for (std::size_t cache = 0; cache < each.causes.size(); ++cache) sums.push_back(each.of(cache));
        return sums;
    };
    std::ranges::stable_sort(misses, std::greater<>(), key);
    misses.resize(std::min(misses.size(), most));
    return misses;
}

/// What the user knows of structures that there are none of would be passed over.
void check_names(const KnownStructures& known, const std::vector<std::string>& names) {
    const std::vector<std::string_view> all(names.begin(), names.end());
    const auto check = [&](const std::string& name) {
        if (std::ranges::find(all, name) == all.end())
            throw std::invalid_argument("there is no data structure '" + shown(name) + "'" +
                                        cachetally::advice(name, all));
    };
    for (const auto& [name, grid] : known.arrays) check(name);
    for (const auto& [name, bytes] : known.elements) check(name);
}

/// The best of each structure at once, if several help.
std::vector<Experiment> best_together(const std::vector<std::vector<Experiment>>& by_structure) {
    Experiment all;
    for (const std::vector<Experiment>& experiments : by_structure) {
        if (experiments.empty() || !experiments.front().trial.helps) continue;
        all.trial.cache = all.changes.empty() ? experiments.front().trial.cache
                                              : std::min(all.trial.cache, experiments.front().trial.cache);
        all.trial.text += (all.changes.empty() ? "" : "; ") + experiments.front().trial.structure + ": " +
                          experiments.front().trial.text;
        all.changes.insert(all.changes.end(), experiments.front().changes.begin(), experiments.front().changes.end());
    }
    return all.changes.size() < 2 ? std::vector<Experiment>() : std::vector<Experiment>{all};
}

}  // namespace

Distribution distribution(std::vector<std::uint64_t> values) {
    if (values.empty()) return {};
    std::ranges::sort(values);
    return {values[(values.size() - 1) / 2], values.front(), values.back()};
}

bool is_better(const Measured& before, const Measured& after, std::size_t cache) {
    const std::uint64_t had = before.misses[cache], has = after.misses[cache];
    return has < had && (had - has) * 100 >= had && after.cycles <= before.cycles;
}

Advice advise(const MachineDescription& machine, const Open& open, const AdviceOptions& options) {
    Laboratory laboratory(machine, open, options);
    laboratory.survey();
    const Survey& survey = laboratory.surveyed();
    check_names(options.known, survey.finder.names());
    Advice advice;
    advice.layouts = options.layouts;
    advice.seed = options.seed;
    for (const CacheConfig& cache : machine.caches) advice.caches.push_back(cache.name);
    std::vector<StructureMisses> misses;
    advice.before.push_back(laboratory.diagnose(misses));
    std::vector<Experiment> experiments;
    for (const StructureMisses& each : worst(std::move(misses), survey, options.structures)) {
        const SurveyedStructure& structure = survey.structures[each.structure];
        advice.structures.push_back({structure.name, structure.bytes(), each});
        for (Suggestion& suggestion :
             suggestions(structure, each, machine, advice.before.front().misses, options.known)) {
            if (structure.name.starts_with("heap:")) suggestion.change.along = survey.finder.number("(heap)");
            experiments.push_back(
                {{structure.name, suggestion.text, suggestion.cache, {}, 0, false}, {std::move(suggestion.change)}});
        }
    }
    try_all(laboratory, experiments, advice, options.layouts);
    std::vector<std::vector<Experiment>> by_structure;
    for (const Advice::Structure& structure : advice.structures) {
        auto& own = by_structure.emplace_back();
        for (const Experiment& experiment : experiments)
            if (experiment.trial.structure == structure.name) own.push_back(experiment);
        sort_trials(own);
        for (const Experiment& experiment : own) advice.trials.push_back(experiment.trial);
    }
    std::vector<Experiment> together = best_together(by_structure);
    try_all(laboratory, together, advice, options.layouts);
    for (const Experiment& experiment : together) advice.together.push_back(experiment.trial);
    return advice;
}

}  // namespace cachetally

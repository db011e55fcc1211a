// SPDX-License-Identifier: BSD-3-Clause
#include "app/budgeted.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "app/checks.hpp"
#include "app/program.hpp"
#include "app/report.hpp"
#include "app/simulation.hpp"
#include "app/terminal.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "campaign/budget_report.hpp"
#include "campaign/budget_value.hpp"
#include "sim/topology/yaml_document.hpp"
#include "storage/file.hpp"
#include "viewer/run_view.hpp"
#include "workloads/layouts/drawn_layout.hpp"

namespace cachetally::app {
namespace {

MeasuredRun measured(const RunView& view, std::optional<std::uint64_t> instructions = std::nullopt) {
    return {view.counts, view.monitors, view.structures, view.attribution, instructions};
}

/// A check whose source can be opened by name.
class CheckRunner {
public:
    CheckRunner(const BudgetCheck& check, const WorkloadOptions& options)
        : check_(check), options_(options), machine_(load_machine(check.machine)) {
        if (check.cores != 0) machine_.cores = check.cores;
    }

    /// Of each budget. Throws what a run throws, and where it does not come to its end.
    std::vector<MeasuredBudget> values() {
        if (check_.layouts > 1 || check_.needs_instructions()) survey();
        std::vector<MeasuredBudget> all(check_.budgets.size());
        for (unsigned layout = 0; layout < check_.layouts; ++layout) {
            const RunView view = run(layout);
            for (std::size_t i = 0; i < all.size(); ++i) try {
                    all[i].by_layout.push_back(value_of(check_.budgets[i], measured(view, instructions_)));
                } catch (const std::invalid_argument& error) {
                    all[i].failure = error.what();
                }
        }
        return all;
    }

    /// What it must be compared with, in a result of run.
    const MachineDescription& machine() const { return machine_; }

private:
    Input open(Opening opening) const {
        return open_input(options_.source, options_.settings, options_.choice, opening);
    }

    void survey() {
        const Input input = open(Opening::again);
        const auto go_on = [] { return !interrupted(); };
        survey_ = survey_memory(*input.source, options_.simulation.taken(), go_on);
        if (check_.needs_instructions() && fetches_are_instructions()) instructions_ = survey_.fetches;
    }

    /// Whether each instruction is one fetch, by the format (docs/traces.md, docs/formats-of-others.md).
    bool fetches_are_instructions() const {
        if (!check_.program.empty()) return check_.fetches == ProgramFetches::instructions;
        const TraceFormat format = open_trace_as(options_.source, options_of(options_.choice)).format;
        return format == TraceFormat::lackey || format == TraceFormat::drmemtrace;
    }

    RunView run(unsigned layout) {
        Input input = open(layout == 0 ? Opening::first : Opening::again);
        MachineDescription machine = machine_;
        if (check_.layouts > 1) {
            input.source = std::make_unique<MovedSource>(std::move(input.source), survey_.segments,
                                                         drawn_layout(survey_.segments, layout, check_.layouts));
            machine.pages.seed = splitmix64(machine.pages.seed + layout);
        }
        const Topology topology(std::move(machine));
        const std::vector<MonitorSpec> monitors = monitors_of(check_, topology);
        check_cores(input, topology, check_.monitors.empty() ? std::vector<MonitorSpec>() : monitors);
        if (layout == 0) warn_of_one_stream(input, topology);
        ExactCounting counting;
        counting.errors = false;
        counting.attribution = check_.has_structures() && input.source->sites() != nullptr;
        counting.links = check_.has_structures() && !counting.attribution;
        const Outcome outcome = simulate(topology, monitors, *input.source,
                                         run_options(options_.simulation, *input.source), counting, host_of("engine"));
        clear_progress_line();
        RunView view = view_of(topology, input, outcome, levels_by_line(topology, outcome),
                               input.check ? input.check() : std::nullopt, options_.simulation);
        if (view.check && !view.check->passed) throw std::runtime_error(input.name + " computed a wrong result");
        if (!outcome.run.complete) throw std::runtime_error(view.title.incomplete);
        return view;
    }

    const BudgetCheck& check_;
    const WorkloadOptions& options_;
    MachineDescription machine_;
    MemorySurvey survey_;
    std::optional<std::uint64_t> instructions_;
};

/// Throws where monitors of a result are not those of the check.
void check_same_monitors(const BudgetCheck& check, const std::vector<MonitorSummary>& stored,
                         const MachineDescription& machine) {
    if (std::ranges::none_of(check.budgets, [](const CostBudget& each) { return each.quantity == Quantity::swapouts; }))
        return;
    std::vector<std::string> own, others;
    const Topology topology(machine);
    for (const MonitorSpec& spec : monitors_of(check, topology)) own.push_back(to_string(completed(spec, topology)));
    for (const MonitorSummary& monitor : stored) others.push_back(monitor.spec);
    if (own != others)
        throw std::runtime_error(fmt::format("{} is of other monitors ({}; this is {})", shown(check.stored),
                                             fmt::join(others, " and "), fmt::join(own, " and ")));
}

/// Throws where a result of run is not of what the check runs.
void check_same(const BudgetCheck& check, const RunTitle& title, const std::string& machine) {
    const bool is_same =
        title.machine == machine &&
        (check.workload.empty() || (title.input == check.workload && title.settings == check.settings));
    if (!is_same || !title.complete)
        throw std::runtime_error(fmt::format("{} is a {}result of {}, not of {} on {}", shown(check.stored),
                                             title.complete ? "" : "partial ", shown(title.text()),
                                             shown(check.source()), machine));
    if (title.count != check.count || title.warmup != check.warmup)
        throw std::runtime_error(fmt::format(
            "{} is of count {} and warmup {}, not of {} and {} (0: all, none); run it anew, with --count and --warmup",
            shown(check.stored), title.count, title.warmup, check.count, check.warmup));
}

/// By CostBudget::text(). Budgets that the stored result knows nothing of are left out.
std::map<std::string, double> values_stored(const BudgetCheck& check, const MachineDescription& machine) {
    require_present(check.stored);
    if (!is_result_file(check.stored)) {
        const auto text = read_yaml_file(check.stored);
        if (!text) throw std::runtime_error(check.stored + " cannot be read");
        return stored_values(*text, check.stored, check);
    }
    const InputFile file(check.stored);
    if (result_kind(file) != "run")
        throw std::runtime_error(check.stored + " is no result of run or replay, which alone can be compared with");
    const RunView view = read_run_view(file);
    check_same(check, view.title, machine.name);
    check_same_monitors(check, view.monitors, machine);
    std::map<std::string, double> values;
    for (const CostBudget& budget : check.budgets) {
        try {
            values[budget.text()] = value_of(budget, measured(view));
        } catch (const std::invalid_argument&) {  // judged() says so where it matters
        }
    }
    return values;
}

WorkloadOptions options_for(const BudgetCheck& check, int program_output) {
    WorkloadOptions options;
    options.source = check.program.empty() ? (check.trace.empty() ? check.workload : check.trace) : "";
    options.settings = check.settings;
    options.simulation.machine = check.machine;
    options.simulation.cores = check.cores;
    options.simulation.warmup = check.warmup;
    options.simulation.max_references = check.count;
    options.program.standard_output = program_output;
    options.program.fetches =
        check.fetches == ProgramFetches::instructions ? CapturedFetches::instructions : CapturedFetches::lines;
    options.choice.data_only = check.fetches == ProgramFetches::none;
    return options;
}

}  // namespace

std::vector<JudgedBudget> run_check(const BudgetCheck& check, int program_output, bool compare) {
    try {
        if (interrupted()) return failed_budgets(check, "interrupted");
        std::vector<JudgedBudget> all;
        WorkloadOptions options = options_for(check, program_output);
        if (!check.trace.empty()) require_present(check.trace);
        with_recording(options, check.program, [&] {
            CheckRunner runner(check, options);
            std::optional<std::map<std::string, double>> stored;
            if (compare && !check.stored.empty()) stored = values_stored(check, runner.machine());
            all = judged(check, runner.values(), stored ? &*stored : nullptr);
        });
        return all;
    } catch (const ProgramStatus& program) {
        return failed_budgets(check, fmt::format("the program failed with status {}", program.status));
    } catch (const std::exception& error) {
        clear_progress_line();
        return failed_budgets(check, folded(error.what()));
    }
}

}  // namespace cachetally::app

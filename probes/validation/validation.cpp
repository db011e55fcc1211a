// SPDX-License-Identifier: BSD-3-Clause
#include "probes/validation/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/random.hpp"
#include "base/text.hpp"
#include "probes/probe_file.hpp"
#include "probes/validation/tally.hpp"
#include "probes/validation/truth.hpp"
#include "storage/columns.hpp"

namespace cachetally {
namespace {

/// What findings and facts of a machine come to, in the order of the tests.
MachineVerdicts verdicts_on(const ValidationOptions& options, std::uint64_t number) {
    const MachineDescription machine = validation_machine(options, number);
    const MachineRun run = machine_run(options, number);
    SimulatedTarget target(machine, run.target);
    std::vector<TestReport> reports = run_suite(target, run.suite);
    MachineVerdicts verdicts;
    verdicts.machine = number;
    const auto& go_on = run.suite.budget.go_on;
    if (go_on && !go_on()) return verdicts;  // not all of them were complete
    const Evidence evidence = evidence_of(target.capabilities());
    const std::vector<Fact> known = facts_of(machine, Reading::as_built, evidence);
    for (TestReport& report : reports) {
        judge(report, machine, {}, evidence);
        add_report(verdicts, report, with_precedence(stated_by_test(report.test, machine), known));
    }
    verdicts.is_done = true;
    return verdicts;
}

/// All but how times are disturbed: a recording that tells may be on another computer.
MachineRun undisturbed_run(const ValidationOptions& options, std::uint64_t number) {
    constexpr const char* mixed[] = {"none", "quiet", "realistic"};
    MachineRun run;
    run.target.seed = splitmix64(splitmix64(options.seed) + number);
    run.target.no_events = options.no_events;
    if (options.small_pages ||
        (options.given.empty() && random_machine(options.seed, number, options.population).small_pages))
        run.target.large_pages.clear();
    run.noise = options.noise == "mixed" ? mixed[run.target.seed % 3] : options.noise;
    run.suite = options.suite;
    run.suite.cheap = options.costly_every == 0 || number % options.costly_every != 0;
    return run;
}

}  // namespace

MachineVerdicts verdicts_of(const ValidationOptions& options, std::uint64_t number) {
    try {
        return verdicts_on(options, number);
    } catch (const std::runtime_error& error) {
        if (options.given.empty()) throw;
        throw ProbeError("{}: {}", options.given[number].file, error.what());
    }
}

MachineRun machine_run(const ValidationOptions& options, std::uint64_t number) {
    MachineRun run = undisturbed_run(options, number);
    run.target.recorded = options.recorded_noise;
    if (!run.target.recorded) run.target.noise = noise_named(run.noise);
    return run;
}

MachineDescription validation_machine(const ValidationOptions& options, std::uint64_t number) {
    if (!options.given.empty()) return options.given[number].machine;
    return random_machine(options.seed, number, options.population).machine;
}

std::string machine_file(const ValidationOptions& options, std::uint64_t number) {
    if (!options.given.empty()) return options.given[number].file;
    return (std::filesystem::path(options.directory) / (random_machine(options.seed, number).name + ".yaml")).string();
}

std::string replay_command(const ValidationOptions& options, std::uint64_t number) {
    const MachineRun run = undisturbed_run(options, number);
    std::string command = shell_word(options.program) + " probe";
    for (const std::string& test : run.suite.tests) command += " " + test;
    if (!run.suite.published) command += " --robust";
    if (!run.suite.robust) command += " --as-published";
    // Without names of tests it decides which published variants run before the robust ones.
    if (run.suite.cheap && run.suite.published && run.suite.tests.empty()) command += " --cheap";
    command += " --machine " + shell_word(machine_file(options, number));
    if (run.target.large_pages.empty()) command += " --small-pages";
    if (run.noise != "none") command += " --noise " + shell_word(run.noise);
    if (!options.no_events.empty()) command += " --no-events " + shell_word(options.no_events);
    return command + fmt::format(" --seed {} --orders {}", run.target.seed, run.suite.seed);
}

ValidationResult run_validation(const ValidationOptions& options) {
    std::vector<MachineVerdicts> verdicts(options.machines);
    std::atomic<std::uint64_t> next{0};
    std::atomic<bool> stopped{false};
    std::mutex mutex;
    std::uint64_t done = 0;
    std::exception_ptr failure;
    const auto work = [&] {
        for (std::uint64_t number = next++; number < options.machines && !stopped; number = next++) {
            try {
                verdicts[number] = verdicts_of(options, number);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
                stopped = true;
                return;
            }
            const std::lock_guard lock(mutex);
            done += verdicts[number].is_done ? 1 : 0;
            if (options.progress && !options.progress(done)) stopped = true;
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < std::max(1U, options.jobs); ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
    VerdictTally tally(options.suite.robust);
    for (const MachineVerdicts& machine : verdicts) tally.see(machine);
    for (const MachineVerdicts& machine : verdicts) tally.add(machine);
    ValidationResult result = tally.result();
    for (Failure& each : result.failures) each.replay = replay_command(options, each.machine);
    return result;
}

namespace {

constexpr std::string_view between_findings = "; ";

std::vector<std::string> split_findings(std::string_view text) {
    std::vector<std::string> findings;
    while (!text.empty()) {
        const std::size_t end = text.find(between_findings);
        findings.emplace_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + between_findings.size());
    }
    return findings;
}

/// Calls column(name, member) for each column of scores.
template <class Column>
void for_each_column(Column column) {
    column("test", &Score::test);
    column("variant", &Score::variant);
    column("parameter", &Score::parameter);
    column("right", &Score::right);
    column("wrong", &Score::wrong);
    column("not_identifiable", &Score::not_identifiable);
}

}  // namespace

void write_validation(Group& root, const ValidationResult& result) {
    Group summary = root.create_group("summary");
    set_nexus_class(summary, "NXcollection");
    summary.set_attribute("machines", result.machines);
    for_each_column([&](const char* name, auto member) { write_member(summary, name, result.scores, member); });
    number_rows(summary, "row", result.scores.size());

    Group worst = root.create_group("worst");
    set_nexus_class(worst, "NXcollection");
    write_member(worst, "machine", result.failures, &Failure::machine);
    write_member(worst, "wrong", result.failures, &Failure::wrong);
    write_member(worst, "not_identifiable", result.failures, &Failure::not_identifiable);
    worst.write_texts("findings", column_of(result.failures, [](const Failure& failure) {
                          return fmt::format("{}", fmt::join(failure.wrong_findings, between_findings));
                      }));
    write_member(worst, "replay", result.failures, &Failure::replay);
    number_rows(worst, "row", result.failures.size());
}

ValidationResult read_validation(const Group& root) {
    ValidationResult result;
    const Group summary = root.open_group("summary");
    result.machines = summary.whole_attribute("machines");
    result.scores.resize(summary.read_texts("test").size());
    for_each_column([&](const char* name, auto member) { read_member(summary, name, result.scores, member); });
    for (Score& score : result.scores) score.variant = current_variant(score.variant);
    const Group worst = root.open_group("worst");
    for (const std::string& findings : worst.read_texts("findings"))
        result.failures.emplace_back().wrong_findings = split_findings(findings);
    read_member(worst, "machine", result.failures, &Failure::machine);
    read_member(worst, "wrong", result.failures, &Failure::wrong);
    read_member(worst, "not_identifiable", result.failures, &Failure::not_identifiable);
    // the first versions did not say how to repeat one
    if (worst.has("replay")) read_member(worst, "replay", result.failures, &Failure::replay);
    return result;
}

}  // namespace cachetally

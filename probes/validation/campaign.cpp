// SPDX-License-Identifier: BSD-3-Clause
#include "probes/validation/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstring>
#include <exception>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include "base/random.hpp"
#include "probes/probe_file.hpp"
#include "probes/validation/truth.hpp"
#include "storage/columns.hpp"

namespace cachetally {
namespace {

/// As a shell reads it as one word.
std::string shell_quoted(const std::string& text) {
    const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || std::strchr("_./-+:,=", c) != nullptr; };
    if (!text.empty() && std::ranges::all_of(text, plain)) return text;
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

/// Findings of tests on a machine, and their ground truth.
struct Probed {
    std::vector<TestReport> reports;       ///< empty where they were not run
    std::vector<std::vector<Fact>> facts;  ///< by report
};

Probed probe(const CampaignOptions& options, std::uint64_t number) {
    const MachineDescription machine = campaign_machine(options, number);
    const MachineRun run = machine_run(options, number);
    SimulatedTarget target(machine, run.target);
    std::vector<TestReport> reports = run_suite(target, run.suite);
    const auto& go_on = run.suite.budget.go_on;
    if (go_on && !go_on()) return {};  // not all of them were complete
    const Evidence evidence = evidence_of(target.capabilities());
    const std::vector<Fact> known = facts_of(machine, Reading::as_built, evidence);
    Probed probed;
    for (TestReport& report : reports) {
        judge(report, machine, {}, evidence);
        probed.facts.push_back(with_precedence(stated_by_test(report.test, machine), known));
    }
    probed.reports = std::move(reports);
    return probed;
}

/// What is wrong with a machine that was given is said with its file.
Probed probe_named(const CampaignOptions& options, std::uint64_t number) {
    try {
        return probe(options, number);
    } catch (const std::runtime_error& error) {
        if (options.given.empty()) throw;
        throw ProbeError("{}: {}", options.given[number].file, error.what());
    }
}

class Tally {
public:
    /// `probed` by machine.
    Tally(const CampaignOptions& options, const std::vector<Probed>& probed)
        : options_(options), robust_(options.suite.robust) {
        for (const Probed& machine : probed)
            for (const TestReport& report : machine.reports)
                for (const Finding& finding : report.findings)
                    if (finding.value) answered_.insert(key(finding));
        for (std::uint64_t number = 0; number < probed.size(); ++number)
            if (!probed[number].reports.empty()) add(number, probed[number]);
    }

    CampaignResult result() {
        result_.cost = cost_;
        std::ranges::stable_sort(result_.failures, [](const Failure& a, const Failure& b) {
            return std::pair(a.wrong, a.not_identifiable) > std::pair(b.wrong, b.not_identifiable);
        });
        std::ranges::stable_sort(result_.scores, {}, [](const Score& score) {
            const auto tests = probe_tests();
            const auto place = std::ranges::find(tests, score.test, &ProbeTest::name) - tests.begin();
            return std::tuple(place, score.parameter, score.variant);
        });
        return std::move(result_);
    }

private:
    using Key = std::array<std::string, 4>;
    static Key key(const Finding& finding) { return {finding.test, finding.variant, finding.level, finding.parameter}; }

    void add(std::uint64_t machine, const Probed& probed) {
        Failure failure;
        failure.machine = machine;
        for (std::size_t i = 0; i < probed.reports.size(); ++i) {
            const TestReport& report = probed.reports[i];
            cost_.runs += report.cost.runs;
            cost_.references += report.cost.references;
            cost_.simulated += report.cost.simulated;
            cost_.cycles += report.cost.cycles;
            for (const Finding& finding : report.findings) add(finding, failure);
            add_missing(report, probed.facts[i], failure);
        }
        if (failure.wrong + failure.not_identifiable > 0) {
            failure.replay = replay_command(options_, machine);
            result_.failures.push_back(std::move(failure));
        }
        ++result_.machines;
    }

    /// What a test answers on other machines and says nothing of on this one, though it is there, is not identified.
    void add_missing(const TestReport& report, const std::vector<Fact>& facts, Failure& failure) {
        for (const Fact& fact : facts) {
            const auto is_it = [&](const Finding& finding) {
                return finding.level == fact.level && finding.parameter == fact.parameter;
            };
            if (std::ranges::any_of(report.findings, is_it)) continue;
            if (!answered_.contains({report.test, report.variant, fact.level, fact.parameter})) continue;
            Finding missing;
            missing.test = report.test;
            missing.variant = report.variant;
            missing.parameter = fact.parameter;
            missing.verdict = Verdict::not_identifiable;
            add(missing, failure);
        }
    }

    void add(const Finding& finding, Failure& failure) {
        const auto same = [&](const Score& score) {
            return score.test == finding.test && score.variant == finding.variant &&
                   score.parameter == finding.parameter;
        };
        auto place = std::ranges::find_if(result_.scores, same);
        if (place == result_.scores.end())
            place = result_.scores.insert(place, {finding.test, finding.variant, finding.parameter});
        const bool counts = !robust_ || finding.variant == "robust";
        if (finding.verdict == Verdict::right) ++place->right;
        if (finding.verdict == Verdict::not_identifiable) ++place->not_identifiable, failure.not_identifiable += counts;
        if (finding.verdict != Verdict::wrong) return;
        ++place->wrong;
        if (!counts) return;
        ++failure.wrong;
        failure.wrong_findings.push_back(fmt::format("{} {}", finding.test, in_words(finding)));
    }

    const CampaignOptions& options_;
    bool robust_;
    std::set<Key> answered_;  ///< on some machine
    ProbeCost cost_;
    CampaignResult result_;
};

}  // namespace

std::string in_words(const Finding& finding) {
    const std::string what = finding.level.empty() ? finding.parameter : finding.level + " " + finding.parameter;
    return fmt::format("{}: {} found, {} true", what, finding.value ? found_in_words(finding) : "nothing",
                       finding.truth ? truth_in_words(finding) : "nothing");
}

MachineRun machine_run(const CampaignOptions& options, std::uint64_t number) {
    constexpr const char* mixed[] = {"none", "quiet", "realistic"};
    MachineRun run;
    run.target.seed = splitmix64(splitmix64(options.seed) + number);
    run.target.no_events = options.no_events;
    if (options.small_pages ||
        (options.given.empty() && random_machine(options.seed, number, options.population).small_pages))
        run.target.large_pages.clear();
    run.noise = options.noise == "mixed" ? mixed[run.target.seed % 3] : options.noise;
    run.target.recorded = options.recorded_noise;
    if (!run.target.recorded) run.target.noise = noise_named(run.noise);
    run.suite = options.suite;
    run.suite.cheap = options.costly_every == 0 || number % options.costly_every != 0;
    return run;
}

MachineDescription campaign_machine(const CampaignOptions& options, std::uint64_t number) {
    if (!options.given.empty()) return options.given[number].machine;
    return random_machine(options.seed, number, options.population).machine;
}

std::string machine_file(const CampaignOptions& options, std::uint64_t number) {
    if (!options.given.empty()) return options.given[number].file;
    return (std::filesystem::path(options.directory) / (random_machine(options.seed, number).name + ".yaml")).string();
}

std::string replay_command(const CampaignOptions& options, std::uint64_t number) {
    const MachineRun run = machine_run(options, number);
    std::string command = shell_quoted(options.program) + " probe";
    for (const std::string& test : run.suite.tests) command += " " + test;
    if (!run.suite.published) command += " --robust";
    if (!run.suite.robust) command += " --as-published";
    // Without names of tests it decides which published variants run before the robust ones.
    if (run.suite.cheap && run.suite.published && run.suite.tests.empty()) command += " --cheap";
    command += " --machine " + shell_quoted(machine_file(options, number));
    if (run.target.large_pages.empty()) command += " --small-pages";
    if (run.noise != "none") command += " --noise " + shell_quoted(run.noise);
    if (!options.no_events.empty()) command += " --no-events " + shell_quoted(options.no_events);
    return command + fmt::format(" --seed {} --orders {}", run.target.seed, run.suite.seed);
}

CampaignResult run_campaign(const CampaignOptions& options) {
    std::vector<Probed> probed(options.machines);
    std::atomic<std::uint64_t> next{0};
    std::atomic<bool> stopped{false};
    std::mutex mutex;
    std::uint64_t done = 0;
    std::exception_ptr failure;
    const auto work = [&] {
        for (std::uint64_t number = next++; number < options.machines && !stopped; number = next++) {
            try {
                probed[number] = probe_named(options, number);
                for (TestReport& report : probed[number].reports)
                    report.curves.clear();  // memory does not grow with them
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
                stopped = true;
                return;
            }
            const std::lock_guard lock(mutex);
            done += probed[number].reports.empty() ? 0 : 1;
            if (options.progress && !options.progress(done)) stopped = true;
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < std::max(1U, options.jobs); ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
    Tally tally(options, probed);
    return tally.result();
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

void write_campaign(Group& root, const CampaignResult& result) {
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

CampaignResult read_campaign(const Group& root) {
    CampaignResult result;
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

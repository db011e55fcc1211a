// SPDX-License-Identifier: BSD-3-Clause
#include "probes/validation/tally.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cachetally/probe_test.hpp"
#include "probes/probe_file.hpp"
#include "probes/suite.hpp"
#include "storage/columns.hpp"

namespace cachetally {
namespace {

std::array<std::string, 4> key_of(const Judgement& judgement) {
    return {judgement.test, judgement.variant, judgement.level, judgement.parameter};
}

}  // namespace

std::string in_words(const Finding& finding) {
    const std::string what = finding.level.empty() ? finding.parameter : finding.level + " " + finding.parameter;
    return fmt::format("{}: {} found, {} true", what, finding.value ? found_in_words(finding) : "nothing",
                       finding.truth ? truth_in_words(finding) : "nothing");
}

void add_report(MachineVerdicts& verdicts, const TestReport& report, const std::vector<Fact>& facts) {
    verdicts.cost.runs += report.cost.runs;
    verdicts.cost.references += report.cost.references;
    verdicts.cost.simulated += report.cost.simulated;
    verdicts.cost.cycles += report.cost.cycles;
    for (const Finding& finding : report.findings)
        verdicts.judgements.push_back(
            {finding.test, finding.variant, finding.level, finding.parameter, true, finding.value.has_value(),
             finding.verdict,
             finding.verdict == Verdict::wrong ? fmt::format("{} {}", finding.test, in_words(finding)) : ""});
    for (const Fact& fact : facts) {
        const auto is_it = [&](const Finding& finding) {
            return finding.level == fact.level && finding.parameter == fact.parameter;
        };
        if (std::ranges::none_of(report.findings, is_it))
            verdicts.judgements.push_back({report.test, report.variant, fact.level, fact.parameter, false});
    }
}

void VerdictTally::see(const MachineVerdicts& machine) {
    for (const Judgement& judgement : machine.judgements)
        if (judgement.has_value) answered_.insert(key_of(judgement));
}

void VerdictTally::add(const MachineVerdicts& machine) {
    if (!machine.is_done) return;
    result_.cost.runs += machine.cost.runs;
    result_.cost.references += machine.cost.references;
    result_.cost.simulated += machine.cost.simulated;
    result_.cost.cycles += machine.cost.cycles;
    Failure failure;
    failure.machine = machine.machine;
    for (const Judgement& judgement : machine.judgements) {
        if (judgement.is_finding)
            add(judgement, judgement.verdict, failure);
        else if (answered_.contains(key_of(judgement)))
            add(judgement, Verdict::not_identifiable, failure);
    }
    ++result_.machines;
    if (failure.wrong + failure.not_identifiable == 0) return;
    result_.failures.push_back(std::move(failure));
    if (result_.failures.size() >= 2 * most_failures) keep_worst();
}

void VerdictTally::add(const Judgement& judgement, Verdict verdict, Failure& failure) {
    const auto same = [&](const Score& score) {
        return score.test == judgement.test && score.variant == judgement.variant &&
               score.parameter == judgement.parameter;
    };
    auto place = std::ranges::find_if(result_.scores, same);
    if (place == result_.scores.end())
        place = result_.scores.insert(place, {judgement.test, judgement.variant, judgement.parameter});
    const bool counts = !robust_ || judgement.variant == "robust";
    if (verdict == Verdict::right) ++place->right;
    if (verdict == Verdict::not_identifiable) ++place->not_identifiable, failure.not_identifiable += counts;
    if (verdict != Verdict::wrong) return;
    ++place->wrong;
    if (!counts) return;
    ++failure.wrong;
    failure.wrong_findings.push_back(judgement.words);
}

void VerdictTally::keep_worst() {
    std::ranges::stable_sort(result_.failures, [](const Failure& a, const Failure& b) {
        return std::pair(a.wrong, a.not_identifiable) > std::pair(b.wrong, b.not_identifiable);
    });
    if (result_.failures.size() > most_failures) result_.failures.resize(most_failures);
}

ValidationResult VerdictTally::result() {
    keep_worst();
    std::ranges::stable_sort(result_.scores, {}, [](const Score& score) {
        const auto tests = probe_tests();
        const auto place = std::ranges::find(tests, score.test, &ProbeTest::name) - tests.begin();
        return std::tuple(place, score.parameter, score.variant);
    });
    return std::move(result_);
}

namespace {

struct VerdictRow {
    std::uint64_t machine = 0;
    std::string test, variant, level, parameter, words;
    std::uint8_t is_finding = 0, has_value = 0, verdict = 0;
};

struct MachineRow {
    std::uint64_t machine = 0;
    std::uint8_t is_done = 0;
    ProbeCost cost;
};

/// Calls column(name, member) for each.
template <class Column>
void for_each_verdict_column(Column column) {
    column("machine", &VerdictRow::machine);
    column("test", &VerdictRow::test);
    column("variant", &VerdictRow::variant);
    column("level", &VerdictRow::level);
    column("parameter", &VerdictRow::parameter);
    column("is_finding", &VerdictRow::is_finding);
    column("has_value", &VerdictRow::has_value);
    column("verdict", &VerdictRow::verdict);
    column("words", &VerdictRow::words);
}

template <class Column>
void for_each_cost_column(Column column) {
    column("runs", &ProbeCost::runs);
    column("references", &ProbeCost::references);
    column("simulated", &ProbeCost::simulated);
    column("cycles", &ProbeCost::cycles);
}

}  // namespace

void write_verdicts(Group& root, const std::vector<MachineVerdicts>& machines) {
    std::vector<VerdictRow> rows;
    for (const MachineVerdicts& machine : machines)
        for (const Judgement& each : machine.judgements)
            rows.push_back({machine.machine, each.test, each.variant, each.level, each.parameter, each.words,
                            std::uint8_t{each.is_finding}, std::uint8_t{each.has_value},
                            static_cast<std::uint8_t>(each.verdict)});
    Group verdicts = root.create_group("verdicts");
    for_each_verdict_column([&](const char* name, auto member) { write_member(verdicts, name, rows, member); });
    Group group = root.create_group("machines");
    write_member(group, "machine", machines, &MachineVerdicts::machine);
    group.write("is_done", column_of(machines, [](const auto& each) { return std::uint8_t{each.is_done}; }));
    const std::vector<ProbeCost> costs = column_of(machines, &MachineVerdicts::cost);
    for_each_cost_column([&](const char* name, auto member) { write_member(group, name, costs, member); });
}

std::vector<MachineVerdicts> read_verdicts(const Group& root) {
    const Group group = root.open_group("machines");
    std::vector<MachineVerdicts> machines(group.open_dataset("machine").rows());
    read_member(group, "machine", machines, &MachineVerdicts::machine);
    const auto is_done = read_column<std::uint8_t>(group, "is_done", machines.size());
    std::vector<ProbeCost> costs(machines.size());
    for_each_cost_column([&](const char* name, auto member) { read_member(group, name, costs, member); });
    for (std::size_t i = 0; i < machines.size(); ++i) {
        machines[i].is_done = is_done[i] != 0;
        machines[i].cost = costs[i];
    }
    const Group verdicts = root.open_group("verdicts");
    std::vector<VerdictRow> rows(verdicts.open_dataset("machine").rows());
    for_each_verdict_column([&](const char* name, auto member) { read_member(verdicts, name, rows, member); });
    std::size_t at = 0;
    for (const VerdictRow& row : rows) {
        while (at < machines.size() && machines[at].machine != row.machine) ++at;
        if (at == machines.size() || row.verdict > static_cast<std::uint8_t>(Verdict::unknown))
            throw StorageError("{}: the rows are not those of its machines; the file is damaged", verdicts.where());
        machines[at].judgements.push_back({row.test, row.variant, row.level, row.parameter, row.is_finding != 0,
                                           row.has_value != 0, static_cast<Verdict>(row.verdict), row.words});
    }
    return machines;
}

}  // namespace cachetally

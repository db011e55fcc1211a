#include "probes/probe_file.hpp"

#include <fmt/format.h>

#include <limits>

#include "storage/axes.hpp"

namespace cachetally {
namespace {

void write_findings(Group& root, std::span<const TestReport> reports) {
    std::vector<std::string> tests, variants, levels, parameters, words, units, methods, reasons, verdicts, truths;
    std::vector<double> values, lows, highs, truth_values;
    const double none = std::numeric_limits<double>::quiet_NaN();
    for (const TestReport& report : reports)
        for (const Finding& finding : report.findings) {
            tests.push_back(finding.test);
            variants.push_back(finding.variant);
            levels.push_back(finding.level);
            parameters.push_back(finding.parameter);
            const bool number = finding.value && finding.value->word.empty();
            values.push_back(number ? finding.value->number : none);
            lows.push_back(number ? finding.low : none);
            highs.push_back(number ? finding.high : none);
            words.push_back(finding.value ? finding.value->word : "");
            units.push_back(finding.unit);
            methods.push_back(finding.method);
            reasons.push_back(finding.reason);
            truth_values.push_back(finding.truth && finding.truth->word.empty() ? finding.truth->number : none);
            truths.push_back(finding.truth ? finding.truth->word : "");
            verdicts.push_back(name_of(finding.verdict));
        }
    Group group = root.create_group("findings");
    set_nexus_class(group, "NXcollection");
    group.write_texts("test", tests);
    group.write_texts("variant", variants);
    group.write_texts("level", levels);
    group.write_texts("parameter", parameters);
    group.write("value", values);
    group.write_texts("word", words);
    group.write("low", lows);
    group.write("high", highs);
    group.write_texts("unit", units);
    group.write_texts("method", methods);
    group.write_texts("reason", reasons);
    group.write("truth", truth_values);
    group.write_texts("truth_word", truths);
    group.write_texts("verdict", verdicts);
}

void write_curve(Group& curves, const Curve& curve, std::size_t number) {
    Group group = curves.create_group(fmt::format("{:02}_{}_{}_{}", number, curve.test, curve.variant, curve.name));
    group.write("x", curve.x).set_attribute("units", curve.x_unit);
    group.write("cycles", curve.cycles).set_attribute("units", std::string("cycles"));
    std::vector<std::string> more;
    if (!curve.trials.empty()) group.write("trials", curve.trials), more.push_back("trials");
    if (!curve.knocked_out.empty()) group.write("knocked_out", curve.knocked_out), more.push_back("knocked_out");
    group.set_attribute("x_name", curve.x_name);
    set_axes(group, "cycles", {"x"}, more);
}

}  // namespace

void write_probe(Group& root, std::span<const TestReport> reports) {
    write_findings(root, reports);
    Group curves = root.create_group("curves");
    set_nexus_class(curves, "NXcollection");
    Group tests = root.create_group("tests");
    set_nexus_class(tests, "NXcollection");
    std::size_t number = 0;
    for (const TestReport& report : reports) {
        for (const Curve& curve : report.curves)
            if (!curve.x.empty()) write_curve(curves, curve, number++);
        Group group = tests.create_group(report.test + "_" + report.variant);
        if (!report.decisions.empty()) group.write_texts("decisions", report.decisions);
        group.set_attribute("runs", report.cost.runs);
        group.set_attribute("references", report.cost.references);
        group.set_attribute("simulated", report.cost.simulated);
        group.set_attribute("cycles", report.cost.cycles);
    }
}

void write_campaign(Group& root, const CampaignResult& result) {
    std::vector<std::string> tests, variants, parameters, findings;
    std::vector<std::uint64_t> right, wrong, not_identifiable, machines, machine_wrong, machine_none;
    for (const Score& score : result.scores) {
        tests.push_back(score.test);
        variants.push_back(score.variant);
        parameters.push_back(score.parameter);
        right.push_back(score.right);
        wrong.push_back(score.wrong);
        not_identifiable.push_back(score.not_identifiable);
    }
    for (const Failure& failure : result.failures) {
        machines.push_back(failure.machine);
        machine_wrong.push_back(failure.wrong);
        machine_none.push_back(failure.not_identifiable);
        findings.push_back(fmt::format("{}", fmt::join(failure.wrong_findings, "; ")));
    }
    Group summary = root.create_group("summary");
    set_nexus_class(summary, "NXcollection");
    summary.set_attribute("machines", result.machines);
    summary.write_texts("test", tests);
    summary.write_texts("variant", variants);
    summary.write_texts("parameter", parameters);
    summary.write("right", right);
    summary.write("wrong", wrong);
    summary.write("not_identifiable", not_identifiable);
    Group worst = root.create_group("worst");
    set_nexus_class(worst, "NXcollection");
    worst.write("machine", machines);
    worst.write("wrong", machine_wrong);
    worst.write("not_identifiable", machine_none);
    worst.write_texts("findings", findings);
}

}  // namespace cachetally

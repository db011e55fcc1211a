// SPDX-License-Identifier: BSD-3-Clause
#include "probes/probe_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "storage/axes.hpp"

namespace cachetally {
namespace {

void write_findings(Group& root, std::span<const TestReport> reports) {
    std::vector<std::string> tests, variants, levels, parameters, words, units, methods, reasons, verdicts, truths;
    std::vector<double> values, lows, highs, truth_values, truth_highs;
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
            truth_highs.push_back(std::isnan(truth_values.back()) ? none
                                                                  : std::max(truth_values.back(), finding.truth_high));
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
    group.write("truth_high", truth_highs);
    group.write_texts("truth_word", truths);
    group.write_texts("verdict", verdicts);
    number_rows(group, "finding", verdicts.size());
}

void write_curve(Group& curves, const Curve& curve, std::size_t number) {
    std::string name = fmt::format("{:02}_{}_{}_{}", number, curve.test, curve.variant, curve.name);
    std::ranges::replace(name, ' ', '_');
    Group group = curves.create_group(name);
    Dataset x = group.write("x", curve.x);
    x.set_attribute("units", curve.x_unit);
    x.set_attribute("long_name", curve.x_name);
    group.write("value", curve.cycles).set_attribute("units", curve.unit);
    std::vector<std::string> more;
    if (!curve.trials.empty()) group.write("trials", curve.trials), more.push_back("trials");
    if (!curve.knocked_out.empty()) group.write("knocked_out", curve.knocked_out), more.push_back("knocked_out");
    group.set_attribute("test", curve.test);
    group.set_attribute("variant", curve.variant);
    group.set_attribute("name", curve.name);
    group.set_attribute("x_name", curve.x_name);
    set_axes(group, "value", {"x"}, more);
}

std::vector<TestReport> read_tests(const Group& tests) {
    std::vector<std::pair<std::uint64_t, TestReport>> found;
    for (const std::string& name : tests.children()) {
        const Group group = tests.open_group(name);
        TestReport report;
        report.test = group.text_attribute("test");
        report.variant = current_variant(group.text_attribute("variant"));
        if (group.has("decisions")) report.decisions = group.read_texts("decisions");
        report.cost.runs = group.whole_attribute("runs");
        report.cost.references = group.whole_attribute("references");
        report.cost.simulated = group.whole_attribute("simulated");
        report.cost.cycles = group.real_attribute("cycles");
        report.saved.runs = group.whole_attribute("saved_runs");
        report.saved.references = group.whole_attribute("saved_references");
        report.saved.cycles = group.real_attribute("saved_cycles");
        found.emplace_back(group.whole_attribute("order"), std::move(report));
    }
    std::ranges::sort(found, {}, [](const auto& each) { return each.first; });
    std::vector<TestReport> reports;
    reports.reserve(found.size());
    for (auto& [order, report] : found) reports.push_back(std::move(report));
    return reports;
}

TestReport& report_of(std::vector<TestReport>& reports, const std::string& test, const std::string& variant,
                      const Group& where) {
    for (TestReport& report : reports)
        if (report.test == test && report.variant == variant) return report;
    throw StorageError(fmt::format("{}: is of the test {} {}, which /tests does not have; the file is damaged",
                                   where.where(), test, variant));
}

std::optional<Value> value_of(double number, const std::string& word) {
    if (!word.empty()) return Value{0, word};
    if (std::isnan(number)) return std::nullopt;
    return Value{number, ""};
}

void read_findings(const Group& group, std::vector<TestReport>& reports) {
    std::map<std::string, std::vector<std::string>> texts;
    std::map<std::string, std::vector<double>> numbers;
    std::size_t rows = 0;
    for (const char* name :
         {"test", "variant", "level", "parameter", "word", "unit", "method", "reason", "truth_word", "verdict"})
        texts[name] = group.read_texts(name);
    for (const char* name : {"value", "low", "high", "truth", "truth_high"}) numbers[name] = group.read<double>(name);
    rows = texts["test"].size();
    const auto wrong = [&](const auto& each) { return each.second.size() != rows; };
    if (std::ranges::any_of(texts, wrong) || std::ranges::any_of(numbers, wrong))
        throw StorageError(fmt::format("{}: columns of different lengths; the file is damaged", group.where()));
    for (std::size_t i = 0; i < rows; ++i) {
        Finding one{texts["test"][i],
                    current_variant(texts["variant"][i]),
                    texts["level"][i],
                    texts["parameter"][i],
                    value_of(numbers["value"][i], texts["word"][i]),
                    0,
                    0,
                    texts["unit"][i],
                    texts["method"][i],
                    texts["reason"][i],
                    value_of(numbers["truth"][i], texts["truth_word"][i]),
                    0,
                    Verdict::unknown};
        if (one.value && one.value->word.empty()) one.low = numbers["low"][i], one.high = numbers["high"][i];
        if (one.truth && one.truth->word.empty()) one.truth_high = numbers["truth_high"][i];
        for (const Verdict verdict : {Verdict::right, Verdict::wrong, Verdict::not_identifiable})
            if (texts["verdict"][i] == name_of(verdict)) one.verdict = verdict;
        report_of(reports, one.test, one.variant, group).findings.push_back(std::move(one));
    }
}

Curve read_curve(const Group& group) {
    Curve curve{group.text_attribute("test"),
                current_variant(group.text_attribute("variant")),
                group.text_attribute("name"),
                group.text_attribute("x_name"),
                group.open_dataset("x").text_attribute("units"),
                group.read<double>("x"),
                group.read<double>("value"),
                {},
                {},
                group.open_dataset("value").text_attribute("units")};
    if (group.has("trials")) curve.trials = group.read<std::uint32_t>("trials");
    if (group.has("knocked_out")) curve.knocked_out = group.read<std::uint8_t>("knocked_out");
    const std::size_t points = curve.x.size();
    const auto fits = [&](const auto& column) { return column.empty() || column.size() == points; };
    if (curve.cycles.size() != points || !fits(curve.trials) || !fits(curve.knocked_out))
        throw StorageError(fmt::format("{}: columns of different lengths; the file is damaged", group.where()));
    return curve;
}

}  // namespace

void write_probe(Group& root, std::span<const TestReport> reports) {
    write_findings(root, reports);
    Group curves = root.create_group("curves");
    set_nexus_class(curves, "NXcollection");
    Group tests = root.create_group("tests");
    set_nexus_class(tests, "NXcollection");
    std::size_t number = 0;
    std::uint64_t number_of_test = 0;
    for (const TestReport& report : reports) {
        for (const Curve& curve : report.curves)
            if (!curve.x.empty()) write_curve(curves, curve, number++);
        Group group = tests.create_group(report.test + "_" + report.variant);
        group.set_attribute("test", report.test);
        group.set_attribute("variant", report.variant);
        group.set_attribute("order", number_of_test++);
        if (!report.decisions.empty()) group.write_texts("decisions", report.decisions);
        group.set_attribute("runs", report.cost.runs);
        group.set_attribute("references", report.cost.references);
        group.set_attribute("simulated", report.cost.simulated);
        group.set_attribute("cycles", report.cost.cycles);
        group.set_attribute("saved_runs", report.saved.runs);
        group.set_attribute("saved_references", report.saved.references);
        group.set_attribute("saved_cycles", report.saved.cycles);
    }
    const auto names = curves.children();
    if (names.empty()) return;
    set_nexus_class(curves, "NXcollection", names.front());
    root.set_attribute("default", "curves");
}

std::string current_variant(std::string stored) { return stored == "hardened" ? "robust" : stored; }

std::vector<TestReport> read_probe(const Group& root) {
    std::vector<TestReport> reports = read_tests(root.open_group("tests"));
    read_findings(root.open_group("findings"), reports);
    const Group curves = root.open_group("curves");
    for (const std::string& name : curves.children()) {
        Curve curve = read_curve(curves.open_group(name));
        report_of(reports, curve.test, curve.variant, curves).curves.push_back(std::move(curve));
    }
    return reports;
}

}  // namespace cachetally

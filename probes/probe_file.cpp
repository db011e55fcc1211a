// SPDX-License-Identifier: BSD-3-Clause
#include "probes/probe_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "storage/columns.hpp"

namespace cachetally {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

bool is_number(const std::optional<Value>& value) { return value && value->word.empty(); }
double number_of(const std::optional<Value>& value) { return is_number(value) ? value->number : none; }
std::string word_of(const std::optional<Value>& value) { return value ? value->word : ""; }

void write_findings(Group& root, std::span<const TestReport> reports) {
    std::vector<Finding> all;
    for (const TestReport& report : reports) all.insert(all.end(), report.findings.begin(), report.findings.end());
    Group group = root.create_group("findings");
    set_nexus_class(group, "NXcollection");
    const auto texts = [&](const char* name, auto of) { group.write_texts(name, column_of(all, of)); };
    const auto numbers = [&](const char* name, auto of) { group.write(name, column_of(all, of)); };
    texts("test", &Finding::test);
    texts("variant", &Finding::variant);
    texts("level", &Finding::level);
    texts("parameter", &Finding::parameter);
    numbers("value", [](const Finding& one) { return number_of(one.value); });
    texts("word", [](const Finding& one) { return word_of(one.value); });
    numbers("low", [](const Finding& one) { return is_number(one.value) ? one.low : none; });
    numbers("high", [](const Finding& one) { return is_number(one.value) ? one.high : none; });
    texts("unit", &Finding::unit);
    texts("method", &Finding::method);
    texts("reason", &Finding::reason);
    numbers("truth", [](const Finding& one) { return number_of(one.truth); });
    numbers("truth_high", [](const Finding& one) {
        return is_number(one.truth) ? std::max(one.truth->number, one.truth_high) : none;
    });
    texts("truth_word", [](const Finding& one) { return word_of(one.truth); });
    texts("verdict", [](const Finding& one) { return name_of(one.verdict); });
    number_rows(group, "finding", all.size());
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
    if (!curve.low.empty()) group.write("low", curve.low), more.push_back("low");
    if (!curve.high.empty()) group.write("high", curve.high), more.push_back("high");
    group.set_attribute("test", curve.test);
    group.set_attribute("variant", curve.variant);
    group.set_attribute("name", curve.name);
    group.set_attribute("x_name", curve.x_name);
    set_axes(group, "value", {"x"}, more);
}

void write_matrix(Group& matrices, const ProcessorMatrix& matrix, std::size_t number) {
    Group group =
        matrices.create_group(fmt::format("{:02}_{}_{}_{}", number, matrix.test, matrix.variant, matrix.name));
    const std::uint64_t count = matrix.processors.size();
    const auto table = [&](const char* name, const std::vector<double>& values) {
        group.write_table<double>(name, values, count, count).set_attribute("units", matrix.unit);
    };
    group.write("from", matrix.processors);
    group.write("to", matrix.processors);
    table("median", matrix.median);
    table("low", matrix.low);
    table("high", matrix.high);
    group.set_attribute("test", matrix.test);
    group.set_attribute("variant", matrix.variant);
    group.set_attribute("name", matrix.name);
    set_axes(group, "median", {"from", "to"}, {"low", "high"});
}

ProcessorMatrix read_matrix(const Group& group) {
    ProcessorMatrix matrix{group.text_attribute("test"), current_variant(group.text_attribute("variant")),
                           group.text_attribute("name"), group.open_dataset("median").text_attribute("units"),
                           group.read<unsigned>("from")};
    const std::size_t cells = matrix.processors.size() * matrix.processors.size();
    matrix.median = group.read<double>("median");
    matrix.low = group.read<double>("low");
    matrix.high = group.read<double>("high");
    for (const auto* values : {&matrix.median, &matrix.low, &matrix.high})
        if (values->size() != cells)
            throw StorageError("{}: a table of {} values for {} processors; the file is damaged", group.where(),
                               values->size(), matrix.processors.size());
    return matrix;
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
    std::ranges::sort(found, {}, &std::pair<std::uint64_t, TestReport>::first);
    return column_of(found, &std::pair<std::uint64_t, TestReport>::second);
}

TestReport& report_of(std::vector<TestReport>& reports, const std::string& test, const std::string& variant,
                      const Group& where) {
    for (TestReport& report : reports)
        if (report.test == test && report.variant == variant) return report;
    throw StorageError("{}: is of the test {} {}, which /tests does not have; the file is damaged", where.where(), test,
                       variant);
}

/// Throws where a table has columns of other lengths than others.
[[noreturn]] void differ_in_length(const Group& group) {
    throw StorageError("{}: columns of different lengths; the file is damaged", group.where());
}

void read_findings(const Group& group, std::vector<TestReport>& reports) {
    std::vector<Finding> all(group.read_texts("test").size());
    const auto each = [&](const auto& column, const auto& set) {
        if (column.size() != all.size()) differ_in_length(group);
        for (std::size_t i = 0; i < all.size(); ++i) set(all[i], column[i]);
    };
    const auto text = [&](const char* name, std::string Finding::*member) {
        each(group.read_texts(name), [&](Finding& one, const std::string& read) { one.*member = read; });
    };
    const auto value = [&](const char* number, const char* word, std::optional<Value> Finding::*member) {
        each(group.read<double>(number), [&](Finding& one, double read) {
            if (!std::isnan(read)) one.*member = Value{read, ""};
        });
        each(group.read_texts(word), [&](Finding& one, const std::string& read) {
            if (!read.empty()) one.*member = Value{0, read};
        });
    };
    text("test", &Finding::test);
    text("variant", &Finding::variant);
    for (Finding& one : all) one.variant = current_variant(one.variant);
    text("level", &Finding::level);
    text("parameter", &Finding::parameter);
    value("value", "word", &Finding::value);
    each(group.read<double>("low"), [](Finding& one, double low) { one.low = is_number(one.value) ? low : 0; });
    each(group.read<double>("high"), [](Finding& one, double high) { one.high = is_number(one.value) ? high : 0; });
    text("unit", &Finding::unit);
    text("method", &Finding::method);
    text("reason", &Finding::reason);
    value("truth", "truth_word", &Finding::truth);
    each(group.read<double>("truth_high"),
         [](Finding& one, double high) { one.truth_high = is_number(one.truth) ? high : 0; });
    each(group.read_texts("verdict"), [](Finding& one, const std::string& name) {
        for (const Verdict verdict : {Verdict::right, Verdict::wrong, Verdict::not_identifiable})
            if (name == name_of(verdict)) one.verdict = verdict;
    });
    for (Finding& one : all) report_of(reports, one.test, one.variant, group).findings.push_back(std::move(one));
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
    if (group.has("low")) curve.low = group.read<double>("low");
    if (group.has("high")) curve.high = group.read<double>("high");
    const std::size_t points = curve.x.size();
    const auto fits = [&](const auto& column) { return column.empty() || column.size() == points; };
    if (curve.cycles.size() != points || !fits(curve.trials) || !fits(curve.knocked_out) || !fits(curve.low) ||
        !fits(curve.high))
        differ_in_length(group);
    return curve;
}

}  // namespace

void write_probe(Group& root, std::span<const TestReport> reports) {
    write_findings(root, reports);
    Group curves = root.create_group("curves");
    set_nexus_class(curves, "NXcollection");
    Group tests = root.create_group("tests");
    set_nexus_class(tests, "NXcollection");
    std::size_t number = 0, matrix_number = 0;
    std::uint64_t number_of_test = 0;
    std::optional<Group> matrices;  // most machines have one processor
    for (const TestReport& report : reports) {
        for (const Curve& curve : report.curves)
            if (!curve.x.empty()) write_curve(curves, curve, number++);
        for (const ProcessorMatrix& matrix : report.matrices) {
            if (!matrices) set_nexus_class(matrices.emplace(root.create_group("matrices")), "NXcollection");
            write_matrix(*matrices, matrix, matrix_number++);
        }
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
    if (!root.has("matrices")) return reports;  // of an older version, or of one processor
    const Group matrices = root.open_group("matrices");
    for (const std::string& name : matrices.children()) {
        ProcessorMatrix matrix = read_matrix(matrices.open_group(name));
        report_of(reports, matrix.test, matrix.variant, matrices).matrices.push_back(std::move(matrix));
    }
    return reports;
}

void write_stated_sharing(Group& root, std::span<const Fact> sharing) {
    if (sharing.empty()) return;
    Group group = root.create_group("stated_sharing");
    set_nexus_class(group, "NXcollection");
    group.write_texts("level", column_of(sharing, &Fact::level));
    group.write_texts("shared_among", column_of(sharing, [](const Fact& fact) { return fact.value.word; }));
}

std::vector<Fact> read_stated_sharing(const Group& root) {
    if (!root.has("stated_sharing")) return {};
    const Group group = root.open_group("stated_sharing");
    const std::vector<std::string> levels = group.read_texts("level"), among = group.read_texts("shared_among");
    if (levels.size() != among.size()) differ_in_length(group);
    std::vector<Fact> sharing;
    for (std::size_t i = 0; i < levels.size(); ++i) sharing.push_back({levels[i], "shared_among", {0, among[i]}});
    return sharing;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "campaign/budget_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace cachetally {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* stored_format = "cachetally budgets";
constexpr int stored_version = 2;

std::vector<JudgedBudget> by_severity(const BudgetReport& report) {
    std::vector<JudgedBudget> all = report.budgets;
    sort_by_severity(all);
    return all;
}

std::string spread_text(const JudgedBudget& each) {
    if (each.verdict == BudgetVerdict::failed || each.layouts == 1) return "";
    return each.sample.spread ? fmt::format("{:.2f} %", *each.sample.spread) : "from 0";
}

std::string change_text_of(const JudgedBudget& each) {
    if (const auto change = each.change()) return signed_percent(*change);
    return each.stored && each.verdict != BudgetVerdict::failed ? "from 0" : "";
}

std::vector<std::string> row_of(const JudgedBudget& each) {
    const Quantity quantity = each.budget.quantity;
    const bool failed = each.verdict == BudgetVerdict::failed;
    return {each.check,
            each.budget.text(),
            each.budget.limit ? value_text(quantity, *each.budget.limit) : "",
            failed ? "" : value_text(quantity, each.sample.value),
            change_text_of(each),
            spread_text(each),
            std::string(name_of(each.verdict))};
}

/// What Markdown takes as it is, within a cell of a table.
std::string markdown_text(const std::string& text) {
    std::string escaped;
    for (const char character : without_controls(text)) {
        if (std::string_view("\\`*_{}[]<>|#~&").find(character) != std::string_view::npos) escaped += '\\';
        escaped += character;
    }
    return escaped;
}

std::string markdown_row(const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const std::string& cell : cells) line += ' ' + markdown_text(cell) + " |";
    return line + '\n';
}

/// For attributes and text alike.
std::string xml_text(const std::string& text) {
    std::string escaped;
    for (const char character : without_controls(text)) switch (character) {
            case '&': escaped += "&amp;"; break;
            case '<': escaped += "&lt;"; break;
            case '>': escaped += "&gt;"; break;
            case '"': escaped += "&quot;"; break;
            case '\'': escaped += "&apos;"; break;
            default: escaped += character;
        }
    return escaped;
}

std::string testcase(const JudgedBudget& each) {
    const std::string begin =
        fmt::format(R"(    <testcase classname="{}" name="{}")", xml_text(each.check), xml_text(each.budget.text()));
    if (each.verdict == BudgetVerdict::kept) return begin + "/>\n";
    const std::string message = xml_text(each.complaint());
    return fmt::format("{}>\n      <{} type=\"{}\" message=\"{}\"/>\n    </testcase>\n", begin,
                       each.verdict == BudgetVerdict::failed ? "error" : "failure", name_of(each.verdict), message);
}

struct SuiteCounts {
    std::size_t tests = 0, failures = 0, errors = 0;
    void add(const JudgedBudget& each) {
        ++tests;
        if (each.verdict == BudgetVerdict::failed)
            ++errors;
        else if (each.verdict != BudgetVerdict::kept)
            ++failures;
    }
    std::string text() const { return fmt::format(R"(tests="{}" failures="{}" errors="{}")", tests, failures, errors); }
};

template <class Value>
OrderedJson json_or_null(const std::optional<Value>& value) {
    return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson text_or_null(const std::string& text) { return text.empty() ? OrderedJson(nullptr) : OrderedJson(text); }

OrderedJson json_of_budget(const JudgedBudget& each) {
    const CostBudget& budget = each.budget;
    const bool failed = each.verdict == BudgetVerdict::failed;
    return {{"check", each.check},
            {"budget", budget.text()},
            {"quantity", name_of(budget.quantity)},
            {"level", text_or_null(budget.level)},
            {"structure", text_or_null(budget.structure)},
            {"monitor", text_or_null(budget.monitor)},
            {"phase", budget.phase_number() ? OrderedJson(*budget.phase_number()) : text_or_null(budget.phase)},
            {"layouts", each.layouts},
            {"limit", json_or_null(budget.limit)},
            {"value", failed ? OrderedJson(nullptr) : OrderedJson(each.sample.value)},
            {"values", each.sample.values},
            {"spread", failed ? OrderedJson(nullptr) : json_or_null(each.sample.spread)},
            {"stored", json_or_null(each.stored)},
            {"change", json_or_null(each.change())},
            {"within", json_or_null(budget.within)},
            {"verdict", name_of(each.verdict)},
            {"failure", text_or_null(each.failure)}};
}

}  // namespace

std::size_t BudgetReport::not_kept() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(budgets, [](const JudgedBudget& each) { return each.verdict != BudgetVerdict::kept; }));
}

std::string BudgetReport::summary() const {
    if (!kept()) return fmt::format("{} of {} not kept", not_kept(), numbered(budgets.size(), "budget"));
    return budgets.size() == 1 ? "the budget is kept" : fmt::format("all {} budgets are kept", budgets.size());
}

std::vector<std::string> BudgetReport::complaints() const {
    std::vector<std::string> lines;
    std::map<std::pair<std::string, std::string>, std::size_t> others;  // by check and failure, which is told once
    const std::vector<JudgedBudget> all = by_severity(*this);
    for (const JudgedBudget& each : all)
        if (each.verdict == BudgetVerdict::failed) ++others[{each.check, each.failure}];
    for (const JudgedBudget& each : all) {
        if (each.verdict == BudgetVerdict::kept) continue;
        std::size_t& same = others[{each.check, each.failure}];
        if (each.verdict != BudgetVerdict::failed || same == 1) {
            lines.push_back(each.complaint());
        } else if (same > 1) {
            lines.push_back(
                fmt::format("{}: {}: {}", without_controls(each.check), numbered(same, "budget"), each.failure));
            same = 0;
        }
    }
    return lines;
}

std::vector<std::string> budget_columns() {
    return {"check", "budget", "limit", "value", "change", "spread", "verdict"};
}

std::vector<std::vector<std::string>> budget_rows(const BudgetReport& report) {
    std::vector<std::vector<std::string>> rows;
    for (const JudgedBudget& each : by_severity(report)) rows.push_back(row_of(each));
    return rows;
}

std::string to_markdown(const BudgetReport& report) {
    std::string text = fmt::format("{}{}\n\n", markdown_ends.begin, report.summary()) + markdown_row(budget_columns()) +
                       "| :-- | :-- | --: | --: | --: | --: | :-- |\n";
    for (const std::vector<std::string>& row : budget_rows(report)) text += markdown_row(row);
    if (!report.kept()) text += '\n';
    for (const std::string& line : report.complaints()) text += "* " + markdown_text(line) + '\n';
    return fmt::format("{}\n{}", text, markdown_ends.end);
}

std::string to_junit(const BudgetReport& report) {
    std::vector<std::pair<std::string, SuiteCounts>> suites;  // in the order of the file
    std::map<std::string, std::string> cases;
    SuiteCounts all;
    for (const JudgedBudget& each : report.budgets) {
        if (suites.empty() || suites.back().first != each.check) suites.emplace_back(each.check, SuiteCounts{});
        suites.back().second.add(each);
        all.add(each);
        cases[each.check] += testcase(each);
    }
    std::string text =
        fmt::format("{}<testsuites name=\"{}\" {}>\n", junit_ends.begin, xml_text(report.file), all.text());
    for (const auto& [name, counts] : suites)
        text +=
            fmt::format("  <testsuite name=\"{}\" {}>\n{}  </testsuite>\n", xml_text(name), counts.text(), cases[name]);
    return fmt::format("{}{}", text, junit_ends.end);
}

OrderedJson to_json(const BudgetReport& report) {
    OrderedJson budgets = OrderedJson::array();
    for (const JudgedBudget& each : report.budgets) budgets.push_back(json_of_budget(each));
    return {{"file", report.file}, {"kept", report.kept()}, {"summary", report.summary()}, {"budgets", budgets}};
}

std::string to_stored(const BudgetReport& report, const std::vector<BudgetCheck>& all_checks) {
    OrderedJson checks = OrderedJson::object();
    const auto conditions_of = [&](const std::string& name) {
        const auto check = std::ranges::find(all_checks, name, &BudgetCheck::name);
        return check == all_checks.end() ? "" : check->conditions();
    };
    for (const JudgedBudget& each : report.budgets) {
        if (each.verdict == BudgetVerdict::failed) continue;
        OrderedJson& check = checks[each.check];
        if (check.is_null()) check["conditions"] = conditions_of(each.check);
        check["layouts"] = each.layouts;
        check["budgets"][each.budget.text()] = each.sample.value;
    }
    const OrderedJson all = {{"format", stored_format}, {"version", stored_version}, {"checks", checks}};
    return all.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + '\n';
}

std::map<std::string, double> stored_values(const std::string& text, const std::string& file,
                                            const BudgetCheck& check) {
    const auto refuse = [&](const std::string& why) { throw StoredBudgetsError(fmt::format("{}: {}", file, why)); };
    const auto all = nlohmann::json::parse(text, nullptr, false);
    const bool is_one = all.is_object() && all.value("format", nlohmann::json()) == stored_format &&
                        all.value("version", nlohmann::json()) == stored_version && all.contains("checks") &&
                        all["checks"].is_object();
    if (!is_one)
        refuse("this is neither a result of 'cachetally check --store' of this version nor a result file (.h5) of run");
    if (!all["checks"].contains(check.name))
        refuse(fmt::format("it has no check '{}'; store one anew", shown(check.name)));
    const auto& found = all["checks"][check.name];
    if (!found.is_object() || !found.contains("budgets") || !found["budgets"].is_object())
        refuse(fmt::format("the check '{}' is damaged", shown(check.name)));
    if (found.value("conditions", nlohmann::json()) != check.conditions())
        refuse(fmt::format("its check '{}' is of something else ({}; this is {}); store one anew", shown(check.name),
                           printable(found.value("conditions", std::string("an older version"))), check.conditions()));
    if (found.value("layouts", nlohmann::json()) != check.layouts)
        refuse(fmt::format("its check '{}' is not of {}; store one anew", shown(check.name),
                           numbered(check.layouts, "layout")));
    std::map<std::string, double> values;
    for (const auto& [name, value] : found["budgets"].items()) {
        if (!value.is_number()) continue;
        values[name] = value.get<double>();
        if (values[name] < 0)
            refuse(fmt::format("'{}' of the check '{}' is below 0: damaged", shown(name), shown(check.name)));
    }
    return values;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// What is told of budgets: a table, Markdown, JUnit XML, JSON; and results that are stored to be compared with.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "campaign/budget_verdict.hpp"

namespace cachetally {

/// All budgets of a file, judged, in its order.
struct BudgetReport {
    std::string file;
    std::vector<JudgedBudget> budgets;

    std::size_t not_kept() const;
    bool kept() const { return not_kept() == 0; }
    /// "all 7 budgets are kept", "2 of 7 budgets are not kept".
    std::string summary() const;
    /// What is not right, a line each, the worst first.
    std::vector<std::string> complaints() const;
};

/// The titles of the table: check, quantity, limit, value, change, spread, verdict.
std::vector<std::string> budget_columns();
/// A row for each budget, worst first.
std::vector<std::vector<std::string>> budget_rows(const BudgetReport& report);

/// How files begin and end that the functions below make.
struct FileEnds {
    std::string_view begin, end;
};
inline constexpr FileEnds markdown_ends{"### Budgets: ", "<!-- cachetally check -->\n"};
inline constexpr FileEnds junit_ends{"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- cachetally check -->\n",
                                     "</testsuites>\n"};
inline constexpr FileEnds stored_ends{"{\n  \"format\": \"cachetally", "}\n"};

/// A heading, the table, and what is not right.
std::string to_markdown(const BudgetReport& report);

/// A testsuite for each check, a testcase for each budget: with a failure where it is not kept, an error where there is
/// no value. Text is made such as XML 1.0 may hold.
std::string to_junit(const BudgetReport& report);

/// {file, kept, summary, budgets[]: {check, budget, quantity, level, structure, monitor, phase, layouts, limit, value,
/// spread, stored, change, within, verdict, failure}}; null where there is none.
nlohmann::ordered_json to_json(const BudgetReport& report);

/// A stored result is no such file, or of something else.
class StoredBudgetsError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The values, for stored_values(); budgets without a value are left out.
std::string to_stored(const BudgetReport& report, const std::vector<BudgetCheck>& checks);

/// The values of a check, by CostBudget::text(), in the text of a file that to_stored() wrote. Throws
/// StoredBudgetsError where it is none, has no such check, or one of other conditions or another number of layouts.
std::map<std::string, double> stored_values(const std::string& text, const std::string& file, const BudgetCheck& check);

}  // namespace cachetally

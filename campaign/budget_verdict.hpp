// SPDX-License-Identifier: BSD-3-Clause
// Verdicts: whether budgets are kept.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "campaign/budget_value.hpp"

namespace cachetally {

enum class BudgetVerdict : std::uint8_t {
    kept,
    exceeded,  ///< the limit
    differs,   ///< from the stored result by more than it may
    failed,    ///< there is no value
};

/// "kept", "exceeded", "differs", "failed".
std::string_view name_of(BudgetVerdict verdict);

/// One budget, judged.
struct JudgedBudget {
    std::string check;
    CostBudget budget;
    unsigned layouts = 1;
    LayoutSample sample;           ///< of no meaning where it failed
    std::optional<double> stored;  ///< the value in the stored result
    BudgetVerdict verdict = BudgetVerdict::kept;
    std::string failure;  ///< why there is no value

    /// Percent; nothing where nothing is stored, or 0 is and the value is not.
    std::optional<double> change() const;
    /// How near: 1 is at the limit, or at the difference that is allowed; infinite where there is no value.
    double severity() const;
    /// "lu blocked: L1D misses: 131,072 exceeds the limit of 120,000 by 9.23 %"; what is not right, or nothing.
    std::string complaint() const;
};

/// What a check gave for one of its budgets.
struct MeasuredBudget {
    std::vector<double> by_layout;
    std::string failure;  ///< why there is no value; the others may have theirs
};

/// Judges all budgets of a check. `stored`: values by CostBudget::text(), of a stored result; a budget that it does not
/// have and compares with it fails.
std::vector<JudgedBudget> judged(const BudgetCheck& check, const std::vector<MeasuredBudget>& values,
                                 const std::map<std::string, double>* stored);

/// The budgets of a check that gave no values.
std::vector<JudgedBudget> failed_budgets(const BudgetCheck& check, const std::string& why);

/// Worst first, else in the order of the file.
void sort_by_severity(std::vector<JudgedBudget>& all);

/// "1,234", "3.457", "5.21 %": a value as people read it.
std::string value_text(Quantity quantity, double value);
std::string signed_percent(double percent);

}  // namespace cachetally

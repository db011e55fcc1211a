// SPDX-License-Identifier: BSD-3-Clause
#include "campaign/budget_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"

namespace cachetally {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// How many times `most` a value is.
double times(double value, double most) {
    if (most > 0) return value / most;
    return value > 0 ? infinite : 0;
}

bool differs_too_much(const JudgedBudget& each) {
    return each.stored && each.budget.within &&
           std::abs(each.sample.value - *each.stored) > *each.stored * *each.budget.within / 100;
}

BudgetVerdict verdict_of(const JudgedBudget& each) {
    if (!each.failure.empty()) return BudgetVerdict::failed;
    if (each.budget.limit && each.sample.value > *each.budget.limit) return BudgetVerdict::exceeded;
    return differs_too_much(each) ? BudgetVerdict::differs : BudgetVerdict::kept;
}

std::string by_percent(double value, double limit) {
    return limit == 0 ? "" : fmt::format(" by {:.2f} %", 100 * (value - limit) / limit);
}

}  // namespace

std::string_view name_of(BudgetVerdict verdict) {
    static constexpr std::string_view names[] = {"kept", "exceeded", "differs", "failed"};
    return names[static_cast<std::size_t>(verdict)];
}

std::string value_text(Quantity quantity, double value) {
    switch (quantity) {
        case Quantity::miss_rate: return fmt::format("{:.3f} %", value);
        case Quantity::mpki:
        case Quantity::mpkr: return fmt::format("{:.3f}", value);
        default: break;
    }
    constexpr double whole_from = 10'000;  // tenths of means say nothing there
    if (value >= whole_from) return with_separators(static_cast<std::uint64_t>(std::llround(value)));
    const auto tenths = static_cast<std::uint64_t>(std::llround(value * 10));
    return with_separators(tenths / 10) + (tenths % 10 == 0 ? "" : fmt::format(".{}", tenths % 10));
}

std::string signed_percent(double percent) { return percent == 0 ? "0 %" : fmt::format("{:+.2f} %", percent); }

std::optional<double> JudgedBudget::change() const {
    if (!stored || verdict == BudgetVerdict::failed) return std::nullopt;
    if (sample.value == *stored) return 0;
    return *stored == 0 ? std::nullopt : std::optional(100 * (sample.value - *stored) / *stored);
}

double JudgedBudget::severity() const {
    if (verdict == BudgetVerdict::failed) return infinite;
    double worst = budget.limit ? times(sample.value, *budget.limit) : 0;
    if (stored && budget.within)
        worst = std::max(worst, times(std::abs(sample.value - *stored), *stored * *budget.within / 100));
    return worst;
}

std::string JudgedBudget::complaint() const {
    const std::string name = fmt::format("{}: {}: ", without_controls(check), without_controls(budget.text()));
    if (verdict == BudgetVerdict::failed) return name + failure;
    const std::string value = value_text(budget.quantity, sample.value);
    std::string text;
    if (budget.limit && sample.value > *budget.limit)
        text = fmt::format("{} exceeds the limit of {}{}", value, value_text(budget.quantity, *budget.limit),
                           by_percent(sample.value, *budget.limit));
    if (differs_too_much(*this)) {
        text += text.empty() ? value : ";";
        text += fmt::format(" differs from the stored {}{}; {} % is allowed", value_text(budget.quantity, *stored),
                            change() ? " by " + signed_percent(*change()) : "", *budget.within);
    }
    return text.empty() ? "" : name + text;
}

std::vector<JudgedBudget> judged(const BudgetCheck& check, const std::vector<MeasuredBudget>& values,
                                 const std::map<std::string, double>* stored) {
    std::vector<JudgedBudget> all;
    for (std::size_t i = 0; i < check.budgets.size(); ++i) {
        JudgedBudget each{check.name, check.budgets[i], check.layouts, {}, {}, BudgetVerdict::kept, ""};
        each.failure = values.at(i).failure;
        if (each.failure.empty()) each.sample = sample_of(values[i].by_layout);
        const std::string text = each.budget.text();
        if (stored != nullptr) {
            if (const auto found = stored->find(text); found != stored->end())
                each.stored = found->second;
            else if (each.budget.within && each.failure.empty())
                each.failure = "the stored result has no such budget; store one anew";
        }
        each.verdict = verdict_of(each);
        all.push_back(std::move(each));
    }
    return all;
}

std::vector<JudgedBudget> failed_budgets(const BudgetCheck& check, const std::string& why) {
    std::vector<JudgedBudget> all;
    for (const CostBudget& budget : check.budgets)
        all.push_back({check.name, budget, check.layouts, {}, {}, BudgetVerdict::failed, why});
    return all;
}

void sort_by_severity(std::vector<JudgedBudget>& all) {
    std::ranges::stable_sort(all, [](const JudgedBudget& a, const JudgedBudget& b) {
        const bool bad_a = a.verdict != BudgetVerdict::kept, bad_b = b.verdict != BudgetVerdict::kept;
        return bad_a != bad_b ? bad_a : a.severity() > b.severity();
    });
}

}  // namespace cachetally

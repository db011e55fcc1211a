// SPDX-License-Identifier: BSD-3-Clause
#include "probes/savings.hpp"

#include <algorithm>

namespace cachetally {
namespace {

/// A way to run a published sweep.
struct SweepWay {
    const char* test;
    const char* without;  ///< nullptr: as published
    bool knock_out, on_demand;
};

constexpr SweepWay sweep_ways[] = {
    {"levels", nullptr, true, true},   {"levels", "knock-out", false, true},           {"tlb", nullptr, true, true},
    {"tlb", "knock-out", false, true}, {"tlb", "confirmation on demand", true, false}, {"tlb", "both", false, false},
};

MeasuredCost cost_of(ProbeTarget& target, SuiteOptions options, const SweepWay& way) {
    options.tests = {way.test};
    options.published = true;
    options.robust = false;
    options.sweep.sweep.knock_out = options.sweep.sweep.revive = way.knock_out;
    options.sweep.on_demand = way.on_demand;
    const std::vector<TestReport> reports = run_suite(target, options);
    if (reports.empty()) throw ProbingEnded();
    const TestReport& report = reports.front();
    if (report.curves.empty())
        throw ProbeError("{}: {}", way.test, report.findings.empty() ? "" : report.findings.front().reason);
    return {report.cost, report.host_seconds};
}

double ratio(double exhaustive, double saving) { return saving > 0 ? exhaustive / saving : 0; }

}  // namespace

double Saving::references_ratio() const {
    return ratio(static_cast<double>(exhaustive.cost.references), static_cast<double>(saving.cost.references));
}

double Saving::host_ratio() const { return ratio(exhaustive.host_seconds, saving.host_seconds); }

std::vector<Saving> measure_savings(const std::function<std::unique_ptr<ProbeTarget>()>& target,
                                    const SuiteOptions& options, unsigned rounds) {
    std::vector<SweepWay> ways;
    for (const SweepWay& way : sweep_ways)
        if (options.tests.empty() || std::ranges::find(options.tests, way.test) != options.tests.end())
            ways.push_back(way);
    if (ways.empty())
        throw std::invalid_argument("savings are those of the published levels and tlb; name one of them, or none");
    std::vector<MeasuredCost> costs(ways.size());
    for (unsigned round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < ways.size(); ++i) {
            const MeasuredCost cost = cost_of(*target(), options, ways[i]);
            const double least = round == 0 ? cost.host_seconds : std::min(cost.host_seconds, costs[i].host_seconds);
            costs[i] = {cost.cost, least};
        }
    std::vector<Saving> savings;
    MeasuredCost published;
    for (std::size_t i = 0; i < ways.size(); ++i) {
        if (ways[i].without == nullptr)
            published = costs[i];
        else
            savings.push_back({ways[i].test, ways[i].without, published, costs[i]});
    }
    return savings;
}

}  // namespace cachetally

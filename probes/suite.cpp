#include "probes/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <initializer_list>
#include <optional>

#include "probes/cooper_xu/tests.hpp"
#include "probes/dongarra/tests.hpp"
#include "probes/drongowski/tests.hpp"
#include "probes/ours/levels.hpp"
#include "probes/ours/physical.hpp"
#include "probes/ours/policies.hpp"
#include "probes/ours/second_level.hpp"
#include "probes/ours/tlb.hpp"
#include "probes/xray/lower.hpp"

namespace cachetally {
namespace {

TestReport without_l1(const std::string& what) {
    TestReport report;
    report.refuse("", what, "the geometry of L1, which this test needs, was not found");
    return report;
}

/// Answers that the test of levels contradicts are refused: one of the two is wrong. They agree where one holds what
/// the other says.
TestReport confirmed(TestReport report, const std::optional<TestReport>& levels) {
    const auto holds = [](const Finding& finding, const Finding& other) {
        const double share = finding.parameter == "latency" ? 0.05 : 0;
        const double number = other.value->number;
        return finding.low * (1 - share) <= number && number <= finding.high * (1 + share);
    };
    const auto contradicted = [&](const Finding& finding) {
        const Finding* other = levels ? levels->find(finding.level, finding.parameter) : nullptr;
        return finding.value && other != nullptr && !holds(finding, *other) && !holds(*other, finding);
    };
    const bool otherwise = std::ranges::any_of(report.findings, [&](const Finding& finding) {
        return finding.parameter == "levels" && contradicted(finding);
    });
    for (Finding& finding : report.findings) {
        if (!otherwise && !contradicted(finding)) continue;
        finding.value.reset();
        finding.method.clear();
        finding.reason =
            otherwise ? "the test of levels finds another number of levels" : "the test of levels finds something else";
    }
    return report;
}

/// Ways of L2 by eviction sets, only with a capacity that they explain.
TestReport with_capacity(TestReport report) {
    if (report.find("L2", "capacity") != nullptr) return report;
    for (Finding& finding : report.findings) {
        if (!finding.value) continue;
        finding.value.reset();
        finding.method.clear();
        finding.reason = "sets of so many ways explain no capacity that was found";
    }
    return report;
}

/// The line that published tests go by: their own, or what is known better.
std::optional<L1Geometry> any_l1(const Context& context) {
    return context.published_l1 ? context.published_l1 : context.hardened_l1;
}

const std::vector<ProbeTest>& all_tests() {
    static const std::vector<ProbeTest> tests{
        {"l1", "X-Ray 2004, 4.4", "capacity, ways, line and latency of L1 by compact sets", false,
         [](Meter& meter, const Context&) { return xray_l1_published(meter); },
         [](Meter& meter, const Context&) { return xray_l1_hardened(meter); }},
        {"gap", "Cooper and Xu 2018, 3.2", "capacity, ways, line and latency of L1 by gaps", false,
         [](Meter& meter, const Context&) { return gap_published(meter); }, nullptr},
        {"lower", "X-Ray 2004, 4.5", "capacities and ways of lower levels by compact sets", false,
         [](Meter& meter, const Context& context) {
             return context.hardened_l1 ? xray_lower_published(meter, *context.hardened_l1) : without_l1("capacity");
         },
         nullptr},
        {"levels", "Cooper and Xu 2018, 3.3", "number, capacities and latencies of cache levels", true,
         [](Meter& meter, const Context& context) {
             const auto l1 = any_l1(context);
             return l1 ? levels_published(meter, *l1, context.sweep.sweep) : without_l1("levels");
         },
         [](Meter& meter, const Context& context) {
             return context.hardened_l1 ? levels_hardened(meter, *context.hardened_l1) : without_l1("levels");
         }},
        {"change_points", "ours", "levels by change points of isotonic log times", false, nullptr,
         [](Meter& meter, const Context& context) {
             return context.hardened_l1 ? confirmed(change_points_hardened(meter, *context.hardened_l1), context.levels)
                                        : without_l1("levels");
         }},
        {"tlb", "Cooper and Xu 2018, 3.4", "levels, entries and ways of TLBs", true,
         [](Meter& meter, const Context& context) {
             const auto l1 = any_l1(context);
             return l1 ? tlb_published(meter, *l1, context.sweep) : without_l1("tlb_levels");
         },
         [](Meter& meter, const Context& context) {
             return context.hardened_l1 ? tlb_hardened(meter, *context.hardened_l1) : without_l1("tlb_levels");
         }},
        {"events", "Dongarra et al. 2004", "sizes, lines, pages and ways from event counts", true,
         [](Meter& meter, const Context&) { return events_published(meter); },
         [](Meter& meter, const Context&) { return events_hardened(meter); }},
        {"replacement", "ours", "replacement policy of L1 from shares of misses", false, nullptr,
         [](Meter& meter, const Context& context) {
             return context.hardened_l1 ? replacement_hardened(meter, *context.hardened_l1) : without_l1("replacement");
         }},
        {"l2", "ours", "ways, exact capacity, inclusion and replacement of L2", false, nullptr,
         [](Meter& meter, const Context& context) {
             if (!context.hardened_l1) return without_l1("inclusion");
             const L1Geometry& l1 = *context.hardened_l1;
             return second_level_hardened(meter, l1, context.l1_policy,
                                          context.levels ? *context.levels : levels_hardened(meter, l1));
         }},
        {"physical", "ours", "ways and capacity of L2 on ordinary pages, by eviction sets", false, nullptr,
         [](Meter& meter, const Context& context) {
             return context.hardened_l1
                        ? with_capacity(confirmed(physical_hardened(meter, *context.hardened_l1, context.l1_policy),
                                                  context.levels))
                        : without_l1("ways");
         }},
        {"prefetcher", "ours", "whether anything is prefetched", false, nullptr,
         [](Meter& meter, const Context& context) {
             return context.hardened_l1 ? prefetcher_hardened(meter, *context.hardened_l1) : without_l1("prefetcher");
         }},
        {"chase", "Drongowski 2013", "times and events of a ping-pong chase by size", true,
         [](Meter& meter, const Context& context) {
             return chase_published(meter, any_l1(context) ? any_l1(context)->line : 64);
         },
         nullptr},
        {"latency", "Drongowski 2013", "peaks of the latencies of single loads", true,
         [](Meter& meter, const Context& context) {
             return latency_published(meter, any_l1(context) ? any_l1(context)->line : 64);
         },
         nullptr},
    };
    return tests;
}

class Suite {
public:
    Suite(ProbeTarget& target, const SuiteOptions& options) : target_(target), options_(options) {
        context_.sweep = options.sweep;
    }

    std::vector<TestReport> run() {
        try {
            meter_.emplace(target_, options_.seed, options_.budget);
            run_all();
        } catch (const ProbingEnded&) {
            // What is complete is kept.
        }
        return std::move(reports_);
    }

private:
    void run_all() {
        for (const ProbeTest& test : probe_tests()) {
            const bool wanted =
                options_.tests.empty() || std::ranges::find(options_.tests, test.name) != options_.tests.end();
            const bool needed = test.name == "l1" ||
                                (test.name == "levels" && wants({"l2", "physical", "change_points"})) ||
                                (test.name == "replacement" && wants({"l2", "physical"}));
            if (!wanted && !needed) continue;
            const bool too_much = test.costly && options_.tests.empty() && options_.cheap;
            const bool for_others = !wanted && test.name != "l1";
            if (test.published && options_.published && !too_much && !for_others)
                one(test.name, "published", test.published, wanted);
            if (test.hardened && (options_.hardened || test.name == "l1"))
                one(test.name, "hardened", test.hardened, wanted && options_.hardened);
        }
    }

    /// Whether one of these is to be run by name: their hardened variants go by what others find.
    bool wants(std::initializer_list<const char*> names) const {
        return options_.hardened && std::ranges::any_of(names, [&](const char* name) {
                   return std::ranges::find(options_.tests, name) != options_.tests.end();
               });
    }

    void one(const std::string& name, const std::string& variant,
             const std::function<TestReport(Meter&, const Context&)>& run, bool keep) {
        const auto begin = std::chrono::steady_clock::now();
        const ProbeCost before = target_.cost();
        TestReport report;
        try {
            report = run(*meter_, context_);
        } catch (const ProbeError& error) {
            report.refuse("", name, error.what());
        }
        report.test = name;
        report.variant = variant;
        for (Finding& finding : report.findings) {
            finding.test = name;
            finding.variant = variant;
        }
        report.cost = target_.cost() - before;
        report.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (name == "l1") (variant == "published" ? context_.published_l1 : context_.hardened_l1) = l1_geometry(report);
        if (name == "levels" && variant == "hardened") context_.levels = report;
        if (name == "replacement")
            if (const Finding* found = report.find("L1", "replacement")) context_.l1_policy = found->value->word;
        if (keep) reports_.push_back(std::move(report));
    }

    ProbeTarget& target_;
    const SuiteOptions& options_;
    std::optional<Meter> meter_;
    Context context_;
    std::vector<TestReport> reports_;
};

}  // namespace

std::span<const ProbeTest> probe_tests() { return all_tests(); }

std::vector<TestReport> run_suite(ProbeTarget& target, const SuiteOptions& options) {
    for (const std::string& name : options.tests) {
        if (std::ranges::find(probe_tests(), name, &ProbeTest::name) != probe_tests().end()) continue;
        std::string known;
        for (const ProbeTest& test : probe_tests()) known += (known.empty() ? "" : ", ") + test.name;
        throw std::invalid_argument(fmt::format("there is no test '{}'; there are {}", name, known));
    }
    return Suite(target, options).run();
}

}  // namespace cachetally

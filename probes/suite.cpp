// SPDX-License-Identifier: BSD-3-Clause
#include "probes/suite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/text.hpp"
#include "probes/cooper_xu/tests.hpp"
#include "probes/cross_checks.hpp"
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

TestReport without_answer(const ProbeTest& test, std::string reason) {
    TestReport report;
    report.refuse(test.level, test.parameter, std::move(reason));
    return report;
}

TestReport without_l1(const Context& context, const std::string& what) {
    TestReport report;
    std::string reason = "the geometry of L1, which this test needs, was not found";
    if (!context.no_l1.empty()) reason += " (l1: " + context.no_l1 + ")";
    report.refuse("", what, std::move(reason));
    return report;
}

/// The line that published tests go by: their own, or what is known better.
std::optional<L1Geometry> any_l1(const Context& context) {
    return context.published_l1 ? context.published_l1 : context.robust_l1;
}

/// Whether anything may be prefetched. Where `prefetcher` could not be asked for want of L1's geometry, it is asked by
/// the line, and, as far as it is known, the capacity that were counted.
bool prefetches(Meter& meter, const Context& context, const TestReport& events) {
    constexpr std::uint64_t usual_l1 = std::uint64_t{64} << 10;
    if (context.robust_l1) return context.prefetches;
    const Finding *line = events.find("L1", "line"), *capacity = events.find("L1", "capacity");
    if (line == nullptr) return true;
    L1Geometry l1;
    l1.line = static_cast<std::uint64_t>(line->value->number);
    l1.capacity = capacity == nullptr ? usual_l1 : static_cast<std::uint64_t>(capacity->value->number);
    l1.latency = meter.settled(meter.target().make_arena(meter.page(), meter.page()), {0});
    const TestReport report = prefetcher_robust(meter, l1);
    const Finding* found = report.find("", "prefetcher");
    return found == nullptr || found->value->word == "present";
}

}  // namespace

const std::vector<ProbeTest>& built_in_probe_tests() {
    static const std::vector<ProbeTest> tests{
        {"l1",
         "X-Ray 2004, 4.4",
         "capacity, ways, line and latency of L1 by compact sets",
         false,
         [](Meter& meter, const Context&) { return xray_l1_published(meter); },
         [](Meter& meter, const Context&) { return xray_l1_robust(meter); },
         {},
         {},
         "L1",
         "capacity"},
        {"gap",
         "Cooper and Xu 2018, 3.2",
         "capacity, ways, line and latency of L1 by gaps",
         false,
         [](Meter& meter, const Context&) { return gap_published(meter); },
         nullptr,
         {"l1"},
         "gaps are powers of two, and so are its answers; compact sets ask the same without that",
         "L1",
         "capacity"},
        {"lower",
         "X-Ray 2004, 4.5",
         "capacities and ways of lower levels by compact sets",
         false,
         [](Meter& meter, const Context& context) {
             return context.robust_l1 ? xray_lower_published(meter, *context.robust_l1)
                                      : without_l1(context, "capacity");
         },
         nullptr,
         {"levels", "l2"},
         "sets far apart show levels only where indices are fields of the address; times over spans need none",
         "",
         "capacity"},
        {"levels",
         "Cooper and Xu 2018, 3.3",
         "number, capacities and latencies of cache levels",
         true,
         [](Meter& meter, const Context& context) {
             const auto l1 = any_l1(context);
             return l1 ? levels_published(meter, *l1, context.sweep.sweep) : without_l1(context, "levels");
         },
         [](Meter& meter, const Context& context) {
             return context.robust_l1 ? levels_robust(meter, *context.robust_l1) : without_l1(context, "levels");
         },
         {},
         {},
         "",
         "levels"},
        {"change_points",
         "ours",
         "levels by change points of isotonic log times",
         false,
         nullptr,
         [](Meter& meter, const Context& context) {
             return context.robust_l1 ? confirmed(change_points_robust(meter, *context.robust_l1), context.levels, true)
                                      : without_l1(context, "levels");
         },
         {"levels"},
         "the published test of levels looks for any rise; this is another way to look",
         "",
         "levels",
         {"levels"}},
        {"tlb",
         "Cooper and Xu 2018, 3.4",
         "levels, entries and ways of TLBs",
         true,
         [](Meter& meter, const Context& context) {
             const auto l1 = any_l1(context);
             return l1 ? tlb_published(meter, *l1, context.sweep) : without_l1(context, "tlb_levels");
         },
         [](Meter& meter, const Context& context) {
             return context.robust_l1 ? tlb_robust(meter, *context.robust_l1) : without_l1(context, "tlb_levels");
         },
         {},
         {},
         "",
         "tlb_levels"},
        {"prefetcher",
         "ours",
         "whether anything is prefetched",
         false,
         nullptr,
         [](Meter& meter, const Context& context) {
             return context.robust_l1 ? prefetcher_robust(meter, *context.robust_l1)
                                      : without_l1(context, "prefetcher");
         },
         {},
         "none of the sources has such a test",
         "",
         "prefetcher"},
        {"events",
         "Dongarra et al. 2004",
         "sizes, lines, pages and ways from event counts",
         true,
         [](Meter& meter, const Context&) { return events_published(meter); },
         [](Meter& meter, const Context& context) {
             TestReport report = events_robust(meter);
             return prefetches(meter, context, report) ? without_prefetched(std::move(report)) : report;
         },
         {},
         {},
         "L1",
         "capacity",
         {"prefetcher"}},
        {"replacement",
         "ours",
         "replacement policy of L1 from shares of misses",
         false,
         nullptr,
         [](Meter& meter, const Context& context) {
             return context.robust_l1 ? replacement_robust(meter, *context.robust_l1)
                                      : without_l1(context, "replacement");
         },
         {},
         "none of the sources has such a test",
         "L1",
         "replacement"},
        {"l2",
         "ours",
         "ways, exact capacity, inclusion and replacement of L2",
         false,
         nullptr,
         [](Meter& meter, const Context& context) {
             if (!context.robust_l1) return without_l1(context, "inclusion");
             const L1Geometry& l1 = *context.robust_l1;
             return second_level_robust(meter, l1, context.l1_policy,
                                        context.levels ? *context.levels : levels_robust(meter, l1));
         },
         {"lower"},
         "compact sets of lower levels were published for other sets and pages; inclusion and policy are ours",
         "",
         "inclusion",
         {"levels", "replacement"}},
        {"physical",
         "ours",
         "ways and capacity of L2 on ordinary pages, by eviction sets",
         false,
         nullptr,
         [](Meter& meter, const Context& context) {
             return context.robust_l1
                        ? with_capacity(confirmed(physical_robust(meter, *context.robust_l1, context.l1_policy),
                                                  context.levels, false))
                        : without_l1(context, "ways");
         },
         {},
         "none of the sources has such a test",
         "",
         "ways",
         {"levels", "replacement"}},
        {"chase",
         "Drongowski 2013",
         "times and events of a ping-pong chase by size",
         true,
         [](Meter& meter, const Context& context) {
             return chase_published(meter, any_l1(context) ? any_l1(context)->line : 64);
         },
         nullptr,
         {"levels"},
         "it is a table by size, from which readers take tiers; levels finds them",
         "L1",
         "latency"},
        {"latency",
         "Drongowski 2013",
         "peaks of the latencies of single loads",
         true,
         [](Meter& meter, const Context& context) {
             return latency_published(meter, any_l1(context) ? any_l1(context)->line : 64);
         },
         nullptr,
         {"l1", "levels"},
         "peaks of single loads are named by their order; times of chains over spans belong to a level",
         "L1",
         "latency"},
    };
    return tests;
}

namespace {

bool is_named(const SuiteOptions& options, const std::string& name) {
    return std::ranges::find(options.tests, name) != options.tests.end();
}

/// Whether the test is asked for.
bool is_wanted(const SuiteOptions& options, const ProbeTest& test) {
    return options.tests.empty() || is_named(options, test.name);
}

/// Whether the test has a variant that is asked for.
bool has_variant(const SuiteOptions& options, const ProbeTest& test) {
    return (options.published && test.has("published")) || (options.robust && test.has("robust"));
}

void check_names(const SuiteOptions& options) {
    std::vector<std::string_view> known;
    for (const ProbeTest& test : probe_tests()) known.emplace_back(test.name);
    for (const std::string& name : options.tests)
        if (std::ranges::find(known, name) == known.end())
            throw std::invalid_argument(fmt::format("there is no test '{}'{}", shown(name), advice(name, known)));
}

/// "l1 answers the same", "levels and l2 answer the same"; empty where no test does.
std::string answer_the_same(const ProbeTest& test) {
    if (test.counterparts.empty()) return "";
    return fmt::format("{} answer{} the same", fmt::join(test.counterparts, " and "),
                       test.counterparts.size() == 1 ? "s" : "");
}

/// One variant of a test, to be run.
struct PlannedRun {
    const ProbeTest* test;
    bool robust;
    bool kept;  ///< in the reports; else others need it

    std::string variant() const { return robust ? "robust" : "published"; }
};

/// What of the tests is to be run, in order.
std::vector<PlannedRun> plan_of(const SuiteOptions& options) {
    const auto others_go_by = [&](const std::string& name) {
        return options.robust && std::ranges::any_of(probe_tests(), [&](const ProbeTest& other) {
                   return is_named(options, other.name) && std::ranges::count(other.goes_by, name) != 0;
               });
    };
    std::vector<PlannedRun> plan;
    for (const ProbeTest& test : probe_tests()) {
        const bool wanted = is_wanted(options, test), first = test.name == "l1";
        const bool needed = first || others_go_by(test.name);
        if (!wanted && !needed) continue;
        const bool too_much = test.costly && options.tests.empty() && options.cheap;
        if (test.published && options.published && !too_much && (wanted || first))
            plan.push_back({&test, false, wanted});
        if (test.robust && (options.robust || first)) plan.push_back({&test, true, wanted && options.robust});
    }
    return plan;
}

class Suite {
public:
    Suite(ProbeTarget& target, const SuiteOptions& options)
        : target_(target), options_(options), plan_(plan_of(options)) {
        context_.sweep = options.sweep;
    }

    std::vector<TestReport> run() {
        try {
            for (std::size_t i = 0; i < plan_.size(); ++i) one(plan_[i], plan_.size() - i);
        } catch (const ProbingEnded&) {
            // What is complete is kept.
        }
        return std::move(reports_);
    }

private:
    /// What one run may spend: an equal part of what is left, where so many runs are to come.
    Budget share(std::size_t runs) const {
        const ProbeCost cost = target_.cost();
        Budget budget = options_.budget;
        budget.most_cycles = cost.cycles + std::max(0.0, budget.most_cycles - cost.cycles) / static_cast<double>(runs);
        const std::uint64_t left = budget.most_references - std::min(budget.most_references, cost.references);
        budget.most_references = cost.references + left / runs;
        return budget;
    }

    TestReport run(const PlannedRun& planned, std::size_t runs) {
        const Budget budget = share(runs);
        try {
            if (meter_)
                meter_->grant(budget);
            else
                meter_.emplace(target_, options_.seed, budget);
            return (planned.robust ? planned.test->robust : planned.test->published)(*meter_, context_);
        } catch (const ProbeError& error) {
            return without_answer(*planned.test, error.what());
        }
    }

    void one(const PlannedRun& planned, std::size_t runs) {
        const auto begin = std::chrono::steady_clock::now();
        const ProbeCost before = target_.cost();
        TestReport report = run(planned, runs);
        report.test = planned.test->name;
        report.variant = planned.variant();
        for (Finding& finding : report.findings) {
            finding.test = report.test;
            finding.variant = report.variant;
        }
        report.cost = target_.cost() - before;
        report.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        remember(planned, report);
        if (planned.kept) reports_.push_back(std::move(report));
    }

    /// For tests that come later.
    void remember(const PlannedRun& planned, const TestReport& report) {
        if (report.test == "l1") {
            (planned.robust ? context_.robust_l1 : context_.published_l1) = l1_geometry(report);
            const auto reason = std::ranges::find_if(report.findings, [](const Finding& each) { return !each.value; });
            if (planned.robust && reason != report.findings.end()) context_.no_l1 = reason->reason;
        }
        if (report.test == "levels" && planned.robust) context_.levels = report;
        if (report.test == "replacement")
            if (const Finding* found = report.find("L1", "replacement")) context_.l1_policy = found->value->word;
        if (report.test == "prefetcher")
            if (const Finding* found = report.find("", "prefetcher"))
                context_.prefetches = found->value->word == "present";
    }

    ProbeTarget& target_;
    const SuiteOptions& options_;
    std::vector<PlannedRun> plan_;
    std::optional<Meter> meter_;
    Context context_;
    std::vector<TestReport> reports_;
};

}  // namespace

std::string variants_of(const ProbeTest& test) {
    if (test.published && test.robust) return "published and robust";
    const std::string same = answer_the_same(test);
    return fmt::format("{} only{}", test.published ? "published" : "robust",
                       same.empty() ? "" : fmt::format("; {}, {}", test.published ? "robust" : "published", same));
}

std::string note_of(const std::string& name) {
    const auto test = std::ranges::find(probe_tests(), name, &ProbeTest::name);
    if (test == probe_tests().end() || (test->published && test->robust)) return "";
    const std::string same = answer_the_same(*test);
    if (same.empty()) return test->why;
    return fmt::format("{}, {} ({})", test->published ? "robust" : "published", same, test->why);
}

std::vector<const ProbeTest*> left_out_of(const SuiteOptions& options) {
    check_names(options);
    std::vector<const ProbeTest*> left_out;
    bool any = false;
    for (const ProbeTest& test : probe_tests())
        if (is_wanted(options, test)) {
            if (has_variant(options, test))
                any = true;
            else
                left_out.push_back(&test);
        }
    if (any || left_out.empty()) return left_out;
    std::string all;
    for (const ProbeTest* test : left_out)
        all += fmt::format("{}'{}' is {}", all.empty() ? "" : "; ", test->name, variants_of(*test));
    throw std::invalid_argument(fmt::format("no test that is named has a {} variant: {}; ask for what there is",
                                            options.robust ? "robust" : "published", all));
}

std::string left_out_in_words(const SuiteOptions& options) {
    std::string all;
    for (const ProbeTest* test : left_out_of(options)) {
        const std::string same = answer_the_same(*test);
        all += fmt::format("{}{}{}", all.empty() ? "" : ", ", test->name, same.empty() ? "" : " (" + same + ")");
    }
    if (all.empty()) return "";
    return fmt::format("left out, as there is no {} variant: {}", options.robust ? "robust" : "published", all);
}

std::vector<TestReport> run_suite(ProbeTarget& target, const SuiteOptions& options) {
    left_out_of(options);  // throws where nothing can be run
    return Suite(target, options).run();
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "probes/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/text.hpp"
#include "probes/planned_run.hpp"
#include "probes/result.hpp"
#include "probes/tests.hpp"

namespace cachetally {
namespace {

/// Thrown where a test needs the geometry of L1, and there is none.
class NoL1 : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The one that published tests go by: their own, or what is known better.
const L1Geometry& any_l1(const Context& context) {
    return context.published_l1 ? *context.published_l1 : l1_of(context);
}

std::uint64_t line_of(const Context& context) {
    return context.published_l1 || context.robust_l1 ? any_l1(context).line : 64;
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

const L1Geometry& l1_of(const Context& context) {
    if (context.robust_l1) return *context.robust_l1;
    throw NoL1("the geometry of L1, which this test needs, was not found" +
               (context.no_l1.empty() ? "" : " (l1: " + context.no_l1 + ")"));
}

const L1Geometry& l1_in_ways(const Context& context) {
    const L1Geometry& l1 = l1_of(context);
    if (l1.scattered) throw NoL1("no stride makes lines meet in L1, and this test needs lines that do");
    return l1;
}

const std::vector<ProbeTest>& built_in_probe_tests() {
    static const std::vector<ProbeTest> tests{
        {.name = "l1",
         .source = "X-Ray 2004, 4.4",
         .meaning = "capacity, ways, line and latency of L1 by compact sets",
         .published = [](Meter& meter, const Context&) { return xray_l1_published(meter); },
         .robust = [](Meter& meter, const Context&) { return xray_l1_robust(meter); },
         .level = "L1",
         .parameter = "capacity",
         .parts = 12},  // all others go by it, and what it leaves is theirs
        {.name = "gap",
         .source = "Cooper and Xu 2018, 3.2",
         .meaning = "capacity, ways, line and latency of L1 by gaps",
         .published = [](Meter& meter, const Context&) { return gap_published(meter); },
         .counterparts = {"l1"},
         .why = "gaps are powers of two, and so are its answers; compact sets ask the same without that",
         .level = "L1",
         .parameter = "capacity"},
        {.name = "lower",
         .source = "X-Ray 2004, 4.5",
         .meaning = "capacities and ways of lower levels by compact sets",
         .published = [](Meter& meter,
                         const Context& context) { return xray_lower_published(meter, l1_in_ways(context)); },
         .counterparts = {"levels", "l2"},
         .why = "sets far apart show levels only where indices are fields of the address; times over spans need none",
         .parameter = "capacity"},
        {.name = "levels",
         .source = "Cooper and Xu 2018, 3.3",
         .meaning = "number, capacities and latencies of cache levels",
         .costly = true,
         .published =
             [](Meter& meter, const Context& context) {
                 return levels_published(meter, any_l1(context), context.sweep->sweep);
             },
         .robust = [](Meter& meter, const Context& context) { return levels_robust(meter, l1_of(context)); },
         .parameter = "levels",
         .parts = 12},
        {.name = "change_points",
         .source = "ours",
         .meaning = "levels by change points of isotonic log times",
         .robust =
             [](Meter& meter, const Context& context) {
                 return confirmed(change_points_robust(meter, l1_of(context)), context.levels, true);
             },
         .counterparts = {"levels"},
         .why = "the published test of levels looks for any rise; this is another way to look",
         .parameter = "levels",
         .goes_by = {"levels"}},
        {.name = "tlb",
         .source = "Cooper and Xu 2018, 3.4",
         .meaning = "levels, entries and ways of TLBs",
         .costly = true,
         .published = [](Meter& meter,
                         const Context& context) { return tlb_published(meter, any_l1(context), *context.sweep); },
         .robust = [](Meter& meter, const Context& context) { return tlb_robust(meter, l1_of(context)); },
         .parameter = "tlb_levels"},
        {.name = "tlb_sets",
         .source = "X-Ray 2004, 4.6",
         .meaning = "entries, ways and page of the first TLB by compact sets",
         .published = [](Meter& meter, const Context& context) { return xray_tlb_published(meter, any_l1(context)); },
         .counterparts = {"tlb"},
         .why = "its sets fit into L1, whose lines may be used up before the TLB's entries; tlb needs no such sets",
         .level = "TLB1",
         .parameter = "entries"},
        {.name = "prefetcher",
         .source = "ours",
         .meaning = "whether anything is prefetched",
         .robust = [](Meter& meter, const Context& context) { return prefetcher_robust(meter, l1_of(context)); },
         .why = "none of the sources has such a test",
         .parameter = "prefetcher"},
        {.name = "events",
         .source = "Dongarra et al. 2004",
         .meaning = "sizes, lines, pages and ways from event counts",
         .costly = true,
         .published = [](Meter& meter, const Context&) { return events_published(meter); },
         .robust =
             [](Meter& meter, const Context& context) {
                 TestReport report = events_robust(meter);
                 return prefetches(meter, context, report) ? without_prefetched(std::move(report)) : report;
             },
         .level = "L1",
         .parameter = "capacity",
         .goes_by = {"prefetcher"}},
        {.name = "replacement",
         .source = "ours",
         .meaning = "replacement policy of L1 from shares of misses",
         .robust = [](Meter& meter, const Context& context) { return replacement_robust(meter, l1_in_ways(context)); },
         .why = "none of the sources has such a test",
         .level = "L1",
         .parameter = "replacement"},
        {.name = "l2",
         .source = "ours",
         .meaning = "ways, exact capacity, inclusion and replacement of L2",
         .robust =
             [](Meter& meter, const Context& context) {
                 const L1Geometry& l1 = l1_in_ways(context);
                 return second_level_robust(meter, l1, context.l1_policy,
                                            context.levels ? *context.levels : levels_robust(meter, l1));
             },
         .counterparts = {"lower"},
         .why = "compact sets of lower levels were published for other sets and pages; inclusion and policy are ours",
         .parameter = "inclusion",
         .goes_by = {"levels", "replacement"}},
        {.name = "physical",
         .source = "ours",
         .meaning = "ways and capacity of L2 on ordinary pages, by eviction sets",
         .robust =
             [](Meter& meter, const Context& context) {
                 TestReport report = physical_robust(meter, l1_in_ways(context), context.l1_policy);
                 return with_capacity(confirmed(std::move(report), context.levels, false));
             },
         .why = "none of the sources has such a test",
         .parameter = "ways",
         .goes_by = {"levels", "replacement"}},
        {.name = "chase",
         .source = "Drongowski 2013",
         .meaning = "times and events of a ping-pong chase by size",
         .costly = true,
         .published = [](Meter& meter, const Context& context) { return chase_published(meter, line_of(context)); },
         .counterparts = {"levels"},
         .why = "it is a table by size, from which readers take tiers; levels finds them",
         .level = "L1",
         .parameter = "latency"},
        {.name = "latency",
         .source = "Drongowski 2013",
         .meaning = "peaks of the latencies of single loads",
         .costly = true,
         .published = [](Meter& meter, const Context& context) { return latency_published(meter, line_of(context)); },
         .counterparts = {"l1", "levels"},
         .why = "peaks of single loads are named by their order; times of chains over spans belong to a level",
         .level = "L1",
         .parameter = "latency"},
        {.name = "cores",
         .source = "ours",
         .meaning = "which processors share which level, and what a line costs from one to another",
         .robust = [](Meter& meter,
                      const Context& all) { return cores_robust(meter, all.robust_l1, all.levels, all.prefetches); },
         .why = "none of the sources has such a test",
         .parameter = "transfer_groups",
         .goes_by = {"levels", "prefetcher"}},
        {.name = "parallelism",
         .source = "ours",
         .meaning = "loads of each level that are under way at a time",
         .robust = [](Meter& meter,
                      const Context& context) { return parallelism_robust(meter, l1_of(context), context.levels); },
         .why = "none of the sources has such a test",
         .parameter = "parallelism",
         .goes_by = {"levels"}},
        {.name = "bandwidth",
         .source = "ours",
         .meaning = "bytes per cycle that are read, written and copied",
         .robust = [](Meter& meter,
                      const Context& context) { return bandwidth_robust(meter, l1_of(context), context.levels); },
         .why = "none of the sources has such a test",
         .parameter = "bandwidth",
         .goes_by = {"levels"}},
        {.name = "stores",
         .source = "ours",
         .meaning = "what each level does with stores: write-allocate, write-back or write-through",
         .robust = [](Meter& meter,
                      const Context& context) { return stores_robust(meter, l1_of(context), context.levels); },
         .why = "none of the sources has such a test",
         .level = "L1",
         .parameter = "write",
         .goes_by = {"levels"}},
        {.name = "prefetch_kinds",
         .source = "ours",
         .meaning = "which level prefetches what: kind, degree, distance",
         .robust = [](Meter& meter,
                      const Context& context) { return prefetch_kinds_robust(meter, l1_of(context), context.levels); },
         .why = "none of the sources has such a test",
         .level = "L1",
         .parameter = "prefetch",
         .goes_by = {"levels"}},
        {.name = "response",
         .source = "ours",
         .meaning = "response curves at fixed sizes, to be compared",
         .robust = [](Meter& meter, const Context&) { return response_robust(meter); },
         .why = "none of the sources has such a test",
         .parameter = "response",
         .only_curves = true},
    };
    return tests;
}

namespace {

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

constexpr unsigned most_askings = 3;  ///< of one test

class Suite {
public:
    Suite(ProbeTarget& target, const SuiteOptions& options)
        : target_(target), options_(options), plan_(plan_of(options)) {
        context_.sweep = &options_.sweep;
    }

    std::vector<TestReport> run() {
        try {
            for (const PlannedRun& planned : plan_) one(planned);
        } catch (const ProbingEnded&) {
            // What is complete is kept.
        }
        return std::move(reports_);
    }

private:
    /// What one run may spend: its parts of what is left, of those of all runs that are to come.
    Budget share(const PlannedRun& planned) {
        std::uint64_t parts = 0;
        for (const PlannedRun* each = &planned; each != plan_.data() + plan_.size(); ++each) parts += each->parts();
        const ProbeCost cost = target_.cost();
        Budget budget = options_.budget;
        const double part = planned.parts() / static_cast<double>(parts);
        budget.most_cycles = cost.cycles + std::max(0.0, budget.most_cycles - cost.cycles) * part;
        const std::uint64_t left = budget.most_references - std::min(budget.most_references, cost.references);
        budget.most_references = cost.references + left / parts * planned.parts();
        return budget;
    }

    TestReport run(const PlannedRun& planned) {
        const Budget budget = share(planned);
        const ProbeTest& test = *planned.test;
        TestReport report;
        try {
            if (meter_)
                meter_->grant(budget);
            else
                meter_.emplace(target_, options_.seed, budget);
            return (planned.robust ? test.robust : test.published)(*meter_, context_);
        } catch (const ProbeError& error) {
            report.refuse(test.level, test.parameter, error.what());
        } catch (const NoL1& error) {
            report.refuse(test.level, test.parameter, error.what());
        }
        return report;
    }

    /// Asked again where another hardware thread took part in too many runs: mostly it is soon gone.
    TestReport on_quiet_cores(const PlannedRun& planned) {
        for (unsigned asked = 1;; ++asked) {
            const RunCount before = meter_ ? meter_->runs() : RunCount{};
            TestReport report = run(planned);
            if (!planned.robust || planned.test->only_curves || !meter_) return report;
            const RunCount runs = meter_->runs() - before;
            if (!often_shared(runs)) return report;
            if (asked == most_askings) return refused_as_shared(std::move(report), runs);
        }
    }

    void one(const PlannedRun& planned) {
        const auto begin = std::chrono::steady_clock::now();
        const ProbeCost before = target_.cost();
        TestReport report = on_quiet_cores(planned);
        report.test = planned.test->name;
        report.variant = planned.variant();
        for (Finding& finding : report.findings) {
            finding.test = report.test;
            finding.variant = report.variant;
        }
        for (Curve& curve : report.curves) {
            curve.test = report.test;
            curve.variant = report.variant;
        }
        for (ProcessorMatrix& each : report.matrices) each.test = report.test, each.variant = report.variant;
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

std::vector<TestReport> run_suite(ProbeTarget& target, const SuiteOptions& options) {
    left_out_of(options);  // throws where nothing can be run
    return Suite(target, options).run();
}

}  // namespace cachetally

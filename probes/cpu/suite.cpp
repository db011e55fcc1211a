// SPDX-License-Identifier: BSD-3-Clause
#include "probes/cpu/suite.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/text.hpp"
#include "probes/cpu/compiler.hpp"
#include "probes/targets/core_clock.hpp"

namespace cachetally {
namespace {

/// Of what a test has left, for a type: where little is left, some types are done rather than all begun.
constexpr double least_share_of_type = 1.0 / 3;

/// Those of these names, in their own order; all where there are none.
template <class Each, class NameOf>
std::vector<const Each*> chosen(std::span<const Each> all, const std::vector<std::string>& names, const char* kind,
                                const NameOf& name_of_one) {
    std::vector<std::string> words;
    for (const Each& each : all) words.push_back(name_of_one(each));
    const std::vector<std::string_view> known(words.begin(), words.end());
    for (const std::string& name : names)
        if (std::ranges::find(known, name) == known.end())
            throw std::invalid_argument(fmt::format("there is no {} '{}'{}", kind, shown(name), advice(name, known)));
    std::vector<const Each*> found;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (names.empty() || std::ranges::find(names, words[i]) != names.end()) found.push_back(&all[i]);
    return found;
}

std::vector<const CpuTest*> tests_of(const CpuSuiteOptions& options) {
    return chosen(cpu_tests(), options.tests, "test of processors", [](const CpuTest& test) { return test.name; });
}

std::vector<const CpuType*> types_of(const CpuSuiteOptions& options) {
    return chosen(cpu_types(), options.types, "type", [](const CpuType& type) { return type.name(); });
}

/// The end of a share of what is left.
std::uint64_t share_of(std::uint64_t now, std::uint64_t end, double share) {
    if (share >= 1) return end;  // to the nanosecond
    return end <= now ? now : now + static_cast<std::uint64_t>(static_cast<double>(end - now) * share);
}

/// Of a test among those that are left.
double share_of(std::span<const CpuTest* const> left) {
    double all = 0;
    for (const CpuTest* test : left) all += test->weight;
    return left.front()->weight / all;
}

class CpuSuite {
public:
    CpuSuite(CpuBench& bench, const CpuSuiteOptions& options)
        : bench_(bench), now_(options.now ? options.now : now_ns), tests_(bench), types_(types_of(options)) {}

    TestReport run(const CpuTest& test, std::uint64_t end) {
        TestReport report;
        report.test = test.name;
        report.variant = "robust";
        const std::uint64_t begin = now_(), runs = bench_.runs();
        if (test.of_type == nullptr) {
            guarded(report, test, "", end, [&] { (tests_.*test.whole)(report); });
        } else {
            for (std::size_t i = 0; i < types_.size(); ++i) {
                const CpuType type = *types_[i];
                const double share = std::max(least_share_of_type, 1 / static_cast<double>(types_.size() - i));
                guarded(report, test, type.name(), share_of(now_(), end, share), [&] {
                    if (const std::string reason = bench_.lacks(type); !reason.empty()) throw ProbeError(reason);
                    (tests_.*test.of_type)(report, type);
                });
            }
        }
        report.cost.runs = bench_.runs() - runs;
        report.host_seconds = static_cast<double>(now_() - begin) / 1e9;
        return report;
    }

private:
    /// What a measurement throws becomes a refusal of what is not found by then.
    template <class Body>
    void guarded(TestReport& report, const CpuTest& test, const std::string& level, std::uint64_t end,
                 const Body& body) {
        bench_.keep_until(end);
        try {
            body();
        } catch (const ProbeError& error) {
            refuse_rest(report, test, level, error.what());
        } catch (const CompileError& error) {
            refuse_rest(report, test, level, error.what());
        }
    }

    static void refuse_rest(TestReport& report, const CpuTest& test, const std::string& level,
                            const std::string& reason) {
        std::vector<std::string> levels{level};
        if (test.of_type == &CpuTests::instructions) {
            levels.clear();
            for (const Operation operation : cpu_operations)
                levels.push_back(fmt::format("{} {}", level, name_of(operation)));
        }
        for (const std::string& each : levels)
            for (const std::string& parameter : test.parameters) {
                const auto is_said = [&](const Finding& finding) {
                    return finding.level == each && finding.parameter == parameter;
                };
                if (std::ranges::none_of(report.findings, is_said)) report.refuse(each, parameter, reason);
            }
    }

    CpuBench& bench_;
    std::function<std::uint64_t()> now_;
    CpuTests tests_;
    std::vector<const CpuType*> types_;
};

}  // namespace

std::span<const CpuTest> cpu_tests() {
    static const CpuTest all[] = {
        {"frequency", "the core's clock", "3.1", 1, {"frequency"}, &CpuTests::frequency},
        {"instructions",
         "latency and initiation interval of add, mul, div, fma",
         "3.2, 3.3",
         8,
         {"latency", "initiation_interval"},
         nullptr,
         &CpuTests::instructions},
        {"fma", "whether a*b+c is one instruction", "3.4", 2, {"fma"}, nullptr, &CpuTests::fma},
        {"registers", "registers for variables", "3.5", 8, {"registers"}, nullptr, &CpuTests::registers},
        {"smp", "copies that run without slowing each other down", "3.6", 1, {"processors"}, &CpuTests::smp},
        {"smt", "logical processors that share a core", "3.6", 1, {"threads_per_core", "cores"}, &CpuTests::smt}};
    return all;
}

void check_cpu_suite(const CpuSuiteOptions& options) {
    const auto tests = tests_of(options);
    static_cast<void>(types_of(options));
    if (!options.types.empty() &&
        std::ranges::none_of(tests, [](const CpuTest* test) { return test->of_type != nullptr; }))
        throw std::invalid_argument("types are for instructions, fma and registers, none of which is run");
}

std::vector<TestReport> run_cpu_suite(CpuBench& bench, const CpuSuiteOptions& options) {
    check_cpu_suite(options);
    const auto tests = tests_of(options);
    CpuSuite suite(bench, options);
    std::vector<TestReport> reports;
    try {
        for (std::size_t i = 0; i < tests.size(); ++i) {
            const std::uint64_t now = options.now ? options.now() : now_ns();
            reports.push_back(
                suite.run(*tests[i], share_of(now, options.end_ns, share_of(std::span(tests).subspan(i)))));
        }
    } catch (const ProbingEnded&) {  // what is complete remains
    }
    return reports;
}

}  // namespace cachetally

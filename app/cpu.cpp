// SPDX-License-Identifier: BSD-3-Clause
// cachetally cpu: the features of the processor that this runs on, by nano-benchmarks that the system's compiler makes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/terminal.hpp"
#include "probes/cpu/compiler.hpp"
#include "probes/cpu/native_bench.hpp"
#include "probes/cpu/suite.hpp"
#include "probes/targets/core_clock.hpp"
#include "viewer/probe_text.hpp"
#include "viewer/text_table.hpp"

namespace cachetally::app {
namespace {

struct CpuOptions {
    std::vector<std::string> tests;
    std::string types, compiler = "cc";
    double seconds = 30;
    bool json = false;
};

constexpr double most_seconds = 1e6;
const char cut_short[] = "interrupted before all tests were complete: what is printed is of those that were";

std::string interval_text(const Finding& finding) {
    if (!finding.value || !finding.value->word.empty() || finding.low == finding.high) return "";
    return fmt::format("{:.2f} .. {:.2f}", finding.low, finding.high);
}

std::string value_text(const Finding& finding) {
    if (!finding.value) return "-";
    if (!finding.value->word.empty()) return finding.value->word;
    return is_whole(finding.parameter) ? fmt::format("{:.0f}", finding.value->number)
                                       : fmt::format("{:.2f}", finding.value->number);
}

std::string table_of(std::span<const TestReport> reports, unsigned width) {
    constexpr auto left = TextTable::Align::left;
    TextTable table({{"test", left}, {"of", left}, {"parameter", left}, {"found"}, {"unit", left}, {"interval"}}, 3);
    for (const TestReport& report : reports) {
        for (const Finding& finding : report.findings) {
            const bool number = finding.value && finding.value->word.empty();
            table.add({finding.test, finding.level, finding.parameter, value_text(finding), number ? finding.unit : "",
                       interval_text(finding)});
            if (finding.reason.empty()) continue;
            std::string lines = wrapped(fmt::format("    ({})", finding.reason), width, 5);
            lines.pop_back();
            table.add_line(lines);
        }
    }
    return table.text(width);
}

NativeCpuBench bench_of(const CpuOptions& options, std::uint64_t end_ns) {
    try {
        return NativeCpuBench({options.compiler, end_ns, [] { return !interrupted(); }});
    } catch (const CompileError& error) {
        throw UsageError("--cc {}: {}", options.compiler, error.what());
    } catch (const BudgetSpent&) {
        throw UsageError(
            "--budget {:g}: the seconds were over before '{}' had made a first program; give more, or another --cc",
            options.seconds, options.compiler);
    } catch (const ProbingEnded&) {
        throw std::runtime_error("interrupted before anything was measured");
    }
}

void measure(const CpuOptions& options) {
    if (options.seconds > most_seconds)
        throw UsageError("--budget {:g}: so long is nothing measured; write at most {:.0f} seconds", options.seconds,
                         most_seconds);
    CpuSuiteOptions suite;
    suite.tests = options.tests;
    if (!options.types.empty()) suite.types = split_list(options.types);
    suite.end_ns = now_ns() + static_cast<std::uint64_t>(options.seconds * 1e9);
    check_cpu_suite(suite);
    catch_interrupts();
    NativeCpuBench bench = bench_of(options, suite.end_ns);
    const std::vector<TestReport> reports = run_cpu_suite(bench, suite);
    const std::string compiled = fmt::format("{} {}", options.compiler, fmt::join(cpu_compiler_flags, " "));
    if (options.json) {
        Json json = to_json(reports, interrupted() ? cut_short : "");
        json["compiled"] = compiled;
        print_json(json);
    } else {
        print("this processor, by code of '{}'\n", compiled);
        print_lines('\n' + table_of(reports, terminal_width()));
    }
    if (interrupted()) throw std::runtime_error(cut_short);
}

std::string help_of_tests() {
    std::string text = "Tests (sections of X-Ray):\n", types;
    for (const CpuTest& test : cpu_tests())
        text += fmt::format("  {:<13} {} ({})\n", test.name, test.meaning, test.section);
    for (const CpuType& type : cpu_types()) types += (types.empty() ? "" : ", ") + type.name();
    return text + wrapped("Types: " + types, 80, 2) +
           "\nExamples:\n"
           "  cachetally cpu\n"
           "  cachetally cpu instructions fma --types double,doublex4\n"
           "  cachetally cpu registers --cc clang --json";
}

}  // namespace

void add_cpu(CLI::App& app) {
    auto options = std::make_shared<CpuOptions>();
    CLI::App* command = app.add_subcommand(
        "cpu", "Find the features of this processor: clock, instructions, registers, cores; needs a C compiler");
    command->add_option("TEST", options->tests, "Tests to run (default: all)");
    add_text_option(*command, "--types", options->types, "Types of instructions, fma and registers (default: all)",
                    "LIST", "names of types, as in int32,doublex4");
    add_text_option(*command, "--cc", options->compiler, "The C compiler: GCC, or one that takes its options",
                    "PROGRAM", "the name of a C compiler")
        ->capture_default_str();
    command
        ->add_option("--budget", options->seconds, "Seconds that all may take; tests that take longer end unanswered")
        ->check(positive_number())
        ->type_name("SECONDS")
        ->capture_default_str();
    command->add_flag("--json", options->json, "Print JSON");
    command->footer(help_of_tests());
    command->callback([options] { measure(*options); });
}

}  // namespace cachetally::app

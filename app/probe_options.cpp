// SPDX-License-Identifier: BSD-3-Clause
#include "app/probe_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/checks.hpp"
#include "app/noise.hpp"
#include "probes/suite.hpp"
#include "probes/targets/laps.hpp"
#include "probes/targets/native_counters.hpp"

namespace cachetally::app {
namespace {

std::string footer() {
    std::string text = "Tests:\n";
    for (const ProbeTest& test : probe_tests())
        text += fmt::format("  {:<13} {}{}\n{:<16}{}{}\n", test.name, test.meaning,
                            test.source.empty() ? "" : " (" + test.source + ")", "", variants_of(test),
                            test.why.empty() ? "" : " (" + test.why + ")");
    return text +
           "\nExamples:\n"
           "  cachetally probe --machine generic3\n"
           "  cachetally probe l1 tlb --machine generic3 --noise realistic\n"
           "  cachetally probe levels --machine generic3 -o curves.h5\n"
           "  cachetally probe l1 --machine native          the machine that this runs on\n"
           "  cachetally probe --machine native --record host.h5\n"
           "  cachetally probe --replay host.h5 -m generic3 -o simulated.h5; cachetally compare host.h5 simulated.h5";
}

CLI::Validator raw_event() {
    const auto check = [](const std::string& text) -> std::string {
        try {
            static_cast<void>(raw_event_named(text));
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return "";
    };
    return {check, ""};
}

}  // namespace

void add_probe_options(CLI::App& command, ProbeOptions& options) {
    command.add_option("TEST", options.tests, "Tests to run (default: all)");
    command
        .add_option("-m,--machine", options.machine,
                    "A built-in machine, a machine file, or native: the machine that this runs on")
        ->type_name("MACHINE")
        ->capture_default_str();
    command.add_option("--on", options.machine)->group("");  // its former name
    add_noise_option(command, options.noise, noise_names(), "none, quiet, realistic or heavy");
    command.add_option("--seed", options.seed, "Seed of orders, page placement and noise")
        ->transform(whole_number())
        ->capture_default_str();
    command.add_option("--orders", options.orders, "Seed of orders alone (default: that of --seed)")
        ->transform(whole_number())
        ->type_name("SEED");
    command.add_option("--arena", options.arena_mib, "Memory that probes may have, MiB")
        ->transform(whole_number(1, 1 << 20))
        ->capture_default_str();
    command
        .add_option("--budget", options.most_cycles,
                    "Cycles of the machine that all tests may take (default: 1e12; native: 30 s); each may spend an "
                    "equal part of what is left, and then ends without an answer")
        ->check(positive_number())
        ->capture_default_str();
    command.add_flag("--small-pages", options.small_pages, "Offer no pages but the machine's own");
    add_text_option(command, "--no-events", options.no_events, "Offer no event counts, for this reason", "REASON",
                    "a reason, which the answers repeat");
    command
        .add_option("--raw-event", options.raw_events,
                    "Native: the event of the processor that counts the misses of a level, as its manual encodes it: "
                    "L2=0x0864; several: give it again")
        ->check(raw_event())
        ->type_name("LEVEL=HEX")
        ->allow_extra_args(false);
    command.add_flag("--as-published", options.published_only, "Run the original algorithms only");
    command.add_flag("--robust", options.robust_only, "Run the robust algorithms only");
    command.add_flag("--hardened", options.robust_only)->group("");  // its former name
    command.add_flag(
        "--cheap", options.cheap,
        "Of all tests: leave out published variants that take seconds, as 'validate' does on most machines");
    command.add_flag("--no-knock-out", options.no_knock_out, "Published levels and tlb: leave no size out");
    command.add_flag("--no-revival", options.no_revival, "Published levels and tlb: sizes left out stay out");
    command.add_flag("--exhaustive", options.exhaustive, "Published tlb: run T(2..4) at every size");
    command.add_option("--stability", options.stability, "Published levels and tlb: runs without a new minimum")
        ->transform(whole_number(1, 1000))
        ->capture_default_str();
    command
        .add_option("--savings", options.savings,
                    "Run the published levels and tlb exhaustively, too, in turn, N times; report what knock-out and "
                    "confirmation on demand save in references and in time of the host (the least of N)")
        ->transform(whole_number(1, 1000))
        ->type_name("N");
    command
        .add_option("--record", options.record,
                    "Write the result to this file, with all that the machine was asked and what it answered; also "
                    "runs 'response'")
        ->type_name("FILE.h5")
        ->check(not_empty("the name of a file"));
    command
        .add_option("--replay", options.replay,
                    "Run tests on what was recorded, without the machine; with --machine, ask that one the same")
        ->type_name("FILE.h5")
        ->check(not_empty("the name of a file"));
    command
        .add_option("--write-machine", options.write_machine,
                    "Native: fit a machine file to the response curves and write it here, as 'fit' does")
        ->type_name("FILE.yaml")
        ->check(not_empty("the name of a file"));
    add_output_options(command, options.output, "findings, curves and decisions");
    command.add_flag("--json", options.json, "Print JSON");
    command.footer(footer());
}

namespace {

/// What is of the machine that this runs on alone, and what of simulated ones.
void check_native_use(const CLI::App& command, const ProbeOptions& options) {
    if (!is_native(options) && command.count("--raw-event") != 0)
        throw UsageError("--raw-event is for --machine native; of a simulated machine all events are counted");
    if (!is_native(options) && !options.write_machine.empty())
        throw UsageError("--write-machine is for --machine native; of a file of response curves 'fit' makes a machine");
    if (!options.replay.empty() && !options.write_machine.empty())
        throw UsageError(
            "--write-machine cannot stand beside --replay, which measures no curves; use 'fit' on the file");
    if (command.count("--raw-event") != 0 && command.count("--no-events") != 0)
        throw UsageError("--no-events leaves no use for --raw-event; give one of them");
    for (const char* option : {"--noise", "--savings"})
        if (is_native(options) && command.count(option) != 0)
            throw UsageError("{} is for simulated machines; 'native' is the one that this program runs on, as it is",
                             option);
}

}  // namespace

void check_use(const CLI::App& command, ProbeOptions& options) {
    check_native_use(command, options);
    options.machine_is_given = command.count("--machine") + command.count("--on") != 0;
    if (command.count("--record") != 0 && command.count("--output") != 0)
        throw UsageError("--record FILE.h5 writes all that --output writes, and the recording; give one of them");
    if (!options.record.empty()) options.output.file = options.record;
    if (options.published_only && options.robust_only)
        throw UsageError("--as-published and --robust leave nothing to run; give one of them");
    if (command.count("--on") != 0 && command.count("--machine") != 0)
        throw UsageError("--on is the former name of --machine; give one of them");
    if (options.cheap && (!options.tests.empty() || options.robust_only))
        throw UsageError(
            "--cheap leaves out costly published variants where all tests are run; here it would change nothing");
    const auto runs = [&](const char* test) {
        return !options.robust_only && !options.cheap &&
               (options.tests.empty() || std::ranges::find(options.tests, test) != options.tests.end());
    };
    for (const char* option : {"--no-knock-out", "--no-revival", "--stability", "--savings"})
        if (command.count(option) != 0 && !runs("levels") && !runs("tlb"))
            throw UsageError(
                "{} is for the published levels and tlb, neither of which is run; name one, without --robust", option);
    if (options.exhaustive && !runs("tlb"))
        throw UsageError("--exhaustive is for the published tlb, which is not run; name it, without --robust");
    if (options.no_knock_out && options.no_revival)
        throw UsageError("--no-revival beside --no-knock-out changes nothing: no size is left out; give one of them");
    if (!options.replay.empty())
        for (const char* option : {"--record", "--budget", "--orders", "--cheap", "--no-knock-out", "--no-revival",
                                   "--stability", "--exhaustive", "--savings"})
            if (command.count(option) != 0)
                throw UsageError("{} cannot stand beside --replay, which goes by what was recorded", option);
    if (is_recorded(options))
        for (const char* option : {"--noise", "--seed", "--arena", "--small-pages", "--no-events"})
            if (command.count(option) != 0)
                throw UsageError("{} is of a machine; --replay without --machine asks the recording alone", option);
    if (options.savings == 0) return;
    for (const char* option : {"--no-knock-out", "--no-revival", "--exhaustive", "--output", "--record"})
        if (command.count(option) != 0)
            throw UsageError(
                "{} cannot stand beside --savings, which runs the published tests both with "
                "and without what saves runs, and prints what they cost",
                option);
}

}  // namespace cachetally::app

// SPDX-License-Identifier: BSD-3-Clause
// cachetally advise: which changes of data structures help, tried on recorded references in many layouts.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "advice/advice.hpp"
#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/comparison.hpp"
#include "app/input.hpp"
#include "app/program.hpp"
#include "app/terminal.hpp"
#include "base/processors.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "storage/handle.hpp"
#include "viewer/advice_text.hpp"
#include "workloads/traces/source_end.hpp"

namespace cachetally::app {
namespace {

struct AdviseArguments : WorkloadOptions {
    std::vector<std::string> arrays, elements;
    AdviceOptions advice;
};

/// "NAME=1x2x3": the name, and the numbers, so many as `names`.
std::pair<std::string, std::vector<std::uint64_t>> parse_known(const std::string& option, const std::string& text,
                                                               std::size_t numbers, const char* example) {
    const auto refuse = [&] {
        throw UsageError(fmt::format("{} '{}': write the name of a data structure and {}, as in {}", option,
                                     shown(text), numbers == 1 ? "bytes, at most 65536" : "ROWSxCOLUMNSxBYTES",
                                     example));
    };
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) refuse();
    const std::uint64_t most = numbers == 1 ? longest_element : std::uint64_t{1} << 40;
    std::vector<std::uint64_t> values;
    for (const std::string_view part : split(std::string_view(text).substr(equals + 1), 'x')) {
        const std::optional<std::uint64_t> value = parse_whole(part);
        if (!value || *value == 0 || *value > most) refuse();
        values.push_back(*value);
    }
    if (values.size() != numbers) refuse();
    return {text.substr(0, equals), values};
}

KnownStructures known_of(const AdviseArguments& options) {
    KnownStructures known;
    for (const std::string& text : options.arrays) {
        const auto [name, sizes] = parse_known("--array", text, 3, "A=512x512x8");
        known.arrays[name] = {sizes[0], sizes[1], sizes[2]};
        Shape::transposed(known.arrays[name]);  // throws where it is too large
    }
    for (const std::string& text : options.elements) {
        const auto [name, sizes] = parse_known("--element", text, 1, "particles=64");
        known.elements[name] = sizes[0];
    }
    return known;
}

using Open = std::function<std::unique_ptr<ReferenceSource>()>;

/// The source anew each time, of its references the first ones (0: all), whatever a change makes of them.
Open opener_of(std::uint64_t most, Open open) {
    if (most == 0) return open;
    std::vector<std::uint64_t> ends = first_references(*open(), most, [] { return !interrupted(); });
    return [open = std::move(open), ends = std::move(ends)] { return ended_source(open(), ends); };
}

/// Shows how many runs are done, where standard error is a terminal; asks whether to go on.
bool go_on(std::uint64_t done, std::uint64_t all) {
    if (::isatty(STDERR_FILENO) != 0) on_progress_line(fmt::format("{} of {} runs", done, std::max(done, all)));
    return !interrupted();
}

void advise_on(AdviseArguments& options, const std::vector<std::string>& program) {
    const Topology topology = topology_of(options.simulation);
    const auto open = [&](Opening opening) {
        return open_input(options.source, options.settings, options.choice, opening);
    };
    refuse_second_reading(options.source);
    AdviceOptions& advice = options.advice;
    advice.known = known_of(options);
    if (!library_is_thread_safe()) advice.jobs = 1;
    advice.warmup = options.simulation.warmup;
    AdviceTitle title{options.source, topology.machine().name, "", options.simulation.max_references, advice.warmup};
    if (!program.empty()) title.source = fmt::format("{}", fmt::join(program, " "));
    {
        const Input input = open(Opening::first);
        check_cores(input, topology);
        warn_of_one_stream(input, topology);
        title.incomplete = input.incomplete;
    }
    catch_interrupts();
    std::mutex showing;
    std::uint64_t shown_last = 0;
    advice.go_on = [&](std::uint64_t done, std::uint64_t all) {
        const std::lock_guard lock(showing);
        return done == std::exchange(shown_last, done) ? !interrupted() : go_on(done, all);
    };
    const Open whole = [&] { return std::move(open(Opening::again).source); };
    if (advice.warmup != 0) advice.open_warmup = opener_of(advice.warmup, whole);
    const Advice found = advise(topology.machine(), opener_of(options.simulation.taken(), whole), advice);
    clear_progress_line();
    if (options.simulation.json) return print_json(to_json(found, title));
    print_lines(to_text(found, title));
}

}  // namespace

void add_advise(CLI::App& app, const std::vector<std::string>& program) {
    auto options = std::make_shared<AdviseArguments>();
    options->advice.jobs = usable_processors();
    CLI::App* command = app.add_subcommand(
        "advise", "Suggest changes of data structures, each tried on the same references in many layouts of memory");
    command->add_option("--layouts", options->advice.layouts, "Random layouts of heap, stacks and pages (0 to 10000)")
        ->transform(whole_number(0, 10000))
        ->capture_default_str();
    command->add_option("--seed", options->advice.seed, "Of the layouts")
        ->transform(whole_number())
        ->capture_default_str();
    command
        ->add_option("--top", options->advice.structures,
                     "Suggestions are for so many data structures, those that miss most (1 to 1000)")
        ->transform(whole_number(1, 1000))
        ->capture_default_str();
    command
        ->add_option("--array", options->arrays,
                     "A data structure is a matrix in rows, as in A=512x512x8 (may be repeated)")
        ->type_name("NAME=ROWSxCOLUMNSxBYTES")
        ->allow_extra_args(false);
    command
        ->add_option("--element", options->elements,
                     "A data structure is an array of structs of so many bytes (may be repeated)")
        ->type_name("NAME=BYTES")
        ->allow_extra_args(false);
    command->add_option("-j,--jobs", options->advice.jobs, "Runs at a time; the result does not depend on it")
        ->transform(whole_number(1, 1024))
        ->capture_default_str();
    add_workload_options(*command, *options, !program.empty());
    command->footer(
        "A change is reported as help only if it is better in the recorded layout and in all random\n"
        "ones (docs/advice.md).\n"
        "Examples:\n"
        "  cachetally advise matmul n=128\n"
        "  cachetally advise -m generic3 -- ./program\n"
        "  cachetally advise t.ct.h5 --array A=512x512x8 --element particles=64 --json");
    command->callback([options, &program] {
        with_recording(*options, program, [options, &program] { advise_on(*options, program); });
    });
}

}  // namespace cachetally::app

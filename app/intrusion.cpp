// SPDX-License-Identifier: BSD-3-Clause
// cachetally intrusion: what monitors cost the system that they watch, one run per configuration.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <set>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/comparison.hpp"
#include "app/input.hpp"
#include "app/program.hpp"
#include "app/report.hpp"
#include "app/terminal.hpp"
#include "monitor/spec_placement.hpp"
#include "viewer/intrusion_view.hpp"

namespace cachetally::app {
namespace {

struct IntrusionOptions : WorkloadOptions {
    OutputOptions output;
    std::string links, counters = "128", granularity = "1", ring = "4096", drain = "full", monitor;
};

constexpr RefusedKey not_of_intrusion[] = {
    {"link", "write --link NAME,NAME"},          {"name", "the monitors stand alone, one in each run"},
    {"counters", "write --counters 16,64"},      {"granularity", "write --granularity 1,4"},
    {"capacity", "write --ring 64,4096"},        {"drain", "write --drain full,watermark:32,periodic:10000"},
    {"watermark", "write --drain watermark:32"}, {"period", "write --drain periodic:10000"},
};

void set_drain(RingSpec& ring, const DrainChoice& choice) {
    ring.drain = choice.drain;
    if (choice.drain == RingSpec::Drain::watermark)
        ring.watermark = choice.amount != 0 ? choice.amount : usual_watermark(ring.capacity);
    if (choice.drain == RingSpec::Drain::periodic) ring.period = choice.amount;
}

/// The settings that all have, which are possible with some of the numbers of counters.
MonitorSpec common_to(const IntrusionOptions& options, std::span<const std::uint32_t> counters) {
    MonitorSpec start;
    for (const std::uint32_t each : counters) {
        start.counters = each;
        if (options.monitor.empty()) return start;
        try {
            return parse_common(options.monitor, not_of_intrusion, {}, start);
        } catch (const SpecError&) {
            if (each == counters.back()) throw;
        }
    }
    return start;
}

/// Every combination of the lists that is possible; the others are warned of where some are.
std::vector<MonitorSpec> configurations(const IntrusionOptions& options, const Topology& topology) {
    const std::vector<std::uint32_t> counts = parse_counters(options.counters);
    const MonitorSpec base = common_to(options, counts);
    const std::vector<std::string> links =
        options.links.empty() ? std::vector<std::string>{topology.links()[topology.core_link(false)].name}
                              : parse_links(options.links);
    std::vector<MonitorSpec> all;
    std::set<std::string> impossible;
    std::exception_ptr first;
    for (const std::string& link : links)
        for (const Granularity& granularity : parse_granularities(options.granularity))
            for (const std::uint32_t counters : counts)
                for (const std::uint64_t capacity : parse_capacities(options.ring))
                    for (const DrainChoice& drain : parse_drains(options.drain)) {
                        MonitorSpec spec = base;
                        spec.link = link;
                        spec.granularity = granularity;
                        spec.counters = counters;
                        spec.ring.capacity = capacity;
                        set_drain(spec.ring, drain);
                        try {
                            validate(spec);
                        } catch (const SpecError& error) {
                            impossible.insert(error.message());
                            if (!first) first = std::current_exception();
                            continue;
                        }
                        all.push_back(placed({spec}, topology).front());
                    }
    if (all.empty()) std::rethrow_exception(first);
    for (const std::string& why : impossible) to_stderr(fmt::format("cachetally: warning: left out: {}\n", why));
    return all;
}

IntrusionView view_without(const Topology& topology, const ObservedRun& without) {
    IntrusionView view;
    view.references = without.run.counts.references;
    view.cycles = without.run.end() / topology.machine().period;
    for (const LinkInfo& link : topology.links()) view.links.push_back(link.name);
    view.levels = levels_that_miss(topology.machine());
    view.traffic = traffic_of(topology, without.links);
    view.misses = program_misses(without.run.counts);
    return view;
}

/// The title says why some rows are missing, if they are.
void add_rows(IntrusionView& view, const Topology& topology, const std::vector<MonitorSpec>& monitors,
              const Comparison& comparison, const ObservedRun& without) {
    const std::string missing =
        comparison.each(monitors, without.run, [&](const MonitorSpec& monitor, const ObservedRun* with) {
            view.rows.push_back(with != nullptr ? IntrusionRow{monitor, intrusion_of(topology, monitor, without, *with)}
                                                : view.unknown_row(monitor));
        });
    add_missing(view.title, missing);
    view.unknown = why_unknown(view.unknown_rows());
}

void compare_with_none(const IntrusionOptions& options) {
    const Topology topology = topology_of(options.simulation);
    const std::vector<MonitorSpec> monitors = configurations(options, topology);
    const auto open = [&](Opening opening) {
        return open_input(options.source, options.settings, options.choice, opening);
    };
    const Comparison comparison(options.source, open, options.simulation, topology);
    const Input input = comparison.opened(Opening::first);
    check_cores(input, topology, monitors);
    warn_of_one_stream(input, topology, options.simulation.cores);
    const std::unique_ptr<ResultFile> file = open_output(options.output, inputs_of(input, options.simulation));
    const ObservedRun without = comparison.observed(input, nullptr);
    if (!without.run.complete && without.run.failure.empty())
        throw std::runtime_error("interrupted within the run without monitor: there is nothing to compare with");
    if (without.run.time_over)
        throw std::runtime_error(fmt::format("without monitor {}: there is nothing to compare with", time_is_over));
    IntrusionView view = view_without(topology, without);
    view.title = title_of(topology, input, without.run, options.simulation);
    add_rows(view, topology, monitors, comparison, without);
    if (options.simulation.json) {
        print_json(to_json(view));
    } else {
        print_lines(to_text(view, terminal_width()));
    }
    if (file) {
        write_title(file->root(), "intrusion", topology, view.title);
        write_intrusion(file->root(), view);
        file->root().set_attribute("default", "intrusion");
        write_provenance_of(file->root(), topology, std::span(&input, 1));
        close_output(file.get(), view.title);
    }
    warn_of_unknown(view.unknown_rows(), view.rows.size());
    refuse_incomplete(without.run, view.title, file.get());
    if (view.rows.size() < monitors.size())
        throw std::runtime_error(
            fmt::format("{}: what is printed{} are the rows that were complete", view.title.incomplete,
                        file == nullptr ? "" : fmt::format(" and kept in {} (marked partial)", file->path())));
}

void add_configuration_options(CLI::App& command, IntrusionOptions& options) {
    add_text_option(command, "--link", options.links,
                    "The links, as in core-L1D,L1D-L2; default: the one that data references leave the core by",
                    "NAME,NAME...", "the name of a link");
    command.add_option("--counters", options.counters, "Numbers of counters")
        ->type_name("N,N-N...")
        ->capture_default_str();
    command
        .add_option("--granularity", options.granularity,
                    "Granularities: lines per counter, ranges, dynamic:N, mask:BITS")
        ->type_name("G,G-G...")
        ->capture_default_str();
    command.add_option("--ring", options.ring, "Capacities of the ring buffer in records")
        ->type_name("N,N-N...")
        ->capture_default_str();
    command
        .add_option("--drain", options.drain,
                    "When the software empties the ring: full, watermark:RECORDS (watermark: at half of the ring), "
                    "periodic:CYCLES")
        ->type_name("WHEN,WHEN...")
        ->capture_default_str();
    add_text_option(command, "--monitor", options.monitor,
                    "What all configurations have in common, as in write_cost=2,drain_cost=20,path=link,overflow=drop "
                    "(docs/monitors.md). By default records cost the core nothing but what they contend for",
                    "SPEC", "settings, as in write_cost=2");
}

}  // namespace

void add_intrusion(CLI::App& app, const std::vector<std::string>& program) {
    auto options = std::make_shared<IntrusionOptions>();
    CLI::App* command = app.add_subcommand(
        "intrusion", "What a monitor costs: extra cycles, traffic and misses against the run without it");
    add_configuration_options(*command, *options);
    add_workload_options(*command, *options, !program.empty());
    add_output_options(*command, options->output, "a row per configuration");
    command->footer(
        "One run without monitor, then one for every combination of the lists. Records contend\n"
        "where the machine file says that links and banks take time (docs/timing.md), as in\n"
        "generic3-timed; docs/intrusion.md defines every figure.\n"
        "Examples:\n"
        "  cachetally intrusion lu n=64 -m generic3-timed --counters 16,64 --granularity 1,4\n"
        "  cachetally intrusion radix keys=20000 -m generic3-timed --link core-L1D,L1D-L2 \\\n"
        "      --ring 64,4096 --drain full,watermark,periodic:10000 --monitor drain_cost=20");
    command->callback(
        [options, &program] { with_recording(*options, program, [options] { compare_with_none(*options); }); });
}

}  // namespace cachetally::app

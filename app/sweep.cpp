// cachetally sweep: counters x granularity x eviction on one link, all from one pass over the references.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/commands.hpp"
#include "app/paper2002.hpp"
#include "app/simulation.hpp"
#include "app/source.hpp"
#include "monitor/sweep.hpp"

namespace cachetally::app {
namespace {

struct Options {
    std::string workload;
    std::vector<std::string> settings;
    SimulationOptions simulation;
    std::string counters = "16,32,64,128";
    std::string granularity = "1-6";
    std::string eviction = "fifo";
    std::string link;
    std::string monitor;
    std::string preset;
};

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    for (std::size_t comma; (comma = text.find(',', from)) != std::string::npos; from = comma + 1)
        parts.push_back(text.substr(from, comma - from));
    parts.push_back(text.substr(from));
    return parts;
}

std::optional<std::uint32_t> number(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value == 0) return std::nullopt;
    return value;
}

std::vector<std::uint32_t> parse_counters(const std::string& text) {
    std::vector<std::uint32_t> counters;
    for (const std::string& part : split(text)) {
        const auto value = number(part);
        if (!value)
            throw UsageError(
                fmt::format("'--counters {}': '{}' is not a number of counters; write e.g. 16,32,64", text, part));
        counters.push_back(*value);
    }
    return counters;
}

/// "1-6", "1,2,dynamic:4".
std::vector<Granularity> parse_granularities(const std::string& text) {
    std::vector<Granularity> granularities;
    for (const std::string& part : split(text)) {
        const auto dash = part.find('-');
        const auto first = dash == std::string::npos ? std::nullopt : number(std::string_view(part).substr(0, dash));
        const auto last = dash == std::string::npos ? std::nullopt : number(std::string_view(part).substr(dash + 1));
        if (!first || !last) {
            granularities.push_back(parse_granularity(part));
            continue;
        }
        if (*first > *last || *last - *first > 1000)
            throw UsageError(fmt::format("'--granularity {}': '{}' is not an ascending range", text, part));
        for (std::uint32_t lines = *first; lines <= *last; ++lines)
            granularities.push_back({Granularity::Mode::aligned, lines});
    }
    return granularities;
}

/// The experiment of Schulz et al. 2002, section 4.4; docs/reproduction.md tells which of these choices are ours.
void apply_preset(Options& options) {
    if (options.preset.empty()) return;
    if (options.preset != "paper-2002")
        throw UsageError(fmt::format("there is no preset '{}'; known are: paper-2002", options.preset));
    if (options.workload != "lu")
        throw UsageError("the preset paper-2002 is of the kernel lu: cachetally sweep lu --preset paper-2002");
    options.simulation.machine = "schulz2002";
    if (options.monitor.empty()) options.monitor = "barriers=off";
}

MonitorSpec base_of(const Options& options, const Topology& topology) {
    MonitorSpec spec = options.monitor.empty() ? MonitorSpec{} : parse_monitor(options.monitor + ",link=core");
    spec.link = options.link.empty() ? topology.links()[topology.core_link(false)].name : options.link;
    return completed(spec, topology);
}

struct Result {
    std::vector<SweepRow> rows;
    std::uint64_t events = 0;
    RunResult run;
};

Result sweep(const Options& options, const Topology& topology, ReferenceSource& source) {
    SweepSpec spec{
        base_of(options, topology), parse_counters(options.counters), parse_granularities(options.granularity), {}};
    for (const std::string& name : split(options.eviction)) spec.evictions.push_back(parse_eviction(name));
    Hierarchy hierarchy(topology);
    const std::size_t link = topology.link(spec.base.link);
    std::vector<std::unique_ptr<Sweep>> sweeps;
    for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy) {
        sweeps.push_back(std::make_unique<Sweep>(spec, copy));
        hierarchy.listen(link, copy, *sweeps.back());
    }
    Result result;
    result.run = run(hierarchy, source, run_options(options.simulation, source));
    std::vector<const Sweep*> finished;
    for (const auto& each : sweeps) {
        each->finish();
        result.events += each->exact().total();
        finished.push_back(each.get());
    }
    const AddressMap map = [&](Address address) { return hierarchy.virtual_address(address); };
    result.rows = sweep_rows(finished, ranges_of(data_of(source.regions())),
                             topology.machine().pages.mapping == Mapping::identity ? AddressMap() : map);
    return result;
}

Json to_json(const Result& result, bool beside_paper) {
    Json rows = Json::array();
    for (const SweepRow& row : result.rows) {
        Json json = {{"counters", row.counters},
                     {"granularity", to_string(row.granularity)},
                     {"eviction", to_string(row.eviction)},
                     {"swapouts", row.swapouts},
                     {"error", row.error},
                     {"bytes_per_event", row.bytes_per_event}};
        if (row.granularity.mode == Granularity::Mode::aligned) json["granularity"] = row.granularity.amount;
        const auto cell = beside_paper ? published(row.counters, row.granularity.amount) : std::nullopt;
        if (cell)
            json["published"] = {
                {"swapouts", cell->swapouts}, {"error", cell->error / 100}, {"misprint", cell->misprint}};
        rows.push_back(std::move(json));
    }
    return {{"complete", result.run.complete},
            {"references", result.run.counts.references},
            {"events", result.events},
            {"rows", rows}};
}

void print_rows(const Result& result) {
    fmt::print("{:<10} {:>9} {:>12} {:>12} {:>9} {:>12}\n", "eviction", "counters", "granularity", "swap-outs",
               "error %", "bytes/event");
    for (const SweepRow& row : result.rows)
        fmt::print("{:<10} {:>9} {:>12} {:>12} {:>9.3f} {:>12.5f}\n", to_string(row.eviction), row.counters,
                   to_string(row.granularity), row.swapouts, 100 * row.error, row.bytes_per_event);
}

/// Both halves of Table 2 with the published figures beside, and how far apart they are.
void print_beside_paper(const Result& result) {
    double factors = 0, worst = 0;
    int clean = 0;
    fmt::print(
        "Swap-outs: ours, published (Schulz et al. 2002, Table 2), ours / published; * repeats another cell: a "
        "misprint\n\n     ");
    for (const std::uint32_t counters : {16, 32, 64, 128}) fmt::print("{:^29}", fmt::format("C={}", counters));
    for (std::uint32_t lines = 1; lines <= 6; ++lines) {
        fmt::print("\nG={}  ", lines);
        for (const SweepRow& row : result.rows) {
            const auto cell = published(row.counters, row.granularity.amount);
            if (row.granularity.amount != lines || !cell) continue;
            const double ratio = static_cast<double>(row.swapouts) / static_cast<double>(cell->swapouts);
            fmt::print(" {:>8} {:>8}{}{:>7.2f}  ", row.swapouts, cell->swapouts, cell->misprint ? '*' : ' ', ratio);
            if (cell->misprint) continue;
            factors += std::max(ratio, 1 / ratio);
            worst = std::max({worst, ratio, 1 / ratio});
            ++clean;
        }
    }
    fmt::print("\n\nmean factor over the {} clean cells: {:.3f}, worst {:.2f}\n\nError in %: ours, published\n\n",
               clean, factors / std::max(1, clean), worst);
    for (const SweepRow& row : result.rows)
        if (const auto cell = published(row.counters, row.granularity.amount); cell && row.counters == 16)
            fmt::print("G={}   {:>6.2f} {:>6.2f}   (for every C)\n", row.granularity.amount, 100 * row.error,
                       cell->error);
}

void run_command(Options options) {
    apply_preset(options);
    const Topology topology = topology_of(options.simulation);
    const Input input = kernel_input(options.workload, options.settings);
    check_cores(input, topology);
    const Result result = sweep(options, topology, *input.source);
    if (options.simulation.json) {
        fmt::print("{}\n", to_json(result, !options.preset.empty()).dump(2));
    } else if (!options.preset.empty()) {
        print_beside_paper(result);
    } else {
        print_rows(result);
    }
    if (!result.run.complete)
        throw std::runtime_error(result.run.failure.empty()
                                     ? "interrupted: what is printed covers the references made until then"
                                     : result.run.failure);
}

}  // namespace

void add_sweep(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "sweep", "Trade counters, granularity and eviction against accuracy and traffic, in one pass");
    command->add_option("WORKLOAD", options->workload, "A kernel (cachetally workload list)")->required();
    command->add_option("OPTION", options->settings, "Options of the kernel, as in n=256 block=16");
    command->add_option("--counters", options->counters, "Numbers of counters")->capture_default_str();
    command
        ->add_option("--granularity", options->granularity,
                     "Granularities: lines per counter, ranges, dynamic:N, mask:BITS")
        ->capture_default_str();
    command->add_option("--eviction", options->eviction, "Eviction policies: fifo, lru, random, clock, lfu, clear_all")
        ->capture_default_str();
    command->add_option("--link", options->link, "The link; default: the one that data references leave the core by");
    command->add_option("--monitor", options->monitor,
                        "What all cells have in common, as in width=8,kinds=load (docs/monitors.md)");
    command->add_option("--preset", options->preset,
                        "paper-2002: the experiment of Schulz et al. 2002, Table 2, beside the published figures");
    command->add_option("-m,--machine", options->simulation.machine, "A built-in machine or a machine file")
        ->capture_default_str();
    command->add_option("--cores", options->simulation.cores, "Cores, in place of what the machine says")
        ->check(CLI::Range(1, 256));
    command->add_option("--max-references", options->simulation.max_references, "Stop after so many references");
    command->add_flag("--json", options->simulation.json, "Print JSON");
    command->footer("Example: cachetally sweep lu --preset paper-2002");
    command->callback([options] { run_command(*options); });
}

}  // namespace cachetally::app

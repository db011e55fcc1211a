// SPDX-License-Identifier: BSD-3-Clause
// cachetally trackers: the counter array beside other trackers on one link, at equal bits and equal traffic.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/comparison.hpp"
#include "app/input.hpp"
#include "app/program.hpp"
#include "app/report.hpp"
#include "app/terminal.hpp"
#include "monitor/hardware_cost.hpp"
#include "monitor/trackers/tracker_listener.hpp"
#include "monitor/trackers/tracker_spec.hpp"
#include "viewer/trackers_view.hpp"

namespace cachetally::app {
namespace {

struct TrackersOptions : WorkloadOptions {
    std::string link, monitor, counters;
    std::vector<std::string> trackers;
    OutputOptions output;
    std::uint64_t bits = 0;
    double traffic = 0;
    std::uint64_t top = 32;
};

/// What all are measured by.
struct Truth {
    RunResult run;
    RunTitle title;
    Histogram exact;
    std::vector<AddressRange> data;
};

constexpr RefusedKey not_of_trackers[] = {
    {"link", "write --link NAME"},
    {"name", "they are named after their kinds"},
    {"functions", "trackers do not distinguish functions"},
};

MonitorSpec array_spec(const TrackersOptions& options, const Topology& topology) {
    std::vector<RefusedKey> refused(std::begin(not_of_trackers), std::end(not_of_trackers));
    MonitorSpec start;
    if (!options.counters.empty()) {
        const std::vector<std::uint32_t> counters = parse_counters(options.counters);
        start.counters = counters.front();
        if (counters.size() > 1)
            throw UsageError("--counters {}: trackers have the bits of one counter array; give one number, as in {}",
                             shown(options.counters), start.counters);
        refused.push_back({"counters", "--counters says how many"});
    }
    MonitorSpec spec = options.monitor.empty() ? start : parse_common(options.monitor, refused, {}, start);
    if (spec.is_dynamic())
        throw UsageError("'--monitor': trackers have fixed keys; write 'granularity' as lines, as in granularity=4");
    if (options.link.find(',') != std::string::npos)
        throw UsageError(fmt::format("--link {}: trackers are compared on one link; give one, as in --link {}",
                                     shown(options.link), options.link.substr(0, options.link.find(','))));
    spec.link = options.link.empty() ? topology.links()[topology.core_link(false)].name : options.link;
    return completed(placed({spec}, topology).front(), topology);
}

/// One pass over the source with listeners on every copy of the link.
class Pass {
public:
    Pass(const TrackersOptions& options, const Topology& topology, const MonitorSpec& base, Opening opening)
        : options_(options),
          topology_(topology),
          base_(base),
          input_(open_input(options.source, options.settings, options.choice, opening)),
          hierarchy_(topology) {
        check_cores(input_, topology, {base});
        if (opening == Opening::first) warn_of_one_stream(input_, topology, options.simulation.cores);
    }

    template <class Listener, class... Arguments>
    std::vector<std::unique_ptr<Listener>> attach(Arguments... arguments) {
        std::vector<std::unique_ptr<Listener>> copies;
        const std::size_t link = topology_.link(base_.link);
        for (unsigned copy = 0; copy < hierarchy_.copies(link); ++copy) {
            if constexpr (std::is_same_v<Listener, ExactHistogram>)
                copies.push_back(std::make_unique<Listener>(base_));
            else if constexpr (std::is_same_v<Listener, Monitor>)
                copies.push_back(std::make_unique<Listener>(base_, copy, topology_.machine().period));
            else
                copies.push_back(std::make_unique<Listener>(base_, arguments..., copy));
            hierarchy_.listen(link, copy, *copies.back());
        }
        return copies;
    }

    RunResult run() {
        const std::string why = ": nothing is printed, since trackers are compared over all that there is";
        if (interrupted()) throw std::runtime_error("interrupted" + why);  // in a pass too short for it
        const RunOptions how = run_options(options_.simulation, *input_.source);
        RunResult result = cachetally::run(hierarchy_, *input_.source, how);
        clear_progress_line();
        if (!result.complete) throw std::runtime_error(title(result).incomplete + why);
        return result;
    }

    const Input& input() const { return input_; }
    RunTitle title(const RunResult& run) const { return title_of(topology_, input_, run, options_.simulation); }
    std::vector<AddressRange> data() const { return ranges_of(data_of(input_.source->regions())); }
    double error(const Truth& truth, const Histogram& measured) const {
        const LinkInfo& link = topology_.links()[topology_.link(base_.link)];
        return histogram_error(truth.exact, measured, truth.data, program_addresses(topology_, hierarchy_, link));
    }

private:
    const TrackersOptions& options_;
    const Topology& topology_;
    MonitorSpec base_;
    Input input_;
    Hierarchy hierarchy_;
};

using TrackerCopies = std::vector<std::unique_ptr<TrackerListener>>;

std::vector<TrackerCopies> attach_all(Pass& pass, const std::vector<TrackerSpec>& specs) {
    std::vector<TrackerCopies> all;
    all.reserve(specs.size());
    for (const TrackerSpec& spec : specs) all.push_back(pass.attach<TrackerListener>(spec));
    return all;
}

/// What was measured of a row that says what it is of.
TrackerRow measured(TrackerRow row, const TrackerResult& result, const Pass& pass, const Truth& truth,
                    std::uint64_t top) {
    row.reports = result.reports;
    row.bytes = result.bytes;
    row.lost = result.lost;
    row.bytes_per_event = result.bytes_per_event();
    row.error = pass.error(truth, result.histogram);
    row.phases = top_keys(truth.exact, result.histogram, top);
    return row;
}

TrackerResult result_of(TrackerCopies& copies) {
    std::vector<TrackerResult> results;
    for (auto& copy : copies) results.push_back(copy->finish());
    return merged(results);
}

TrackerRow row_of(const TrackerSpec& spec, const TrackerResult& result, const MonitorSpec& base, const Pass& pass,
                  const Truth& truth, std::uint64_t top) {
    const TrackerCost cost = tracker_cost(spec, base);
    const TrackerRow row{.name = std::string(to_string(spec.kind)),
                         .spec = to_string(spec),
                         .bits = cost.bits,
                         .comparators = cost.comparators,
                         .area = cost.area};
    return measured(row, result, pass, truth, top);
}

TrackerRow row_of(const MonitorSpec& base, std::vector<std::unique_ptr<Monitor>>& copies, const Pass& pass,
                  const Truth& truth, std::uint64_t top) {
    std::vector<MonitorResult> results;
    for (auto& copy : copies) {
        copy->finish();
        results.push_back(copy->result());
    }
    MonitorResult sum = merged(results);
    const HardwareCost cost = hardware_cost(base);
    const TrackerRow row{.name = "counter_array",
                         .spec = to_string(base),
                         .bits = cost.bits(),
                         .comparators = cost.comparators,
                         .area = cost.area};
    const TrackerResult result{.events = sum.events,
                               .reports = sum.swapouts,
                               .lost = sum.lost_records,
                               .bytes = sum.bytes,
                               .histogram = std::move(sum.histogram)};
    return measured(row, result, pass, truth, top);
}

std::vector<TrackerRow> rows_of(const std::vector<TrackerSpec>& specs, std::vector<TrackerCopies>& trackers,
                                const MonitorSpec& base, const Pass& pass, const Truth& truth, std::uint64_t top) {
    std::vector<TrackerRow> rows;
    for (std::size_t i = 0; i < specs.size(); ++i)
        rows.push_back(row_of(specs[i], result_of(trackers[i]), base, pass, truth, top));
    return rows;
}

/// The smallest tracker of a kind may take more than there is.
void check_bits(const std::vector<TrackerSpec>& specs, std::uint64_t bits, bool asked, const MonitorSpec& base) {
    const auto bits_of = [&](const TrackerSpec& spec) { return tracker_cost(spec, base).bits; };
    const TrackerSpec& largest = *std::ranges::max_element(specs, {}, bits_of);
    const std::uint64_t least = bits_of(largest);
    if (least <= bits) return;
    throw UsageError(
        "{} {} takes {} at least; {}, or name the trackers with --tracker",
        asked ? fmt::format("'--bits {}':", bits) : fmt::format("the counter array takes {} bits, but", bits),
        to_string(largest.kind), least, asked ? "write so many or more" : "give it more counters");
}

/// Runs all that are not done, together in a pass, until they are.
void finish(std::vector<std::vector<EpochSearch>>& kinds, const TrackersOptions& options, const Topology& topology,
            const MonitorSpec& base) {
    for (;;) {
        std::vector<EpochSearch*> open;
        for (std::vector<EpochSearch>& searches : kinds)
            for (EpochSearch& search : searches)
                if (!search.is_done()) open.push_back(&search);
        if (open.empty()) return;
        Pass pass(options, topology, base, Opening::again);
        std::vector<TrackerCopies> trackers;
        trackers.reserve(open.size());
        for (const EpochSearch* search : open) trackers.push_back(pass.attach<TrackerListener>(search->next()));
        pass.run();
        for (std::size_t i = 0; i < open.size(); ++i) open[i]->record(result_of(trackers[i]));
    }
}

/// Every kind with the bits and the traffic asked for. Tables are not always full when they are read, and barriers read
/// them too: traffic has to be searched for.
std::vector<TrackerRow> equal_rows(const TrackersOptions& options, const Topology& topology, const MonitorSpec& base,
                                   std::uint64_t bits, double traffic, const Pass& pass, const Truth& truth) {
    std::vector<TrackerSpec> specs;
    for (unsigned kind = 0; kind < tracker_kind_count; ++kind)
        specs.push_back(tracker_of_size(static_cast<TrackerKind>(kind), bits, traffic, base));
    check_bits(specs, bits, options.bits != 0, base);
    std::vector<std::vector<EpochSearch>> kinds;
    kinds.reserve(specs.size());
    for (const TrackerSpec& spec : specs) kinds.push_back(searches_of(spec, traffic));
    finish(kinds, options, topology, base);
    std::vector<TrackerRow> rows;
    for (const std::vector<EpochSearch>& searches : kinds) {
        const EpochSearch& best = best_of(searches);
        rows.push_back(row_of(best.spec(), best.result(), base, pass, truth, options.top));
    }
    return rows;
}

void compare(const TrackersOptions& options) {
    const Topology topology = topology_of(options.simulation);
    const MonitorSpec base = array_spec(options, topology);
    std::vector<TrackerSpec> specs;
    for (const std::string& text : options.trackers) specs.push_back(parse_tracker(text));
    if (specs.empty() && can_be_read_only_once(options.source))
        throw UsageError(
            "trackers of equal size are made after a first pass, and {} can be read only once; name a "
            "file, or the trackers by --tracker",
            options.source == "-" ? "standard input" : "'" + options.source + "'");
    Pass first(options, topology, base, Opening::first);
    const std::unique_ptr<ResultFile> file = open_output(options.output, inputs_of(first.input(), options.simulation));
    auto array = first.attach<Monitor>();
    auto exact = first.attach<ExactHistogram>();
    std::vector<TrackerCopies> trackers = attach_all(first, specs);
    Truth truth{first.run(), {}, {}, {}};
    truth.title = first.title(truth.run);
    truth.data = first.data();
    std::vector<Histogram> histograms;
    histograms.reserve(exact.size());
    for (auto& copy : exact) histograms.push_back(copy->finish());
    truth.exact = merged(histograms);
    std::vector<TrackerRow> rows{row_of(base, array, first, truth, options.top)};
    std::optional<double> asked;
    if (specs.empty()) asked = options.traffic == 0 ? rows.front().bytes_per_event : options.traffic;
    const std::uint64_t bits = options.bits == 0 ? rows.front().bits : options.bits;
    const std::vector<TrackerRow> others = asked ? equal_rows(options, topology, base, bits, *asked, first, truth)
                                                 : rows_of(specs, trackers, base, first, truth, options.top);
    rows.insert(rows.end(), others.begin(), others.end());
    const TrackersView view{truth.title, base.link, truth.exact.total(), truth.exact.phases(), array.size(),
                            options.top, asked,     std::move(rows)};
    if (options.simulation.json)
        print_json(to_json(view));
    else
        print_lines(to_text(view, terminal_width()));
    if (!file) return;
    write_title(file->root(), "trackers", topology, view.title);
    write_trackers(file->root(), view);
    file->root().set_attribute("default", "trackers");
    write_provenance_of(file->root(), topology, std::span(&first.input(), 1));
    close_output(file.get(), view.title);
}

}  // namespace

void add_trackers(CLI::App& app, const std::vector<std::string>& program) {
    auto options = std::make_shared<TrackersOptions>();
    CLI::App* command = app.add_subcommand(
        "trackers", "Compare the counter array with other trackers of hot lines, at equal bits and equal traffic");
    add_text_option(
        *command, "--monitor", options->monitor,
        "More of the counter array, as in counters=64,eviction=lru,granularity=2 (docs/monitors.md); the others "
        "share its lines, groups, kinds and filters",
        "SPEC", "settings, as in counters=64");
    command->add_option("--counters", options->counters, "Counters of the counter array, one number (default: 128)")
        ->type_name("N");
    add_text_option(*command, "--tracker", options->trackers,
                    "A tracker, as in kind=count_min,counters=64,columns=256 (docs/trackers.md); may be repeated. "
                    "Default: one of each kind, as large as the counter array",
                    "SPEC", "a tracker, as in kind=sampling,period=100")
        ->allow_extra_args(false);
    CLI::Option* bits =
        command->add_option("--bits", options->bits, "Bits of the default trackers")->transform(whole_number(1));
    CLI::Option* traffic = command->add_option("--traffic", options->traffic, "Bytes per event of the default trackers")
                               ->type_name("BYTES")
                               ->check(positive_number());
    command->get_option("--tracker")->excludes(bits)->excludes(traffic);
    command->add_option("--top", options->top, "How many of the hottest lines of a phase are looked for")
        ->transform(whole_number(1, 1'000'000))
        ->capture_default_str();
    add_text_option(*command, "--link", options->link,
                    "The link; default: the one that data references leave the core by", "NAME", "the name of a link");
    add_workload_options(*command, *options, !program.empty());
    add_output_options(*command, options->output, "a row per tracker");
    command->footer(
        "Examples:\n"
        "  cachetally trackers lu n=128 --top 16\n"
        "  cachetally trackers radix --link L1D-L2 --traffic 0.05 -o trackers.h5\n"
        "  cachetally trackers gzip.ct.h5 --tracker kind=sampling,period=1000 \\\n"
        "      --tracker kind=hotness,counters=64,threshold=32,epoch=10000");
    command->callback([options, &program] { with_recording(*options, program, [options] { compare(*options); }); });
}

}  // namespace cachetally::app

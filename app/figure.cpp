// SPDX-License-Identifier: BSD-3-Clause
// cachetally figure: figures for print.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/output.hpp"
#include "base/text.hpp"
#include "probes/probe_file.hpp"
#include "storage/file.hpp"
#include "viewer/figures/figure.hpp"
#include "viewer/run_view.hpp"
#include "viewer/sweep_view.hpp"
#include "viewer/web/slim_file.hpp"

namespace cachetally::app {
namespace {

struct FigureOptions {
    FigureRequest request;
    std::vector<std::string> files;
    std::string level, structure, what, phases, metric, eviction, test, variant, beside, x, y, value, facet, lines,
        link, settings;
    std::vector<std::string> workloads;
    ChoiceTexts choice;
    unsigned columns = 2;
    bool log = false, linear = false;
};

/// A kind of figure, what it is drawn from (also one of `other`), the options that it heeds, and what --metric may be
/// for it.
struct Kind {
    std::string_view name, result;
    std::vector<std::string_view> options, metrics;
    std::string_view other{}, beside{};  ///< beside: what --beside names
    bool several = false;                ///< files
};

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all{
        {"histogram", "run", {"--level", "--structure", "--what", "--phases", "--log", "--linear"}, {}},
        {"phases", "run", {"--level", "--structure", "--what", "--phases", "--log", "--linear"}, {}},
        {"heat", "run", {"--level", "--structure", "--what", "--log", "--linear"}, {}},
        {"sweep",
         "sweep",
         {"--metric", "--eviction", "--workload", "--link", "--settings"},
         {"swapouts", "error", "bytes", "bits", "comparators", "area", "energy", "slowdown"}},
        {"front",
         "sweep",
         {"--metric", "--eviction", "--workload", "--link", "--beside", "--objectives", "--where", "--tolerance"},
         {"bytes", "swapouts", "bits", "comparators", "area", "energy", "slowdown"},
         "trackers",
         "trackers",
         true},
        {"campaign", "campaign", {"--x", "--y", "--value", "--facet", "--lines", "--where"}, {}},
        {"curves", "probe", {"--metric", "--test", "--variant", "--beside"}, {"cycles", "misses"}, {}, "probe"},
        {"reuse", "run", {"--structure", "--phases", "--log", "--linear"}, {}},
        {"intrusion", "intrusion", {"--metric"}, {"cycles", "slowdown", "stalled", "records", "lost", "bytes"}},
    };
    return all;
}

const Kind& kind_of(const std::string& name) { return *std::ranges::find(kinds(), name, &Kind::name); }

/// What can be drawn from what a result holds.
std::vector<std::string_view> kinds_of(const InputFile& file) {
    const std::string found = result_kind(file);
    std::vector<std::string_view> possible;
    for (const Kind& kind : kinds()) {
        const bool is_there = kind.result != "run" || file.root().has(kind.name == "reuse" ? "reuse" : "combined");
        if (is_there && (kind.result == found || kind.other == found)) possible.push_back(kind.name);
    }
    return possible;
}

/// Throws for a kind that there is none of, with those of the file, where it can be read.
void check_kind(const FigureOptions& options) {
    const std::string& name = options.request.kind;
    std::vector<std::string_view> known;
    for (const Kind& kind : kinds()) known.push_back(kind.name);
    if (std::ranges::find(known, name) != known.end()) return;
    const std::string& file = options.files.front();
    std::error_code absent;
    const bool is_of_file = std::filesystem::is_regular_file(file, absent);
    if (is_of_file) {
        check_result(file, options.request.trust);
        known = kinds_of(InputFile(file, options.request.trust));
    }
    throw UsageError("KIND: '{}' is not possible{}{}", shown(name),
                     is_of_file ? fmt::format(" for {}", shown(file)) : "",
                     known.empty() ? "; there are no figures of it" : advice(name, known));
}

/// Throws where a file cannot be read, or is of another kind of result than `wanted` or `other`.
void check_file(const std::string& file, const FigureRequest& request, std::string_view wanted,
                std::string_view other) {
    require_present(file);
    check_output(request.output, {file}, "");
    check_result(file, request.trust);
    const InputFile opened(file, request.trust);
    const std::string found = result_kind(opened);
    if (found == wanted || (!other.empty() && found == other)) return;
    const std::vector<std::string_view> possible = kinds_of(opened);
    throw UsageError("{}: is the result of {}, and figures of the kind {} are drawn from that of {}; {}", shown(file),
                     with_article(found), request.kind, with_article(wanted),
                     possible.empty() ? "there are no figures of it"
                                      : fmt::format("of it there are: {}", fmt::join(possible, ", ")));
}

constexpr std::size_t most_marked = 100'000;  ///< cells of a file: they are handed over as one word

/// What standings_of() says of the cells of a sweep, and of what the front is, as figure_front.py reads it: without
/// cells where the file itself says it, the worst of all workloads behind them; empty where it is of trackers.
std::string standing_words(const std::string& path, const FigureOptions& options) {
    const InputFile file(path, options.request.trust);
    if (result_kind(file) != "sweep") return "";
    SweepView view = read_sweep_view(file);
    if (options.choice.given()) {
        view.choice = choice_of(options.choice, view.choice);
        require_measured(view.choice, view.timed);
    }
    view.choice = asked_of(view);
    std::string words;
    if (options.choice.given() || !file.root().open_group("sweep").open_group("rows").has("remains")) {
        if (view.cells.size() > most_marked)
            throw UsageError(
                "{}: --objectives, --where and --tolerance of figures are for at most {} cells, and it has {}",
                shown(path), most_marked, view.cells.size());
        for (const std::vector<SweepCell>& cells : {view.cells, worst_of(view)})
            for (const Standing& each : standings_of(cells, view.choice))
                words += each.remains ? '3' : each.front ? '2' : each.admitted ? '1' : '0';
    }
    return fmt::format("{}:{}:{:g}:{}", words, view.choice.objectives_text(), 100 * view.choice.tolerance,
                       view.choice.bounds_text());
}

void pass_standings(const FigureOptions& options, FigureRequest& request) {
    std::vector<std::string> words;
    for (const std::string& file : options.files) words.push_back(standing_words(file, options));
    if (std::ranges::all_of(words, &std::string::empty)) {
        if (options.choice.given())
            throw UsageError("--objectives, --where and --tolerance are for sweeps, and no file is one");
        return;
    }
    for (const std::string& each : words) request.options.push_back("--standing=" + each);
}

void run(const FigureOptions& options) {
    FigureRequest request = options.request;
    if (figure_format(request.output).empty())
        throw UsageError("--output: '{}' names no format; end it in .pdf, .svg or .png", request.output);
    const Kind& kind = kind_of(request.kind);
    if (options.files.size() > 1 && !kind.several)
        throw UsageError("figures of the kind {} are of one file; those of several are: front", request.kind);
    for (const std::string& file : options.files) check_file(file, request, kind.result, kind.other);
    request.file = options.files.front();
    request.more.assign(options.files.begin() + 1, options.files.end());
    if (!options.beside.empty()) check_file(options.beside, request, kind.beside, {});
    const auto pass = [&](const char* option, const std::string& value) {
        if (!value.empty()) request.options.push_back(fmt::format("{}={}", option, value));
    };
    pass("--level", options.level);
    pass("--structure", options.structure);
    pass("--what", options.what);
    pass("--phases", options.phases);
    pass("--metric", options.metric);
    pass("--eviction", options.eviction);
    for (const std::string& workload : options.workloads) pass("--workload", workload);
    pass("--link", options.link);
    pass("--settings", options.settings);
    pass("--test", options.test);
    pass("--variant", options.variant);
    pass("--beside", options.beside);
    pass("--x", options.x);
    pass("--y", options.y);
    pass("--value", options.value);
    pass("--facet", options.facet);
    pass("--lines", options.lines);
    if (kind.name == "front")
        pass_standings(options, request);
    else
        pass("--where", options.choice.where);
    if (options.log) request.options.emplace_back("--log");
    if (options.linear) request.options.emplace_back("--linear");
    request.options.push_back(fmt::format("--columns={}", options.columns));
    draw_figure(request);
}

/// What a kind would pass over is refused.
void check_use(const CLI::App& command, const FigureOptions& options) {
    const Kind& kind = kind_of(options.request.kind);
    for (const char* option :
         {"--level",      "--structure", "--what",      "--phases",   "--log",  "--linear",  "--metric", "--eviction",
          "--test",       "--variant",   "--beside",    "--x",        "--y",    "--value",   "--facet",  "--lines",
          "--objectives", "--where",     "--tolerance", "--workload", "--link", "--settings"})
        if (command.count(option) != 0 &&
            std::find(kind.options.begin(), kind.options.end(), option) == kind.options.end())
            throw UsageError("{} is not for figures of the kind {}, which take {}", option, kind.name,
                             fmt::join(kind.options, ", "));
    if (!options.metric.empty() &&
        std::find(kind.metrics.begin(), kind.metrics.end(), options.metric) == kind.metrics.end())
        throw UsageError("--metric: figures of the kind {} show {}, not '{}'", kind.name, fmt::join(kind.metrics, ", "),
                         options.metric);
}

void add_options_of_runs(CLI::App& command, FigureOptions& options) {
    command.add_option("--level", options.level,
                       "A cache or TLB, for histograms several, as in L1,L2 (default: all, or the first)");
    command.add_option("--structure", options.structure,
                       "The addresses of one data structure in full width, or of a part of it: NAME:OFFSET:BYTES");
    command.add_option("--what", options.what, "What is shown (default: misses)")
        ->check(one_of_counts({"accesses", "misses", "missrate", "hits"}));
    command.add_option("--phases,--phase", options.phases,
                       "Some phases alone, as show takes them: numbers from 0, ranges, names; as in 3,5-7 or solve,4");
    CLI::Option* log = command.add_flag("--log", options.log, "Counts, or miss ratios, on a logarithmic scale");
    command.add_flag("--linear", options.linear, "Counts, or miss ratios, on a linear scale")->excludes(log);
}

void add_options_of_sweeps(CLI::App& command, FigureOptions& options) {
    command.add_option(
        "--metric", options.metric,
        "Of sweeps: swapouts (default), error, bytes, bits, area, energy or slowdown; of fronts, "
        "beside error: bytes or the like (default: the sweep's first objective); of curves: cycles "
        "(default) or misses; of intrusion: cycles (default), slowdown, stalled, records, lost or bytes");
    command.add_option("--eviction", options.eviction,
                       "Of sweeps with several: which (default: the first; of fronts all)");
    add_text_option(
        command, "--workload", options.workloads,
        "Of sweeps and fronts: a workload, as in lu or lu,n=64; may be repeated (default: all, a panel each)",
        "WORKLOAD[,OPTION...]", "the name of a workload, as in lu,n=64")
        ->allow_extra_args(false);
    add_text_option(command, "--link", options.link,
                    "Of sweeps and fronts: some links, as in core-L1D,L1D-L2 (default: all, a panel each)",
                    "NAME,NAME...", "the name of a link");
    add_text_option(command, "--settings", options.settings,
                    "Of sweeps: the panels of some settings, as in ways=4 or ways=4,width=8 (default: all)",
                    "KEY=VALUE,...", "settings that were varied, as in ways=4");
}

void add_options_of_curves(CLI::App& command, FigureOptions& options) {
    command.add_option("--test", options.test, "Of curves: some tests alone, as in levels,tlb");
    command.add_option("--variant", options.variant, "Of curves: one variant alone")
        ->check(one_of({"published", "robust"}))
        ->transform([](const std::string& name) { return current_variant(name); });
    command
        .add_option("--beside", options.beside,
                    "Of curves: another result of probe, whose curves are laid over the same ones (dashed); of "
                    "fronts: a result of trackers, which then stand on the same front")
        ->type_name("FILE.h5");
}

void add_options_of_campaigns(CLI::App& command, FigureOptions& options) {
    add_text_option(command, "--x", options.x,
                    "Of campaigns: the parameter across (default: with --y the two numbers with most values)", "PARAM",
                    "the name of a parameter");
    add_text_option(command, "--y", options.y,
                    "Of campaigns: the parameter down a matrix, or a measure: lines over --x", "PARAM|MEASURE",
                    "the name of a parameter or a measure");
    add_text_option(command, "--value", options.value,
                    "Of campaigns: the measure in the matrix, also miss_rate_LEVEL (default: error, else the miss rate "
                    "of the first level)",
                    "MEASURE", "the name of a measure");
    add_text_option(command, "--lines", options.lines,
                    "Of campaigns with a measure as --y: a line for each value of a parameter", "PARAM",
                    "the name of a parameter");
    add_text_option(command, "--facet", options.facet, "Of campaigns: a picture for each value of a parameter", "PARAM",
                    "the name of a parameter");
    add_choice_options(command, options.choice,
                       "; of campaigns only points of these values, as in \"n=64,L2.size=1 MiB\"");
}

}  // namespace

void add_figure(CLI::App& app) {
    auto options = std::make_shared<FigureOptions>();
    CLI::App* command = app.add_subcommand("figure", "Draw a figure for print from a result file (PDF, SVG or PNG)");
    command
        ->add_option(
            "KIND", options->request.kind,
            "histogram: counts over addresses; phases: one picture per phase; heat: phases over addresses; "
            "sweep: the matrix and curves of a sweep; front: its cells by error and another cost, and those "
            "that no other beats in both; campaign: medians by parameters; curves: response curves of a probe, with "
            "edges and plateaus; "
            "intrusion: what monitors cost over the number of counters; reuse: misses over the capacity of a fully "
            "associative LRU cache")
        ->required();
    command
        ->add_option("FILE", options->files,
                     "A result of run, replay, sweep, intrusion, trackers or probe with --output, or of a campaign; "
                     "for fronts several, side by side with one scale")
        ->required();
    command->add_option("-o,--output", options->request.output, "The figure: .pdf, .svg or .png")->required();
    add_options_of_runs(*command, *options);
    add_options_of_sweeps(*command, *options);
    add_options_of_curves(*command, *options);
    add_options_of_campaigns(*command, *options);
    command->add_option("--columns", options->columns, "Width: 1 column of a paper (3.35 in) or 2 (7 in; default)")
        ->transform(whole_number(1, 2));
    add_trust_option(*command, options->request.trust);
    command->add_flag("-f,--force,--overwrite", options->request.overwrite, "Replace the figure where it exists");
    command->footer(
        "Drawn by Python 3 with h5py and matplotlib (Debian: python3-h5py,\n"
        "python3-matplotlib); CACHETALLY_PYTHON names another interpreter.\n\n"
        "Examples:\n"
        "  cachetally figure histogram lu.h5 --what misses -o misses.pdf\n"
        "  cachetally figure phases lu.h5 --structure A --phases 3-6 -o phases.pdf\n"
        "  cachetally figure sweep sweep.h5 --metric error --workload lu --columns 1 -o error.svg\n"
        "  cachetally figure front sweep.h5 --metric slowdown -o front.pdf\n"
        "  cachetally figure reuse lu.h5 --log -o reuse.pdf\n"
        "  cachetally figure front lu.h5 radix.h5 --metric bits --objectives error,bits -o fronts.pdf\n"
        "  cachetally figure campaign small.campaign/result.h5 --x counters --y error --lines granularity --facet n -o "
        "error.svg\n"
        "  cachetally figure campaign small.campaign/result.h5 --x n --y L2.size --value miss_rate_L2 -o l2.pdf\n"
        "  cachetally figure curves probe.h5 --test levels --columns 1 -o levels.pdf");
    command->callback([options, command] {
        check_kind(*options);
        check_use(*command, *options);
        run(*options);
    });
}

}  // namespace cachetally::app

// cachetally figure: figures for print.
#include <fmt/format.h>

#include <memory>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "viewer/figures/figure.hpp"
#include "viewer/web/slim_file.hpp"

namespace cachetally::app {
namespace {

struct FigureOptions {
    FigureRequest request;
    std::string level, structure, what = "accesses", phases, metric = "swapouts", eviction;
    unsigned columns = 2;
    bool log = false;
};

void run(const FigureOptions& options) {
    FigureRequest request = options.request;
    if (figure_format(request.output).empty())
        throw UsageError(fmt::format("--output: '{}' tells no format; end it in .pdf, .svg or .png", request.output));
    require_other_file(request.file, request.output);
    check_result(request.file);
    if (request.kind == "sweep") {
        request.options = {"--metric=" + options.metric, "--eviction=" + options.eviction};
    } else {
        request.options = {"--level=" + options.level, "--structure=" + options.structure, "--what=" + options.what};
        if (!options.phases.empty()) request.options.push_back("--phases=" + options.phases);
        if (options.log) request.options.emplace_back("--log");
    }
    request.options.push_back(fmt::format("--columns={}", options.columns));
    draw_figure(request);
}

/// What a kind would pass over is refused.
void check_use(const CLI::App& command, const std::string& kind) {
    const bool sweep = kind == "sweep";
    for (const char* option : {"--metric", "--eviction"})
        if (!sweep && command.count(option) != 0)
            throw UsageError(fmt::format("{} is for figures of the kind sweep, not {}", option, kind));
    for (const char* option : {"--level", "--structure", "--what", "--phases", "--log"})
        if (sweep && command.count(option) != 0)
            throw UsageError(fmt::format("{} is not for figures of the kind sweep", option));
    if (kind == "heat" && command.count("--phases") != 0)
        throw UsageError("--phases is not for figures of the kind heat, which show all phases");
}

}  // namespace

void add_figure(CLI::App& app) {
    auto options = std::make_shared<FigureOptions>();
    CLI::App* command = app.add_subcommand("figure", "Draw a figure for print from a result file (PDF, SVG or PNG)");
    command
        ->add_option("KIND", options->request.kind,
                     "histogram: counts over addresses; phases: one picture per phase; heat: phases over addresses; "
                     "sweep: the matrix and curves of a sweep")
        ->required()
        ->check(one_of({"histogram", "phases", "heat", "sweep"}));
    command->add_option("FILE", options->request.file, "A result of run, replay or sweep with --output")->required();
    command->add_option("-o,--output", options->request.output, "The figure: .pdf, .svg or .png")->required();
    command->add_option("--level", options->level,
                        "A cache or TLB, for histograms several, as in L1,L2 (default: all, or the first)");
    command->add_option("--structure", options->structure,
                        "The addresses of one data structure in full width, or of a part of it: NAME:OFFSET:BYTES");
    command->add_option("--what", options->what, "What is shown (default: accesses)")
        ->check(one_of({"accesses", "misses", "missrate", "hits"}));
    command->add_option("--phases", options->phases, "Some phases alone, as in 4 or 3,5-7");
    command->add_flag("--log", options->log, "Counts on a logarithmic scale");
    command->add_option("--metric", options->metric, "Of sweeps (default: swapouts)")
        ->check(one_of({"swapouts", "error", "bytes"}));
    command->add_option("--eviction", options->eviction, "Of sweeps with several: which (default: the first)");
    command->add_option("--columns", options->columns, "Width: 1 column of a paper (3.35 in) or 2 (7 in; default)")
        ->check(whole_number(1, 2));
    command->add_flag("-f,--force,--overwrite", options->request.overwrite, "Replace the figure where it exists");
    command->footer(
        "Drawn by Python 3 with h5py and matplotlib (Debian: python3-h5py,\n"
        "python3-matplotlib); CACHETALLY_PYTHON names another interpreter.\n\n"
        "Examples:\n"
        "  cachetally figure histogram lu.h5 --what misses -o misses.pdf\n"
        "  cachetally figure phases lu.h5 --structure A --phases 3-6 -o phases.pdf\n"
        "  cachetally figure sweep sweep.h5 --metric error --columns 1 -o error.svg");
    command->callback([options, command] {
        check_use(*command, options->request.kind);
        run(*options);
    });
}

}  // namespace cachetally::app

// SPDX-License-Identifier: BSD-3-Clause
// cachetally report: a page with a result inside, to be mailed or kept.
#include <fmt/format.h>

#include <limits>
#include <memory>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/output.hpp"
#include "app/terminal.hpp"
#include "storage/target.hpp"
#include "viewer/web/page.hpp"

namespace cachetally::app {
namespace {

constexpr std::uintmax_t small_file = 4 << 20;

struct ReportOptions {
    std::vector<std::string> files;
    std::string output;
    bool whole = false, force = false;
    Trust trust = Trust::digests;
};

void run(const ReportOptions& options) {
    for (const std::string& file : options.files) require_present(file);
    check_output(options.output, options.files, "HTML");
    check_target(options.output, options.force ? Existing::overwrite : Existing::refuse, "pages");
    check_together(options.files, options.trust);
    const std::uintmax_t limit = options.whole ? std::numeric_limits<std::uintmax_t>::max() : small_file;
    const ResultPage result = page_of(options.files, limit, options.trust);
    write_page(options.output, result.html, options.force);
    print("{}: {:.1f} MB{}\n", options.output, static_cast<double>(result.html.size()) / 1e6,
          result.reduced ? ", with a reduced copy; --whole keeps every line" : "");
}

}  // namespace

void add_report(CLI::App& app) {
    auto options = std::make_shared<ReportOptions>();
    CLI::App* command = app.add_subcommand("report", "Put a result file into a page that can be mailed or kept");
    command
        ->add_option(
            "FILE", options->files,
            "A result of run, replay, sweep, intrusion, trackers, probe or validate with --output, or of a campaign; "
            "of sweeps and trackers, or of probes, any number, of others two to compare")
        ->required();
    command->add_option("-o,--output", options->output, "The page to write (HTML)")
        ->required()
        ->type_name("FILE.html")
        ->check(not_empty("the name of a file"));
    command->add_flag("--whole", options->whole,
                      "Keep every line; default: histograms of files over 4 MiB are reduced to blocks of lines");
    add_trust_option(*command, options->trust);
    command->add_flag("-f,--force,--overwrite", options->force, "Replace the page where it exists");
    command->footer(
        "The page is one file that shows the result in any browser, without cachetally,\n"
        "server or network.\n\n"
        "Examples:\n"
        "  cachetally report lu.h5 -o lu.html\n"
        "  cachetally report lu.sweep.h5 radix.sweep.h5 water.sweep.h5 -o fronts.html");
    command->callback([options] { run(*options); });
}

}  // namespace cachetally::app

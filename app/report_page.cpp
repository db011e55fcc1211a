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
    std::string file, output;
    bool whole = false, force = false;
    Trust trust = Trust::digests;
};

void run(const ReportOptions& options) {
    require_present(options.file);
    check_output(options.output, {options.file}, "HTML");
    check_target(options.output, options.force ? Existing::overwrite : Existing::refuse, "pages");
    const std::uintmax_t limit = options.whole ? std::numeric_limits<std::uintmax_t>::max() : small_file;
    const ResultPage result = page_of(options.file, limit, options.trust);
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
            "FILE", options->file,
            "A result of run, replay, sweep, intrusion, trackers, probe or validate with --output, or of a campaign")
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
        "Example: cachetally report lu.h5 -o lu.html");
    command->callback([options] { run(*options); });
}

}  // namespace cachetally::app

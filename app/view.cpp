// SPDX-License-Identifier: BSD-3-Clause
// cachetally view: results in the browser.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/terminal.hpp"
#include "viewer/web/page.hpp"
#include "viewer/web/slim_file.hpp"

namespace cachetally::app {
namespace {

/// Files up to this are put into the page as they are; it still opens at once.
constexpr std::uintmax_t whole_file = 32 << 20;
/// Reducing larger ones takes longer than dropping them on the page, which reads them in place.
constexpr std::uintmax_t reducible_file = 512 << 20;

struct ViewOptions {
    std::vector<std::string> files;
    bool no_browser = false;
    Trust trust = Trust::digests;
};

void run(const ViewOptions& options) {
    for (const std::string& file : options.files) {
        require_present(file);
        check_result(file, options.trust);
    }
    check_together(options.files, options.trust);
    const std::string page = temporary_page(options.files);
    const auto large = [](const std::string& file) { return std::filesystem::file_size(file) > reducible_file; };
    const bool alone = options.files.empty() || std::ranges::any_of(options.files, large);
    bool reduced = false;
    if (alone) {
        write_page(page, viewer_page(), true);
    } else {
        const ResultPage result = page_of(options.files, whole_file, options.trust);
        write_page(page, result.html, true);
        reduced = result.reduced;
    }
    if (!options.no_browser && open_in_browser(page)) {
        print("{} is open in the browser\n", page);
    } else {
        print("Open this page in a browser: {}\n", page);
    }
    const std::string files = fmt::format("{}", fmt::join(options.files, ", "));
    if (alone && !options.files.empty()) print("Drop {} on it: too large to be put inside, read in place.\n", files);
    if (reduced) print("It holds a reduced copy; drop {} on it to see every line (read in place).\n", files);
}

}  // namespace

void add_view(CLI::App& app) {
    auto options = std::make_shared<ViewOptions>();
    CLI::App* command = app.add_subcommand("view", "Show a result file in the browser");
    command->add_option("FILE", options->files,
                        "A result of run, replay, sweep, intrusion, trackers, probe or validate, or of a campaign; "
                        "of sweeps and trackers, or of probes, any number, of others two to compare; without it, a "
                        "page to drop files on");
    command->add_flag("--no-browser", options->no_browser, "Write the page and print where it is, but open no browser");
    add_trust_option(*command, options->trust);
    command->footer(
        "The page needs no server and no network. It is one file in the directory for\n"
        "temporary files; 'report' writes one to keep. Of results larger than 32 MiB it\n"
        "holds a reduced copy, of those larger than 512 MiB nothing: drop the file itself\n"
        "on the page, and it is read in place, however large it is. The browser is $BROWSER,\n"
        "or what xdg-open starts.\n\n"
        "Example: cachetally run lu n=128 --machine schulz2002 -o lu.h5; cachetally view lu.h5");
    command->callback([options] { run(*options); });
}

}  // namespace cachetally::app

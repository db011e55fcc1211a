// SPDX-License-Identifier: BSD-3-Clause
// cachetally compare: two results beside each other.
#include <memory>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/terminal.hpp"
#include "storage/file.hpp"
#include "viewer/run_comparison.hpp"

namespace cachetally::app {
namespace {

struct CompareArguments {
    std::string before, after, level;
    bool json = false;
    Trust trust = Trust::digests;
};

RunView view_of_file(const std::string& path, Trust trust) {
    require_present(path);
    const InputFile file(path, trust);
    if (const std::string kind = result_kind(file); kind != "run")
        throw UsageError("{} is a result of {}; runs and replays can be compared", path, kind);
    return read_run_view(file);
}

void compare_files(const CompareArguments& options) {
    const RunView before = view_of_file(options.before, options.trust),
                  after = view_of_file(options.after, options.trust);
    try {
        const RunComparison comparison = compared(before, after, options.level);
        if (options.json) return print_json(to_json(comparison));
        print_lines(to_text(comparison, terminal_width()));
    } catch (const std::invalid_argument& error) {
        throw UsageError(error.what());
    }
}

}  // namespace

void add_compare(CLI::App& app) {
    auto options = std::make_shared<CompareArguments>();
    CLI::App* command =
        app.add_subcommand("compare", "Compare two results: what changed, by level, data structure and function");
    command->add_option("BEFORE", options->before, "A result of run or replay, with --output")->required();
    command->add_option("AFTER", options->after, "Another")->required();
    add_text_option(*command, "--level", options->level,
                    "The cache or TLB whose misses are compared by data structure; default: the first", "NAME",
                    "the name of a level");
    command->add_flag("--json", options->json, "Print JSON");
    add_trust_option(*command, options->trust);
    command->footer(
        "Example:\n"
        "  cachetally run lu -m schulz2002 -o a.h5; cachetally run lu layout=contiguous -m schulz2002 -o b.h5\n"
        "  cachetally compare a.h5 b.h5");
    command->callback([options] { compare_files(*options); });
}

}  // namespace cachetally::app

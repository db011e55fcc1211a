// SPDX-License-Identifier: BSD-3-Clause
// cachetally compare: two results beside each other.
#include <memory>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/terminal.hpp"
#include "probes/curve_comparison.hpp"
#include "probes/probe_file.hpp"
#include "storage/file.hpp"
#include "viewer/probe_comparison_text.hpp"
#include "viewer/run_comparison.hpp"

namespace cachetally::app {
namespace {

struct CompareArguments {
    std::string before, after, level;
    bool json = false;
    Trust trust = Trust::digests;
};

std::string kind_of(const InputFile& file) {
    std::string kind = result_kind(file);
    if (kind != "run" && kind != "probe")
        throw UsageError("{} is a result of {}; those of run, replay and probe can be compared", file.path(), kind);
    return kind;
}

template <class Comparison>
void show(const Comparison& comparison, const CompareArguments& options) {
    if (options.json) return print_json(to_json(comparison));
    print_lines(to_text(comparison, terminal_width()));
}

void compare_files(const CompareArguments& options) {
    require_present(options.before);
    require_present(options.after);
    const InputFile before(options.before, options.trust), after(options.after, options.trust);
    const std::string kind = kind_of(before), other = kind_of(after);
    if (kind != other)
        throw UsageError("{} is a result of {}, {} of {}; two of one kind can be compared", options.before, kind,
                         options.after, other);
    try {
        if (kind == "run") return show(compared(read_run_view(before), read_run_view(after), options.level), options);
        if (!options.level.empty()) throw UsageError("--level is for results of run and replay");
        show(compared(read_probe(before.root()), read_probe(after.root())), options);
    } catch (const std::invalid_argument& error) {
        throw UsageError(error.what());
    }
}

}  // namespace

void add_compare(CLI::App& app) {
    auto options = std::make_shared<CompareArguments>();
    CLI::App* command = app.add_subcommand(
        "compare", "Compare two results: runs by level, data structure and function, probes by response curve");
    command->add_option("BEFORE", options->before, "A result of run, replay or probe, with --output")->required();
    command->add_option("AFTER", options->after, "Another")->required();
    add_text_option(*command, "--level", options->level,
                    "The cache or TLB whose misses are compared by data structure; default: the first", "NAME",
                    "the name of a level");
    command->add_flag("--json", options->json, "Print JSON");
    add_trust_option(*command, options->trust);
    command->footer(
        "Example:\n"
        "  cachetally run lu -m schulz2002 -o a.h5; cachetally run lu layout=contiguous -m schulz2002 -o b.h5\n"
        "  cachetally compare a.h5 b.h5\n"
        "  cachetally probe response -m native -o a.h5; cachetally probe response -m host -o b.h5\n"
        "  cachetally compare a.h5 b.h5                  measured beside simulated");
    command->callback([options] { compare_files(*options); });
}

}  // namespace cachetally::app

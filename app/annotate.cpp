// SPDX-License-Identifier: BSD-3-Clause
// cachetally annotate: source lines beside their misses; the same for KCachegrind and speedscope.
#include <memory>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/terminal.hpp"
#include "monitor/attribution/attribution_file.hpp"
#include "storage/file.hpp"
#include "viewer/annotate.hpp"
#include "viewer/run_view.hpp"

namespace cachetally::app {
namespace {

struct AnnotateArguments {
    std::string file;
    AnnotateOptions annotate;
    bool callgrind = false, speedscope = false;
    Trust trust = Trust::digests;
};

void annotate_file(const AnnotateArguments& options) {
    require_present(options.file);
    const InputFile file(options.file, options.trust);
    const Attribution attribution = read_attribution(file.root());
    try {
        print_lines(options.callgrind    ? callgrind_profile(attribution, read_title(file).input)
                    : options.speedscope ? speedscope_profile(attribution, read_title(file).input)
                                         : annotate(attribution, options.annotate));
    } catch (const std::invalid_argument& error) {
        throw UsageError("{}: {}", options.file, error.what());
    }
}

}  // namespace

void add_annotate(CLI::App& app) {
    auto options = std::make_shared<AnnotateArguments>();
    CLI::App* command = app.add_subcommand("annotate", "Show a program's source beside its misses");
    command->add_option("FILE", options->file, "A result of run or replay of a program, with --output")->required();
    add_trust_option(*command, options->trust);
    AnnotateOptions& annotate = options->annotate;
    add_text_option(*command, "--level", annotate.level,
                    "The cache or TLB whose misses decide what is worst; default: the first", "NAME",
                    "the name of a level");
    add_text_option(*command, "--file", annotate.file,
                    "Only source files of this name, or whose path ends with this one", "END", "the end of a path");
    command->add_option("--source", annotate.folders, "Where sources are looked for, too (may be repeated)")
        ->type_name("FOLDER")
        ->allow_extra_args(false);
    command->add_option("--context", annotate.context, "Lines around those with counts")
        ->transform(whole_number(0, 1000))
        ->capture_default_str();
    command->add_option("--files", annotate.files, "So many files, the worst first")
        ->transform(whole_number(1, 1000000))
        ->capture_default_str();
    command->add_flag("--callgrind", options->callgrind,
                      "Print a profile for KCachegrind and callgrind_annotate instead");
    command->add_flag("--speedscope", options->speedscope, "Print a profile for speedscope (JSON) instead")
        ->excludes("--callgrind");
    command->footer(
        "Examples:\n"
        "  cachetally run -o r.h5 -- ./program; cachetally annotate r.h5\n"
        "  cachetally annotate r.h5 --level L2 --file solver.c\n"
        "  cachetally annotate r.h5 --callgrind > callgrind.out.r; kcachegrind callgrind.out.r\n"
        "  cachetally annotate r.h5 --speedscope > r.speedscope.json");
    command->callback([options] { annotate_file(*options); });
}

}  // namespace cachetally::app

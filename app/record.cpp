// SPDX-License-Identifier: BSD-3-Clause
// cachetally record: a program that runs, as a packed trace.
#include <fmt/format.h>

#include <memory>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/pack.hpp"
#include "app/program.hpp"

namespace cachetally::app {
namespace {

struct RecordArguments {
    PackingChoice packing;
    ProgramChoice program;
    unsigned cores = 1;
};

}  // namespace

void add_record(CLI::App& app, const std::vector<std::string>& program) {
    auto options = std::make_shared<RecordArguments>();
    CLI::App* command = app.add_subcommand("record", "Run a program and keep its references as a packed trace");
    command->add_option("-o,--output", options->packing.output, "The packed trace, as in NAME.ct.h5")
        ->type_name("FILE")
        ->required()
        ->check(not_empty("the name of a file"));
    command->add_option("--cores", options->cores, "Streams (1 to 256) that its threads go to in turn")
        ->transform(whole_number(1, 256))
        ->capture_default_str();
    command->add_flag("--data-only", options->program.data_only, "Leave out instruction fetches");
    options->packing.level = 0;  // the program waits
    add_packing_options(*command, options->packing);
    add_source_options(*command, options->program.part);
    add_program_options(*command, options->program);
    add_field_options(*command, options->program);
    command->footer(
        "Examples:\n"
        "  cachetally record -o gzip.ct.h5 -- gzip -6 -c text > text.gz\n"
        "  cachetally replay gzip.ct.h5");
    command->callback([options, &program] {
        if (program.empty()) throw UsageError("the program is missing: cachetally record -o FILE -- PROGRAM ...");
        check_output(options->packing.output, {}, "HDF5");
        options->program.command = program;
        const Input input = program_input(options->program, options->cores);
        options->packing.input = input.name;
        pack(input, options->packing);
    });
}

}  // namespace cachetally::app

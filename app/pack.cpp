// SPDX-License-Identifier: BSD-3-Clause
#include "app/pack.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/program.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "storage/provenance.hpp"
#include "workloads/traces/forwarding_source.hpp"
#include "workloads/traces/packed_writer.hpp"

namespace cachetally::app {
namespace {

/// Remembers what a source failed of, to distinguish it from failures of the writer.
class WatchedSource : public ForwardingSource {
public:
    explicit WatchedSource(ReferenceSource& source) : ForwardingSource(source) {}
    Batch next(unsigned core) override {
        try {
            return source().next(core);
        } catch (const std::exception& error) {
            failure_ = error.what();
            throw;
        }
    }
    const std::string& failure() const { return failure_; }

private:
    std::string failure_;
};

/// Copies what the source has. Returns why it ended early, or nothing.
std::string copy(ReferenceSource& source, PackedTraceWriter& writer, const PackingChoice& packing) {
    ConvertOptions options;
    options.data_only = packing.choice.data_only;
    options.max_references = packing.max_references;
    options.progress = progress_line(source, packing.max_references);
    WatchedSource watched(source);
    try {
        const ConvertResult result = convert(watched, writer, options);
        clear_progress_line();
        return result.interrupted ? "interrupted" : "";
    } catch (const std::exception&) {
        clear_progress_line();
        if (watched.failure().empty()) throw;
    }
    return interrupted() ? "interrupted" : watched.failure();
}

/// `skipped`: lines of the source that are not references.
void print_summary(const PackingChoice& packing, std::uint64_t references, bool complete, std::uint64_t skipped) {
    const std::uint64_t bytes = std::filesystem::file_size(packing.output);
    const double each = references == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(references);
    if (packing.json) {
        const Json json = {{"input", packing.input},  {"output", packing.output},    {"references", references},
                           {"bytes", bytes},          {"bytes_per_reference", each}, {"complete", complete},
                           {"skipped_lines", skipped}};
        print_json(json);
    } else {
        print("{}: {} in {}, {:.2f} bytes each{}\n", packing.output, numbered(references, "reference"),
              numbered(bytes, "byte"), each, complete ? "" : " (partial)");
        if (skipped != 0) print("{} of {} skipped: not references\n", numbered(skipped, "line"), packing.input);
    }
}

}  // namespace

void add_packing_options(CLI::App& command, PackingChoice& packing) {
    add_count_option(command, packing.max_references);
    command.add_option("--level", packing.level, "Effort on size: 0 (fastest to write) to 12 (smallest)")
        ->transform(whole_number(0, 12))
        ->capture_default_str();
    command.add_flag("-f,--force,--overwrite", packing.force, "Replace OUT where it exists");
    command.add_flag("--json", packing.json, "Print JSON");
}

std::string write_packed(const Input& input, const PackingChoice& packing, std::uint64_t& references) {
    PackedOptions packed;
    packed.level = packing.level;
    if (packing.force) packed.existing = ResultFile::Existing::overwrite;
    PackedTraceWriter writer(packing.output, input.source->cores(), packed);
    const std::string failure = copy(*input.source, writer, packing);
    references = writer.references();
    if (!failure.empty() && references == 0) throw std::runtime_error(fmt::format("{}; nothing was written", failure));
    Provenance provenance = make_provenance(command_line());
    provenance.trace_name = input.trace_file;
    write_provenance(writer.root(), provenance);
    const std::string incomplete =
        failure.empty() && !input.incomplete.empty() ? "its source is marked partial: " + input.incomplete : failure;
    if (incomplete.empty()) {
        writer.finish();
    } else {
        writer.keep_partial(incomplete);
    }
    return failure;
}

void pack(const Input& input, const PackingChoice& packing) {
    std::uint64_t references = 0;
    const std::string failure = write_packed(input, packing, references);
    const bool read_to_end = !interrupted() && (packing.max_references == 0 || references < packing.max_references);
    print_summary(packing, references, failure.empty() && input.incomplete.empty(),
                  input.notes && read_to_end ? input.notes->skipped.load() : 0);
    report_end(input);
    if (!failure.empty())
        throw std::runtime_error(fmt::format("{}\ncachetally: {} keeps the {} before that, marked partial", failure,
                                             packing.output, numbered(references, "reference")));
}

}  // namespace cachetally::app

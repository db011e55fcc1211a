// SPDX-License-Identifier: BSD-3-Clause
#include "app/output.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>

#include "app/checks.hpp"
#include "base/text.hpp"
#include "cachetally/topology.hpp"
#include "storage/target.hpp"

namespace cachetally::app {
namespace {

using Status = struct stat;

std::optional<Status> status_of(const std::string& name) {
    Status status{};
    const int failed = name == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(name.c_str(), &status);
    return failed == 0 ? std::optional(status) : std::nullopt;
}

bool is_preset(const std::string& name) {
    return std::ranges::any_of(machine_presets(), [&](const PresetInfo& preset) { return preset.name == name; });
}

/// Whether both names are of one file.
bool is_same(const std::string& input, const std::string& output) {
    const std::optional<Status> in = status_of(input), out = status_of(output);
    return in && out && S_ISREG(in->st_mode) && in->st_dev == out->st_dev && in->st_ino == out->st_ino &&
           !is_preset(input);
}

struct Ending {
    const char* ending;
    const char* format;
};

constexpr Ending endings[] = {{".html", "HTML"}, {".htm", "HTML"}, {".h5", "HDF5"},   {".hdf5", "HDF5"},
                              {".pdf", "PDF"},   {".svg", "SVG"},  {".png", "PNG"},   {".json", "JSON"},
                              {".csv", "CSV"},   {".txt", "text"}, {".yaml", "YAML"}, {".yml", "YAML"},
                              {".xml", "XML"}};

void check_ending(const std::string& output, const std::string& format) {
    std::string ending = std::filesystem::path(output).extension().string();
    std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto* const known = std::ranges::find(endings, ending, &Ending::ending);
    if (known == std::end(endings) || format == known->format) return;
    const bool figure = ending == ".pdf" || ending == ".svg" || ending == ".png";
    throw UsageError("'{}': what is written is {}, not {}; end the name in {}{}", shown(output), format, known->format,
                     format == "HTML" ? ".html" : ".h5",
                     figure              ? ", or draw a figure: cachetally figure --help"
                     : ending == ".json" ? ", or have JSON on standard output: --json"
                                         : "");
}

}  // namespace

void check_output(const std::string& output, const InputNames& inputs, const std::string& format) {
    for (const std::string& input : inputs) {
        if (input.empty()) continue;
        const std::string name = input == "-" ? "standard input" : shown(input);
        if (is_same(input, output))
            throw UsageError(
                input == output
                    ? fmt::format("'{}' would be written over itself; give the output another name", name)
                    : fmt::format("'{}' would be written over itself: '{}' is the same file; give the output another "
                                  "name",
                                  name, shown(output)));
        if (is_same(input, temporary_name(output)))
            throw UsageError("'{}' has the name under which '{}' grows; give the output another name", name,
                             shown(output));
    }
    if (!format.empty()) check_ending(output, format);
}

void add_output_options(CLI::App& command, OutputOptions& options, const std::string& what) {
    command
        .add_option("-o,--output", options.file, "Write the result to this file (HDF5; docs/format.md), with " + what)
        ->type_name("FILE.h5")
        ->check(not_empty("the name of a file"));
    command.add_flag("-f,--force,--overwrite", options.force, "Replace the output file where it exists");
}

void check_text_output(const OutputOptions& output, const InputNames& inputs, const std::string& what) {
    check_output(output.file, inputs, "");
    check_target(output.file, output.force ? Existing::overwrite : Existing::refuse, what);
}

void write_text_output(const OutputOptions& output, const std::string& text) {
    const std::string target = behind_links(output.file), part = temporary_name(target);
    std::ofstream file(part);
    file << text;
    file.close();
    std::error_code failed;
    if (file) std::filesystem::rename(part, target, failed);
    if (file && !failed) return;
    std::filesystem::remove(part, failed);
    throw StorageError("{} cannot be written", output.file);
}

std::unique_ptr<ResultFile> open_output(const OutputOptions& output, const InputNames& inputs) {
    if (output.file.empty()) {
        if (output.force) throw UsageError("--force means something with --output only");
        return nullptr;
    }
    check_output(output.file, inputs, "HDF5");
    return std::make_unique<ResultFile>(output.file, output.force ? Existing::overwrite : Existing::refuse);
}

}  // namespace cachetally::app

// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/figures/figure.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "base/temporary_folder.hpp"
#include "storage/file.hpp"
#include "storage/target.hpp"
#include "viewer/figures/figure_data.hpp"
#include "viewer/figures/figure_script.hpp"

namespace cachetally {
namespace {

constexpr int wrong_use = 2;  ///< exit status of the script

void draw(const FigureRequest& request, const std::string& output) {
    std::vector<std::string> words{request.kind, request.file};
    words.insert(words.end(), request.more.begin(), request.more.end());
    words.push_back("--output=" + output);
    words.push_back("--format=" + figure_format(request.output));
    words.insert(words.end(), request.options.begin(), request.options.end());
    std::optional<TemporaryFolder> folder;
    if (is_of_counts(request)) {
        const std::string data = folder.emplace("what a figure shows").path() + "/data.h5";
        write_figure_data(request, data);
        words.push_back("--data=" + data);
        words.push_back("--what=" + drawn_counts(request));
    }
    if (const std::string phases = chosen_phases(request); !phases.empty()) words.push_back("--phases=" + phases);
    const ScriptEnd end = run_figure_script(std::string(figure_script()), words);
    if (end.status != 0) throw StorageError(reason_of(end.messages));
}

}  // namespace

std::string figure_format(const std::string& output) {
    for (const char* format : {"pdf", "svg", "png"})
        if (output.ends_with(std::string(".") + format)) return format;
    return "";
}

void draw_figure(const FigureRequest& request) {
    namespace fs = std::filesystem;
    check_target(request.output, request.overwrite ? Existing::overwrite : Existing::refuse, "figures");
    if (request.trust == Trust::digests) {  // h5py does not
        verify_file(request.file);
        for (const std::string& file : request.more) verify_file(file);
    }
    const std::string part = temporary_name(request.output);
    std::error_code error;
    try {
        draw(request, part);
    } catch (...) {
        fs::remove(part, error);
        throw;
    }
    fs::rename(part, behind_links(request.output), error);
    if (error) throw StorageError("{}: cannot get its name: {}", request.output, error.message());
}

std::string why_no_figures() {
    try {
        const ScriptEnd end = run_figure_script(std::string(figure_script()), {});  // which says how it is used
        return end.status == wrong_use ? "" : reason_of(end.messages);
    } catch (const StorageError& error) {
        return error.what();
    }
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/figures/figure.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/temporary_folder.hpp"
#include "storage/file.hpp"
#include "storage/target.hpp"
#include "viewer/figures/figure_data.hpp"

// NOLINTNEXTLINE(hicpp-no-assembler): as the viewer's page is embedded
__asm__(
    ".section .rodata\n"
    ".global cachetally_figure_begin\n"
    ".global cachetally_figure_end\n"
    "cachetally_figure_begin:\n"
    ".ascii \"DRAWING = \"\n"
    ".incbin \"" CACHETALLY_FIGURE_PARTS
    "/../drawing.json\"\n"
    ".incbin \"" CACHETALLY_FIGURE_PARTS
    "/figure.py\"\n"
    ".incbin \"" CACHETALLY_FIGURE_PARTS
    "/figure_lines.py\"\n"
    ".incbin \"" CACHETALLY_FIGURE_PARTS
    "/figure_heat.py\"\n"
    ".incbin \"" CACHETALLY_FIGURE_PARTS
    "/figure_sweep.py\"\n"
    ".incbin \"" CACHETALLY_FIGURE_PARTS
    "/figure_front_layout.py\"\n"
    ".incbin \"" CACHETALLY_FIGURE_PARTS
    "/figure_front.py\"\n"
    ".incbin \"" CACHETALLY_FIGURE_PARTS
    "/figure_campaign.py\"\n"
    ".incbin \"" CACHETALLY_FIGURE_PARTS
    "/figure_curves.py\"\n"
    ".incbin \"" CACHETALLY_FIGURE_PARTS
    "/figure_intrusion.py\"\n"
    ".incbin \"" CACHETALLY_FIGURE_PARTS
    "/figure_reuse.py\"\n"
    ".incbin \"" CACHETALLY_FIGURE_PARTS
    "/figure_main.py\"\n"
    "cachetally_figure_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" const char cachetally_figure_begin[];
extern "C" const char cachetally_figure_end[];
extern char** environ;

namespace cachetally {
namespace {

constexpr int wrong_python = 3, wrong_use = 2;  ///< exit statuses of the script
constexpr int not_started = 127;

struct Ended {
    int status = 0;
    std::string messages;
};

/// Runs a program to its end and keeps what it writes to standard error; status not_started where it cannot be started.
Ended run(std::vector<std::string> words) {
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0) throw StorageError("no pipe can be made: {}", std::strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe[1], STDERR_FILENO);
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t process = 0;
    const int error = ::posix_spawnp(&process, words.front().c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(pipe[1]);
    Ended ended{not_started, {}};
    if (error == 0) {
        char buffer[4096];
        for (ssize_t bytes = 0; (bytes = ::read(pipe[0], buffer, sizeof buffer)) > 0 || (bytes < 0 && errno == EINTR);)
            if (bytes > 0) ended.messages.append(buffer, static_cast<std::size_t>(bytes));
        int status = 0;
        while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
        }
        ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    ::close(pipe[0]);
    return ended;
}

/// The last line of what the script said, without the program's name, which the caller adds.
std::string reason(std::string messages) {
    while (!messages.empty() && messages.back() == '\n') messages.pop_back();
    const std::size_t line = messages.rfind('\n');
    std::string text = line == std::string::npos ? messages : messages.substr(line + 1);
    for (const std::string_view prefix : {"cachetally figure: error: ", "cachetally: "})
        if (text.starts_with(prefix)) text.erase(0, prefix.size());
    return text.empty() ? "the figure could not be drawn" : text;
}

std::vector<std::string> interpreters() {
    const char* wanted = std::getenv("CACHETALLY_PYTHON");
    if (wanted != nullptr && *wanted != '\0') return {wanted};
    return {"/usr/bin/python3", "python3"};
}

/// Runs the script with the first Python that has what it needs; throws StorageError where none has.
Ended run_script(const std::vector<std::string>& arguments) {
    std::string missing;
    for (const std::string& python : interpreters()) {
        std::vector<std::string> words{python, "-c", std::string(figure_script())};
        words.insert(words.end(), arguments.begin(), arguments.end());
        Ended ended = run(std::move(words));
        if (ended.status != wrong_python && ended.status != not_started) return ended;
        missing += fmt::format("\n  {}: {}", python,
                               ended.status == not_started ? "cannot be started" : reason(ended.messages));
    }
    throw StorageError(
        "figures need Python 3 with h5py, numpy and matplotlib (Debian: python3-h5py python3-matplotlib); "
        "CACHETALLY_PYTHON names another interpreter. Tried:" +
        missing);
}

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
    const Ended ended = run_script(words);
    if (ended.status != 0) throw StorageError(reason(ended.messages));
}

}  // namespace

std::string_view figure_script() {
    return {cachetally_figure_begin, static_cast<std::size_t>(cachetally_figure_end - cachetally_figure_begin)};
}

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
        const Ended ended = run_script({});  // which says how it is used
        return ended.status == wrong_use ? "" : reason(ended.messages);
    } catch (const StorageError& error) {
        return error.what();
    }
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/figures/figure_script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/temporary_folder.hpp"
#include "storage/handle.hpp"
#include "viewer/core/value_scale.hpp"

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
    "/figure_scale.py\"\n"
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

constexpr int wrong_python = 3;  ///< exit status of the script
constexpr int not_started = 127;

/// Closed at the end.
struct Descriptor {
    int number = -1;

    Descriptor() = default;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { close(); }
    void close() {
        if (number >= 0) ::close(number);
        number = -1;
    }
};

/// Two connected sockets, as writing to one whose other end is closed need not end the process.
struct Sockets {
    Descriptor ours, theirs;

    Sockets() {
        int pair[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
            throw StorageError("no sockets can be made: {}", std::strerror(errno));
        ours.number = pair[0];
        theirs.number = pair[1];
    }
};

/// Four numbers of an extent, then scale, centred, tight and ticks; answered by spread, ends, unit and ticks.
std::string scale_for(const std::string& question) {
    std::array<double, 8> given{};
    const char* at = question.data();
    const char* const end = at + question.size();
    for (double& each : given) {
        while (at < end && *at == ' ') ++at;
        const auto [next, error] = std::from_chars(at, end, each);
        if (error != std::errc()) throw StorageError("the script of figures asks for the scale '{}'", question);
        at = next;
    }
    const auto [least, most, small, large, wanted, centred, tight, ticks] = given;
    const auto scale = static_cast<DrawnScale>(static_cast<int>(wanted));
    const ValueScale found = value_scale({least, most, small, large}, {scale, centred != 0, tight != 0, ticks});
    return fmt::format("{} {} {} {} {}\n", static_cast<int>(found.spread), found.bottom, found.top, found.unit,
                       fmt::join(found.ticks, " "));
}

/// Answers what comes by lines, to the end of both, and gives what was written to the second.
std::string serve(const Descriptor& questions, const Descriptor& messages) {
    std::string asked, said;
    std::array<pollfd, 2> open{{{questions.number, POLLIN, 0}, {messages.number, POLLIN, 0}}};
    while (open[0].fd >= 0 || open[1].fd >= 0) {
        if (::poll(open.data(), open.size(), -1) < 0) {
            if (errno == EINTR) continue;
            throw StorageError("the script of figures cannot be heard: {}", std::strerror(errno));
        }
        for (std::size_t i = 0; i < open.size(); ++i) {
            if (open[i].fd < 0 || open[i].revents == 0) continue;
            char buffer[4096];
            const ssize_t bytes = ::read(open[i].fd, buffer, sizeof buffer);
            if (bytes > 0)
                (i == 0 ? asked : said).append(buffer, static_cast<std::size_t>(bytes));
            else if (bytes == 0 || errno != EINTR)
                open[i].fd = -1;
        }
        for (std::size_t end = 0; (end = asked.find('\n')) != std::string::npos; asked.erase(0, end + 1)) {
            const std::string answer = scale_for(asked.substr(0, end));
            if (::send(questions.number, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) break;  // it has ended
        }
    }
    return said;
}

/// Runs a program to its end; status not_started if it cannot be started.
ScriptEnd run(std::vector<std::string> words) {
    Sockets questions, messages;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO})
        posix_spawn_file_actions_adddup2(&actions, questions.theirs.number, standard);
    posix_spawn_file_actions_adddup2(&actions, messages.theirs.number, STDERR_FILENO);
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t process = 0;
    const int error = ::posix_spawnp(&process, words.front().c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return {not_started, {}};
    questions.theirs.close();
    messages.theirs.close();
    ScriptEnd end{0, serve(questions.ours, messages.ours)};
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    return end;
}

std::vector<std::string> interpreters() {
    const char* wanted = std::getenv("CACHETALLY_PYTHON");
    if (wanted != nullptr && *wanted != '\0') return {wanted};
    return {"/usr/bin/python3", "python3"};
}

}  // namespace

std::string_view figure_script() {
    return {cachetally_figure_begin, static_cast<std::size_t>(cachetally_figure_end - cachetally_figure_begin)};
}

std::string reason_of(std::string messages) {
    while (!messages.empty() && messages.back() == '\n') messages.pop_back();
    const std::size_t line = messages.rfind('\n');
    std::string text = line == std::string::npos ? messages : messages.substr(line + 1);
    for (const std::string_view prefix : {"cachetally figure: error: ", "cachetally: "})
        if (text.starts_with(prefix)) text.erase(0, prefix.size());
    return text.empty() ? "the figure could not be drawn" : text;
}

ScriptEnd run_figure_script(const std::string& script, const std::vector<std::string>& arguments) {
    const TemporaryFolder folder("the script of figures");
    const std::string path = folder.path() + "/figure.py";
    if (!(std::ofstream(path) << script << std::flush)) throw StorageError("{}: cannot be written", path);
    std::string missing;
    for (const std::string& python : interpreters()) {
        std::vector<std::string> words{python, path};
        words.insert(words.end(), arguments.begin(), arguments.end());
        ScriptEnd end = run(std::move(words));
        if (end.status != wrong_python && end.status != not_started) return end;
        missing += fmt::format("\n  {}: {}", python,
                               end.status == not_started ? "cannot be started" : reason_of(end.messages));
    }
    throw StorageError(
        "figures need Python 3 with h5py, numpy and matplotlib (Debian: python3-h5py python3-matplotlib); "
        "CACHETALLY_PYTHON names another interpreter. Tried:" +
        missing);
}

}  // namespace cachetally

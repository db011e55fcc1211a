// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/captured_process.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/text.hpp"
#include "workloads/traces/byte_stream.hpp"

extern char** environ;

namespace cachetally {
namespace {

bool is_program(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// Signals that this program ignores or blocks are not its child's.
class Attributes {
public:
    Attributes() {
        ::posix_spawnattr_init(&attributes_);
        sigset_t set;
        sigemptyset(&set);
        ::posix_spawnattr_setsigmask(&attributes_, &set);
        sigaddset(&set, SIGPIPE);
        sigaddset(&set, SIGXFSZ);
        ::posix_spawnattr_setsigdefault(&attributes_, &set);
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;

    const posix_spawnattr_t* get() const { return &attributes_; }

private:
    posix_spawnattr_t attributes_{};
};

/// Descriptor 1 of the child.
class Actions {
public:
    explicit Actions(int standard_output) {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawn_file_actions_adddup2(&actions_, standard_output, STDOUT_FILENO);
    }
    ~Actions() { ::posix_spawn_file_actions_destroy(&actions_); }
    Actions(const Actions&) = delete;
    Actions& operator=(const Actions&) = delete;

    const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_{};
};

}  // namespace

std::string find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
    const char* const path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
    while (true) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        const std::string folder = end == 0 ? "." : std::string(rest.substr(0, end));
        if (is_program(folder + "/" + name)) return folder + "/" + name;
        if (end == rest.size()) return "";
        rest.remove_prefix(end + 1);
    }
}

CapturedProcess::CapturedProcess(const std::vector<std::string>& command, int standard_output,
                                 const std::vector<std::string>& environment) {
    std::vector<std::string> words = command;
    std::vector<std::string> variables;
    const auto replaced = [&](const std::string& variable) {
        const std::string name = variable.substr(0, variable.find('=') + 1);
        return std::ranges::any_of(environment, [&](const std::string& given) { return given.starts_with(name); });
    };
    for (char** variable = environ; *variable != nullptr; ++variable)
        if (!replaced(*variable)) variables.emplace_back(*variable);
    variables.insert(variables.end(), environment.begin(), environment.end());
    const Attributes attributes;
    const Actions actions(standard_output);
    pid_t process = -1;
    const int error = ::posix_spawn(&process, find_program(words.front()).c_str(), actions.get(), attributes.get(),
                                    pointers_to(words).data(), pointers_to(variables).data());
    if (error != 0)
        throw TraceError(fmt::format("{} cannot be started: {}", shown(words.front()), std::strerror(error)));
    process_ = process;
}

CapturedProcess::~CapturedProcess() {
    if (!over_) ::kill(process_, SIGKILL);
    reap(true);
}

void CapturedProcess::reap(bool wait) {
    if (over_) return;
    int status = 0;
    pid_t found = 0;
    do found = ::waitpid(process_, &status, wait ? 0 : WNOHANG);
    while (found < 0 && errno == EINTR);
    if (found == 0) return;
    over_ = true;
    if (found < 0) return;
    end_ = WIFSIGNALED(status) ? ProgramEnd{0, WTERMSIG(status)} : ProgramEnd{WEXITSTATUS(status), 0};
}

bool CapturedProcess::running() {
    reap(false);
    return !over_;
}

void CapturedProcess::end() {
    if (!running()) return;
    ::kill(process_, SIGTERM);
    for (int tenths = 0; tenths < 20 && running(); ++tenths)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (!over_) ::kill(process_, SIGKILL);
    reap(true);
}

ProgramEnd CapturedProcess::wait() {
    reap(true);
    return end_;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "probes/cpu/compiler.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <thread>

#include "base/temporary_folder.hpp"
#include "base/text.hpp"

namespace cachetally {
namespace {

constexpr auto look_every = std::chrono::milliseconds(2);  ///< whether the compiler has ended, or should

/// The line that says what is wrong, or the first.
std::string message_in(const std::string& file) {
    std::ifstream lines(file);
    std::string first;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("error") != std::string::npos) return printable(line);
        if (first.empty()) first = line;
    }
    return first.empty() ? "(it says nothing)" : printable(first);
}

/// The environment, but for where temporary files lie: those of a compiler that is killed go with the folder.
std::vector<char*> environment_of(std::string& temporary) {
    std::vector<char*> variables{temporary.data()};
    for (char** each = environ; *each != nullptr; ++each)
        if (!std::string_view(*each).starts_with("TMPDIR=")) variables.push_back(*each);
    variables.push_back(nullptr);
    return variables;
}

/// Starts it in a process group of its own, so that it can be ended together with what it starts.
pid_t start(const std::vector<std::string>& words, const std::string& folder) {
    const std::string messages = folder + "/messages";
    std::string temporary = "TMPDIR=" + folder;
    const std::vector<char*> environment = environment_of(temporary);
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(), O_WRONLY | O_CREAT, 0600);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
    pid_t process = 0;
    const int error =
        ::posix_spawnp(&process, words.front().c_str(), &actions, &attributes, arguments.data(), environment.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        throw CompileError("'{}' cannot be run: {}; name a C compiler that there is (Debian: gcc or clang)",
                           words.front(), std::strerror(error));
    return process;
}

int wait_for(pid_t process, const std::function<void()>& go_on) {
    int status = 0;
    try {
        while (::waitpid(process, &status, WNOHANG) == 0) {
            go_on();
            std::this_thread::sleep_for(look_every);
        }
    } catch (...) {
        ::kill(-process, SIGKILL);
        while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
        }
        throw;
    }
    return status;
}

}  // namespace

CompiledCode::~CompiledCode() { ::dlclose(handle_); }

void* CompiledCode::find(const std::string& name) const {
    void* const found = ::dlsym(handle_, name.c_str());
    if (found == nullptr) throw CompileError("the compiled code has no '{}': {}", name, ::dlerror());
    return found;
}

void CCompiler::run(const std::string& folder) const {
    std::vector<std::string> words{command_};
    words.insert(words.end(), std::begin(cpu_compiler_flags), std::end(cpu_compiler_flags));
    for (const std::string& word : {std::string("-o"), folder + "/code.so", folder + "/code.c"}) words.push_back(word);
    const int status = wait_for(start(words, folder), go_on_);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    throw CompileError("'{}' with {} {}: {}", command_, fmt::join(cpu_compiler_flags, " "),
                       WIFEXITED(status) ? fmt::format("failed with status {}", WEXITSTATUS(status))
                                         : fmt::format("was ended by signal {}", WTERMSIG(status)),
                       message_in(folder + "/messages"));
}

std::unique_ptr<CompiledCode> CCompiler::compile(const std::string& source) const {
    std::optional<TemporaryFolder> folder_made;
    try {
        folder_made.emplace("compiled code");
    } catch (const std::runtime_error& error) {
        throw CompileError(error.what());
    }
    const TemporaryFolder& folder = *folder_made;
    {
        std::ofstream file(folder.path() + "/code.c");
        if (!(file << source << std::flush))
            throw CompileError("{}/code.c cannot be written: {}; TMPDIR may name another place", folder.path(),
                               std::strerror(errno));
    }
    run(folder.path());
    void* const handle = ::dlopen((folder.path() + "/code.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* const why = ::dlerror();
        throw CompileError("what '{}' made cannot be loaded: {}; TMPDIR may name a folder that permits it", command_,
                           why != nullptr ? why : "for no reason that is known");
    }
    return std::make_unique<CompiledCode>(handle);
}

}  // namespace cachetally

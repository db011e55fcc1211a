// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/web/browser.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "storage/handle.hpp"
#include "storage/hash.hpp"

extern char** environ;

namespace cachetally {
namespace {

bool is_set(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

/// A directory that nobody else can write to or put something in our way in.
std::string own_directory() {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("cachetally-{}", ::getuid());
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
        throw StorageError(fmt::format("{}: cannot be made: {}", path.string(), std::strerror(errno)));
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::getuid() ||
        (status.st_mode & 022) != 0)
        throw StorageError(fmt::format(
            "{}: is not a directory of yours alone; remove it, or set TMPDIR to another place", path.string()));
    return path.string();
}

/// Runs a program without waiting for more than its start; its output goes nowhere.
bool start(const char* program, const std::string& argument) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int descriptor : {1, 2})
        posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0);
    std::string name = program, word = argument;
    char* words[] = {name.data(), word.data(), nullptr};
    pid_t process = 0;
    const int error = ::posix_spawnp(&process, program, &actions, nullptr, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return false;
    // xdg-open ends at once and says whether it found a browser; a browser itself goes on running
    for (int tries = 0; tries < 30; ++tries) {
        int status = 0;
        if (::waitpid(process, &status, WNOHANG) == process) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        ::usleep(50000);
    }
    return true;
}

}  // namespace

std::string temporary_page(const std::string& result) {
    const std::string whole = result.empty() ? "" : std::filesystem::absolute(result).string();
    const std::string stem = result.empty() ? "viewer" : std::filesystem::path(result).stem().string();
    return fmt::format("{}/{}-{}.html", own_directory(), stem, hash_text(whole).substr(0, 8));
}

bool open_in_browser(const std::string& page) {
    if (is_set("BROWSER") && start(std::getenv("BROWSER"), page)) return true;
    if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) return false;
    return start("xdg-open", page);
}

}  // namespace cachetally

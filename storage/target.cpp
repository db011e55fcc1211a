// SPDX-License-Identifier: BSD-3-Clause
#include "storage/target.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "storage/handle.hpp"

namespace cachetally {
namespace {

/// The directory of a file must be there, and take files.
void check_folder(const std::string& path, const std::string& target) {
    std::filesystem::path folder = std::filesystem::path(target).parent_path();
    if (folder.empty()) folder = ".";
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0) {
        if (errno == ENOENT)
            throw StorageError("{}: there is no directory '{}'; make it first, or give another name", path,
                               folder.string());
        throw StorageError("{}: '{}': {}", path, folder.string(), std::strerror(errno));
    }
    if (!S_ISDIR(status.st_mode))
        throw StorageError("{}: '{}' is not a directory; give another name", path, folder.string());
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        throw StorageError("{}: no file can be made in the directory '{}': {}; give another name", path,
                           folder.string(), std::strerror(errno));
}

}  // namespace

std::string behind_links(const std::string& path) {
    constexpr int most_links = 40;
    std::filesystem::path target = path;
    std::error_code error;
    for (int i = 0; i < most_links && std::filesystem::is_symlink(target, error); ++i) {
        const std::filesystem::path next = std::filesystem::read_symlink(target, error);
        if (error) break;
        target = target.parent_path() / next;  // next alone where it is absolute
    }
    return target.string();
}

std::string temporary_name(const std::string& path) { return behind_links(path) + ".part"; }

void check_target(const std::string& path, Existing existing, std::string_view what) {
    if (path.empty()) throw StorageError("the output file needs a name");
    struct stat status {};
    const std::string target = behind_links(path);
    if (::stat(target.c_str(), &status) != 0) return check_folder(path, target);
    if (S_ISDIR(status.st_mode))
        throw StorageError("{}: is a directory, not a regular file; give {} the name of a file, as in {}/NAME", path,
                           what, path.ends_with('/') ? path.substr(0, path.size() - 1) : path);
    if (!S_ISREG(status.st_mode)) throw StorageError("{}: is not a regular file; give {} the name of one", path, what);
    if (existing == Existing::refuse)
        throw StorageError("{}: exists already; give another name, or --force to replace it", path);
    check_folder(path, target);
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Locks of bundles: of open files (F_OFD_SETLK), which work over NFS too and end with their process.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/text.hpp"
#include "campaign/store.hpp"

namespace cachetally {
namespace {

constexpr unsigned most_deaths = 2;

struct flock whole_file() {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return lock;
}

std::string read_text(int descriptor) {
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t count = 0;
         (count = ::pread(descriptor, part.data(), part.size(), static_cast<off_t>(text.size()))) > 0;)
        text.append(part.data(), static_cast<std::size_t>(count));
    return text;
}

/// "step 3 deaths 1 host HOST pid PID", then a line for each other step in which a process ended.
constexpr const char* step_form = "step %llu deaths %u";
constexpr const char* other_form = "died in %llu times %u";

}  // namespace

std::optional<BundleLock> BundleLock::take(const std::string& path) {
    for (;;) {
        const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (descriptor < 0) throw StorageError("{}: cannot create: {}", path, std::strerror(errno));
        BundleLock lock(descriptor, path);
        struct flock wanted = whole_file();
        if (::fcntl(descriptor, F_OFD_SETLK, &wanted) != 0) {
            if (errno == EAGAIN || errno == EACCES) {
                lock.path_.clear();
                return std::nullopt;
            }
            // file systems without locks: two processes may then compute the same, with the same result
        }
        struct stat status {};
        if (::fstat(descriptor, &status) == 0 && status.st_nlink == 0) {  // its owner removed it meanwhile
            lock.path_.clear();
            continue;
        }
        lock.read(read_text(descriptor));
        return lock;
    }
}

void BundleLock::read(const std::string& text) {
    for (const std::string_view each : split(text, '\n')) {
        const std::string line(each);
        unsigned long long step = 0;
        unsigned deaths = 0;
        if (std::sscanf(line.c_str(), step_form, &step, &deaths) == 2) {
            deaths_[step] = deaths + 1;
        } else if (std::sscanf(line.c_str(), other_form, &step, &deaths) == 2) {
            deaths_[step] = deaths;
        }
    }
}

BundleLock::BundleLock(BundleLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      deaths_(std::move(other.deaths_)) {}

BundleLock::~BundleLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

bool BundleLock::enter(std::uint64_t step) {
    const auto died = deaths_.find(step);
    const unsigned deaths = died == deaths_.end() ? 0 : died->second;
    if (deaths >= most_deaths) return false;
    char host[65] = {};
    ::gethostname(host, sizeof host - 1);
    std::string text = fmt::format("step {} deaths {} host {} pid {}\n", step, deaths, host, ::getpid());
    for (const auto& [other, times] : deaths_)
        if (other != step) text += fmt::format("died in {} times {}\n", other, times);
    if (::pwrite(descriptor_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
        ::ftruncate(descriptor_, static_cast<off_t>(text.size())) != 0)
        throw StorageError("{}: cannot write: {}", path_, std::strerror(errno));
    return true;
}

void BundleLock::release() {
    if (!path_.empty()) ::unlink(path_.c_str());
    path_.clear();
    ::close(std::exchange(descriptor_, -1));
}

std::string BundleLock::state(const std::string& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return {};
    const std::string text = read_text(descriptor);
    ::close(descriptor);
    const auto host = text.find(" host ");
    return host == std::string::npos ? text : text.substr(0, host) + text.substr(text.find('\n', host));
}

std::optional<std::string> BundleLock::owner(const std::string& file) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return std::nullopt;
    struct flock wanted = whole_file();
    const bool locked = ::fcntl(descriptor, F_OFD_GETLK, &wanted) == 0 && wanted.l_type != F_UNLCK;
    const std::string text = read_text(descriptor);
    ::close(descriptor);
    if (!locked) return std::nullopt;
    const auto host = text.find("host ");
    return host == std::string::npos ? "a process that just began" : text.substr(host, text.find('\n') - host);
}

}  // namespace cachetally

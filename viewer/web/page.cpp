// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/web/page.hpp"

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
#include <fstream>
#include <iterator>

#include "storage/file.hpp"
#include "storage/handle.hpp"
#include "storage/hash.hpp"
#include "storage/target.hpp"
#include "viewer/web/slim_file.hpp"

// NOLINTNEXTLINE(hicpp-no-assembler): the only way to embed a file that costs no time to compile
__asm__(
    ".section .rodata\n"
    ".global cachetally_page_begin\n"
    ".global cachetally_page_end\n"
    "cachetally_page_begin:\n"
    ".incbin \"" CACHETALLY_PAGE
    "\"\n"
    "cachetally_page_end:\n"
    ".byte 0\n"
    ".previous\n");
extern "C" const char cachetally_page_begin[];
extern "C" const char cachetally_page_end[];

extern char** environ;

namespace cachetally {
namespace {

constexpr std::uintmax_t largest = 512 << 20;  ///< browsers give up on much longer texts

constexpr std::string_view place = R"(<script id="cachetally-result" type="application/x-hdf5;base64"></script>)";

std::string base64(std::string_view bytes) {
    static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        unsigned word = 0;
        for (std::size_t j = 0; j < 3; ++j)
            word = word << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
        for (std::size_t j = 0; j < 4; ++j) text += i + j <= bytes.size() ? digits[word >> (18 - 6 * j) & 63] : '=';
    }
    return text;
}

/// For the value of an attribute.
std::string escaped(std::string_view text) {
    std::string result;
    for (const char character : text) {
        if (static_cast<unsigned char>(character) < 0x20 || std::strchr("&<>\"'", character) != nullptr)
            result += fmt::format("&#{};", static_cast<unsigned>(static_cast<unsigned char>(character)));
        else
            result += character;
    }
    return result;
}

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file) throw StorageError("{}: cannot be read: {}", path, std::strerror(errno));
    return text;
}

/// A directory of our own that is gone at the end.
class Workplace {
public:
    Workplace() {
        std::string pattern = (std::filesystem::temp_directory_path() / "cachetally-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr)
            throw StorageError("{}: cannot be made: {}", pattern, std::strerror(errno));
        path_ = pattern;
    }
    ~Workplace() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Workplace(const Workplace&) = delete;
    Workplace& operator=(const Workplace&) = delete;
    std::string operator/(const char* name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

void write_all(int descriptor, std::string_view text, const std::string& path) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw StorageError("{}: cannot be written: {}", path, std::strerror(errno));
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace

std::string_view viewer_page() {
    return {cachetally_page_begin, static_cast<std::size_t>(cachetally_page_end - cachetally_page_begin)};
}

std::string page_with_results(const std::vector<PageFile>& files, Trust trust) {
    const std::string_view page = viewer_page();
    const std::size_t at = page.find(place);
    if (at == std::string_view::npos) throw StorageError("the page that is compiled in has no place for a result");
    std::string html(page.substr(0, at));
    for (std::size_t i = 0; i < files.size(); ++i) {
        html += fmt::format(R"(<script id="cachetally-result{}" type="application/x-hdf5;base64" data-name="{}"{}>)",
                            i == 0 ? "" : fmt::format("-{}", i + 1), escaped(files[i].name),
                            trust == Trust::file ? " data-trust" : "");
        html += base64(files[i].bytes);
        html += "</script>";
    }
    html += page.substr(at + place.size());
    return html;
}

namespace {

/// The file at `path`, or where it is larger than `limit` a reduced copy.
PageFile page_file(const std::string& path, std::uintmax_t limit, Trust trust, bool& reduced) {
    check_result(path, trust);
    const std::string name = std::filesystem::path(path).filename().string();
    const std::uintmax_t size = std::filesystem::file_size(path);
    if (size <= limit && size > largest)
        throw StorageError(
            "{}: {} MiB are too many for a page (at most {}); leave out --whole, or drop the file on the page "
            "that 'cachetally view' opens",
            path, size >> 20, largest >> 20);
    if (trust == Trust::digests) verify_file(path);  // the library crashes where it copies what it cannot read
    if (size <= limit) return {name, contents(path)};
    reduced = true;
    const Workplace workplace;
    const std::string copy = workplace / "reduced.h5";
    reduce_result(path, copy, trust);
    return {name, contents(copy)};
}

}  // namespace

ResultPage page_of(const std::vector<std::string>& paths, std::uintmax_t limit, Trust trust) {
    ResultPage page;
    std::vector<PageFile> files;
    for (const std::string& path : paths) files.push_back(page_file(path, limit, trust, page.reduced));
    page.html = page_with_results(files, trust);
    return page;
}

void write_page(const std::string& path, std::string_view text, bool overwrite) {
    check_target(path, overwrite ? Existing::overwrite : Existing::refuse, "pages");
    const std::string part = temporary_name(path);
    ::unlink(part.c_str());
    const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) throw StorageError("{}: cannot be created: {}", part, std::strerror(errno));
    try {
        write_all(descriptor, text, path);
        if (::fsync(descriptor) != 0 && errno != EINVAL)
            throw StorageError("{}: cannot be written: {}", path, std::strerror(errno));
    } catch (...) {
        ::close(descriptor);
        ::unlink(part.c_str());
        throw;
    }
    ::close(descriptor);
    if (::rename(part.c_str(), behind_links(path).c_str()) != 0) {
        const std::string why = std::strerror(errno);
        ::unlink(part.c_str());
        throw StorageError("{}: cannot get its name: {}", path, why);
    }
}

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
        throw StorageError("{}: cannot be made: {}", path.string(), std::strerror(errno));
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::getuid() ||
        (status.st_mode & 022) != 0)
        throw StorageError("{}: is not a directory of yours alone; remove it, or set TMPDIR to another place",
                           path.string());
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

std::string temporary_page(const std::vector<std::string>& results) {
    std::string whole;
    for (const std::string& result : results) whole += std::filesystem::absolute(result).string();
    const std::string stem = results.empty() ? "viewer" : std::filesystem::path(results.front()).stem().string();
    return fmt::format("{}/{}-{}.html", own_directory(), stem, hash_text(whole).substr(0, 8));
}

bool open_in_browser(const std::string& page) {
    if (is_set("BROWSER") && start(std::getenv("BROWSER"), page)) return true;
    if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) return false;
    return start("xdg-open", page);
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "app/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>
#include <cstdio>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace cachetally::app {
namespace {

constexpr unsigned narrowest = 40, widest = 400, usual = 100;

}  // namespace

unsigned terminal_width() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
        return std::clamp<unsigned>(size.ws_col, narrowest, widest);
    const char* text = std::getenv("COLUMNS");
    const std::string_view columns(text == nullptr ? "" : text);
    unsigned value = usual;
    std::from_chars(columns.data(), columns.data() + columns.size(), value);
    return std::clamp(value, narrowest, widest);
}

bool draws_unicode() {
    if (isatty(STDOUT_FILENO) == 0) return false;
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(name);
        if (value == nullptr || *value == '\0') continue;
        std::string locale(value);
        std::ranges::transform(locale, locale.begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    }
    return false;
}

void print_lines(std::string_view text) { fmt::print("{}", printable(text)); }

void to_stderr(std::string_view text) {
    const std::string clean = printable(text);
    std::fwrite(clean.data(), 1, clean.size(), stderr);
    std::fflush(stderr);
}

void on_progress_line(std::string_view text) {
    const std::string line = "\r" + without_controls(text) + "\033[K";
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
}

}  // namespace cachetally::app

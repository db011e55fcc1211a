// SPDX-License-Identifier: BSD-3-Clause
#include "app/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
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

namespace {

int& output_error() {
    static int error = 0;
    return error;
}

}  // namespace

void write_output(std::string_view text) {
    if (output_error() == 0 && std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) output_error() = errno;
}

int end_output() {
    if (output_error() == 0 && std::fflush(stdout) != 0) output_error() = errno;
    return output_error();
}

void print_lines(std::string_view text) { write_output(printable(text)); }

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

namespace {

// What a signal handler may touch.
std::atomic<int> end_asked_for = 0;      // read by other threads, too
std::atomic<std::int64_t> asked_at = 0;  ///< in milliseconds
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// A second signal ends the program at once, but not one that comes with the first: `timeout` sends two.
void on_signal(int signal) {
    constexpr std::int64_t soon = 500;
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const std::int64_t time = std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
    if (end_asked_for == 0) {
        asked_at = time;
        end_asked_for = 1;
    } else if (time - asked_at > soon) {
        std::signal(signal, SIG_DFL);
        std::raise(signal);
    }
}

bool on_terminal() { return isatty(STDERR_FILENO) != 0; }

/// One line that is written over and over.
class ProgressLine {
public:
    ProgressLine(const ReferenceSource& source, std::uint64_t most)
        : source_(&source), most_(most), start_(Clock::now()), last_(start_) {}

    void show(std::uint64_t references) {
        const auto now = Clock::now();
        if (now - last_ < std::chrono::milliseconds(200)) return;
        last_ = now;
        double done = source_->progress();
        if (most_ != 0) done = std::max(done, static_cast<double>(references) / static_cast<double>(most_));
        const double seconds = std::chrono::duration<double>(now - start_).count();
        on_progress_line(progress_text(references, seconds, done));
    }

private:
    using Clock = std::chrono::steady_clock;
    const ReferenceSource* source_;
    std::uint64_t most_;
    Clock::time_point start_, last_;
};

/// "7 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds) {
    const auto whole = static_cast<std::uint64_t>(std::clamp(seconds, 0.0, 1e9));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESTART);
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    struct sigaction before {};
    ::sigaction(SIGHUP, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);  // else it goes on (nohup)
}

bool interrupted() { return end_asked_for != 0; }

std::string progress_text(std::uint64_t references, double seconds, double done) {
    const double millions = static_cast<double>(references) / 1e6;
    std::string text = fmt::format("{:.1f} M references, {:.1f} M/s", millions, millions / std::max(seconds, 1e-3));
    if (done > 0)
        text += fmt::format(", {:.0f} %, {} left", 100 * std::min(done, 1.0), duration_text(seconds / done - seconds));
    return text;
}

std::function<bool(std::uint64_t)> progress_line(const ReferenceSource& source, std::uint64_t most_references) {
    if (!on_terminal()) return [](std::uint64_t) { return !interrupted(); };
    return [line = ProgressLine(source, most_references)](std::uint64_t references) mutable {
        line.show(references);
        if (interrupted()) clear_progress_line();
        return !interrupted();
    };
}

void clear_progress_line() {
    if (on_terminal()) on_progress_line("");
}

}  // namespace cachetally::app

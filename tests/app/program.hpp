// SPDX-License-Identifier: BSD-3-Clause
// The built program, run as a user would run it.
#pragma once

#include <csignal>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/storage/temporary.hpp"

namespace cachetally::testing {

#ifndef __has_feature
#define __has_feature(feature) 0  // clang's
#endif
inline constexpr bool thread_sanitizer = __has_feature(thread_sanitizer);

/// What a process left.
struct Finished {
    int status = -1;  ///< of exit; -1 where a signal ended it
    int signal = 0;   ///< that ended it
    std::string out, err;

    nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// Whether the clock of this machine could not be told: each run measures it anew, so that a busy machine may fail in
/// any one.
inline bool lacks_clock(const Finished& finished) {
    return finished.status == 1 && (finished.err.find("frequency cannot be determined") != std::string::npos ||
                                    finished.err.find("x86-64 and arm64 only") != std::string::npos);
}

/// What is unusual about a call.
struct Circumstances {
    std::string input;                        ///< comes through a pipe to standard input
    bool endless_input = false;               ///< `input` again and again
    bool input_stays_open = false;            ///< the pipe's end does not come, until the process is gone
    std::string in_file;                      ///< is standard input
    std::string out_file;                     ///< standard output goes to this file
    bool out_closed = false;                  ///< there is no standard output
    bool out_reader_leaves = false;           ///< the other end of the pipe is closed after the first bytes
    bool err_full = false;                    ///< standard error takes nothing (/dev/full)
    bool err_terminal = false;                ///< standard error is a terminal
    bool as_nobody = false;                   ///< without the rights of root
    std::optional<std::size_t> largest_file;  ///< bytes (RLIMIT_FSIZE)
    /// Ctrl-C comes when the process is ready for it and this says true; or another signal.
    std::function<bool()> interrupt_when;
    int interrupt_by = SIGINT;
};

/// Arguments, and more of them.
inline std::vector<std::string> operator+(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

/// Runs the program in a directory and waits for its end; after 60 s it is killed.
Finished cachetally(const std::string& directory, const std::vector<std::string>& arguments,
                    const Circumstances& circumstances = {});

/// The names in a directory, sorted, separated by spaces.
std::string listing(const std::string& directory);

}  // namespace cachetally::testing

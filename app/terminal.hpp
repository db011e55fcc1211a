// SPDX-License-Identifier: BSD-3-Clause
// What standard output is: how wide, and whether it can draw; messages and progress beside it; and interruption.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/text.hpp"
#include "cachetally/reference_source.hpp"

namespace cachetally::app {

/// Columns of the terminal; what COLUMNS says, or 100, where standard output is none.
unsigned terminal_width();

/// Whether standard output is a terminal that takes UTF-8.
bool draws_unicode();

/// Writes lines to standard output. All that a command prints passes through here or print_json: names come from
/// anybody's file, and a terminal acts upon control characters. Where it cannot be written, what was asked for goes on:
/// result files come after.
void print_lines(std::string_view text);

/// The same, as it is.
void write_output(std::string_view text);

/// Writes what is kept back; the error (errno) of the first that could not be written, 0 where all was.
int end_output();

/// An argument of print(): a text in one line, all else as it is.
template <class Value>
decltype(auto) in_one_line(const Value& value) {
    if constexpr (std::is_convertible_v<const Value&, std::string_view>)
        return without_controls(value);
    else
        return (value);
}
template <class Value>
using InOneLine = std::remove_cvref_t<decltype(in_one_line(std::declval<const Value&>()))>;

/// Formats to standard output; texts among the arguments stay in their lines.
template <class... Values>
void print(fmt::format_string<InOneLine<Values>...> format, const Values&... values) {
    const auto formatted = [&](const auto&... each) {
        return fmt::vformat(fmt::string_view(format), fmt::make_format_args(each...));
    };
    print_lines(formatted(in_one_line(values)...));
}

/// Writes lines to standard error, at once, without control characters. Where nobody can read it, what was asked for
/// goes on all the same.
void to_stderr(std::string_view text);

/// Writes over the current line of the terminal that standard error is; an empty text takes the line away.
void on_progress_line(std::string_view text);

/// From here on the first Ctrl-C (or SIGTERM, or SIGHUP of a terminal that closes) asks commands to stop and keep what
/// is complete; a second one ends the program at once.
void catch_interrupts();

/// Whether an end was asked for.
bool interrupted();

/// A callback for runs and conversions: shows a progress line on stderr where that is a terminal, and returns false
/// once an end was asked for. The line says how many references, at what rate, and where `source` or `most_references`
/// (0 = no limit) say, how much is done and what time is left. `source` must live as long as it is called.
std::function<bool(std::uint64_t references)> progress_line(const ReferenceSource& source,
                                                            std::uint64_t most_references = 0);

/// Takes the progress line away.
void clear_progress_line();

/// "12.3 M references, 45.6 M/s, 12 %, 7 s left"; `done` is a fraction, negative where it is not known.
std::string progress_text(std::uint64_t references, double seconds, double done);

}  // namespace cachetally::app

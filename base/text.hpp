// SPDX-License-Identifier: BSD-3-Clause
// Text for people: safe to print, and advice on misspelt words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachetally {

/// The parts between separators; one more than there are of these.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Without blanks, tabs and line breaks around it.
std::string_view trimmed(std::string_view text);

/// 12345678 as "12,345,678".
std::string with_separators(std::uint64_t value);

/// "1 core", "2 cores"; `noun` takes an s.
std::string numbered(std::uint64_t number, std::string_view noun);

/// Where the first byte is that is no UTF-8; npos if all is.
std::size_t find_no_utf8(std::string_view text);

/// The text in one line, as a terminal may have it: '?' in place of control characters and of bytes that are no UTF-8.
std::string without_controls(std::string_view text);

/// The same of a text of several lines: line breaks and tabs stay.
std::string printable(std::string_view text);

/// A text of several lines in one: words with a space between them.
std::string folded(std::string_view text);

/// JSON whose texts hold no control characters: those that JSON permits are written as \u....
std::string printable_json(std::string_view json);

/// A word of a machine file as messages show it: without control characters, long ones cut.
std::string shown(std::string_view word);

/// As a shell reads it as one word: in quotes where it must be.
std::string shell_word(std::string_view word);

/// The one of `known` that `word` is closest to, where it is close enough to be meant; else empty.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

/// "; did you mean 'ways'? known are: line, size, ways"; "; of 900, the first are: a, b" where there are more than
/// `most`.
std::string advice(std::string_view word, std::span<const std::string_view> known,
                   std::size_t most = static_cast<std::size_t>(-1));

}  // namespace cachetally

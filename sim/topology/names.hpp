// SPDX-License-Identifier: BSD-3-Clause
// The words of machine files: enumerations by name, sizes and frequencies with units, and what was probably meant.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/topology/machine.hpp"

namespace cachetally {

/// The names of an enumeration's values, in order.
template <class Enum>
std::span<const std::string_view> names_of();
template <>
std::span<const std::string_view> names_of<Serves>();
template <>
std::span<const std::string_view> names_of<Replacement>();
template <>
std::span<const std::string_view> names_of<EmptyWay>();
template <>
std::span<const std::string_view> names_of<Indexing>();
template <>
std::span<const std::string_view> names_of<Inclusion>();
template <>
std::span<const std::string_view> names_of<WritePolicy>();
template <>
std::span<const std::string_view> names_of<WriteBackMiss>();
template <>
std::span<const std::string_view> names_of<PrefetchKind>();
template <>
std::span<const std::string_view> names_of<Mapping>();
template <>
std::span<const std::string_view> names_of<Protocol>();
template <>
std::span<const std::string_view> names_of<CoherenceBy>();
template <>
std::span<const std::string_view> names_of<HomePolicy>();

template <class Enum>
std::string_view name_of(Enum value) {
    return names_of<Enum>()[static_cast<std::size_t>(value)];
}

/// "32 KiB", "48K", "1 MiB", "2 GiB" or plain bytes; K, M, G and T are powers of 1024. Nothing where it is not a size.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// "32 KiB" where a unit divides the size, else plain bytes.
std::string format_size(std::uint64_t bytes);

/// "2.2 GHz", "900 MHz": the length of a cycle in whole picoseconds, rounded. Nothing where it is not a frequency from
/// 1 MHz to 1 THz.
std::optional<std::uint64_t> parse_period(std::string_view text);

/// The shortest frequency that parse_period takes back to `period` (1 to 10^6 picoseconds).
std::string format_frequency(std::uint64_t period);

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

/// The one of `known` that `word` is closest to, where it is close enough to be meant; else empty.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

/// "; did you mean 'ways'? Known are: line, size, ways"
std::string advice(std::string_view word, std::span<const std::string_view> known);

}  // namespace cachetally

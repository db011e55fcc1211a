// SPDX-License-Identifier: BSD-3-Clause
// Sizes and frequencies with their units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cachetally {

/// The whole of a text as a number; hexadecimal with 0x.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// "32 KiB", "48K", "48k", "1 MiB", "2 GiB" or plain bytes; K, M, G and T are powers of 1024. Nothing where it is not a
/// size.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// The one reading of whole numbers in options and settings: "128", "0x80", "4K", "4 KiB". Nothing for others.
std::optional<std::uint64_t> parse_whole(std::string_view text);

/// "32 KiB" where a unit divides the size, else plain bytes.
std::string format_size(std::uint64_t bytes);

/// "2.2 GHz", "900 MHz" in whole hertz, rounded. Nothing where it is not a frequency.
std::optional<double> parse_frequency(std::string_view text);

/// "2.2 GHz", "900 MHz": the length of a cycle in whole picoseconds, rounded. Nothing where it is not a frequency from
/// 1 MHz to 1 THz.
std::optional<std::uint64_t> parse_period(std::string_view text);

/// The shortest frequency that parse_period takes back to `period` (1 to 10^6 picoseconds).
std::string format_frequency(std::uint64_t period);

/// What parse_size() takes is below this.
inline constexpr std::string_view size_limit = "8192 TiB";

/// Whether a text is written as a size, but too large for one, or negative: "99999999 TiB", "-5".
bool is_size_out_of_range(std::string_view text);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Numbers in text traces, read by table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cachetally {

inline constexpr std::uint8_t not_hex = 0xff;

/// The value of each character as a hexadecimal digit.
inline constexpr std::array<std::uint8_t, 256> hex_value = [] {
    std::array<std::uint8_t, 256> table{};
    for (auto& value : table) value = not_hex;
    for (unsigned i = 0; i < 10; ++i) table['0' + i] = static_cast<std::uint8_t>(i);
    for (unsigned i = 0; i < 6; ++i) table['a' + i] = table['A' + i] = static_cast<std::uint8_t>(10 + i);
    return table;
}();

inline std::uint8_t hex_digit(char character) { return hex_value[static_cast<unsigned char>(character)]; }

/// Reads hexadecimal digits from `text` on, and returns the place behind them; more than 16 overflow silently, so ask
/// how many there were. The text must end with another character.
inline const char* read_hex(const char* text, std::uint64_t& value) {
    value = 0;
    for (std::uint8_t digit; (digit = hex_digit(*text)) != not_hex; ++text) value = value << 4 | digit;
    return text;
}

/// The same for decimal digits; values of more than 9 digits become 10^9.
inline const char* read_decimal(const char* text, std::uint32_t& value) {
    const char* begin = text;
    value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + static_cast<std::uint32_t>(*text - '0');
    if (text - begin > 9) value = 1000000000;
    return text;
}

/// How many characters at the beginning of `text` are hexadecimal digits.
inline std::size_t hex_run(std::string_view text) {
    std::size_t count = 0;
    while (count < text.size() && hex_digit(text[count]) != not_hex) ++count;
    return count;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// LineParser: the lines of a text trace as references. One class per text format.
// Numbers in text traces, read by table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cachetally/reference.hpp"
#include "workloads/traces/trace.hpp"

namespace cachetally {

/// What a line cannot be read for.
struct LineError {
    std::size_t column = 0;  ///< counted from 1
    std::string message;     ///< what is wrong, and what would be right
};

/// What is wrong at `place` of a line, with what a line of the format is like.
inline std::unique_ptr<LineError> line_error(const char* line, const char* place, const std::string& what,
                                             const std::string& sample) {
    return std::make_unique<LineError>(
        LineError{static_cast<std::size_t>(place - line) + 1, what + "; a line is like " + sample});
}

/// Behind the next line feed; there is one.
inline const char* next_line(const char* text, const char* end) {
    return static_cast<const char*>(std::memchr(text, '\n', static_cast<std::size_t>(end - text))) + 1;
}

/// Where a parser puts references.
struct ParseResult {
    const char* next = nullptr;        ///< behind the last line that was read
    Reference* end = nullptr;          ///< behind the last reference that was made
    std::uint64_t lines = 0;           ///< lines read
    std::uint64_t skipped = 0;         ///< of these, lines that are not references
    std::unique_ptr<LineError> error;  ///< what is wrong with the line at `next`
};

/// Parses whole lines.
class LineParser {
public:
    virtual ~LineParser() = default;

    /// Reads lines from `text`, which ends with a line feed, until it is used up, an error, or fewer than two places
    /// are left before `limit`.
    virtual ParseResult parse(std::string_view text, Reference* out, Reference* limit) const = 0;

    /// What a line of this format looks like, for messages.
    virtual const char* example() const = 0;
};

/// A text format.
struct TextFormat {
    std::string_view name;  ///< for --format
    std::string_view of;    ///< who writes it, for help
    /// Whether a line, without its end, is of the format. Asked of each line where `anywhere`, as programs may have
    /// printed before; else of the first that is not blank. Formats are asked in the order of the table.
    bool (*recognises)(std::string_view line);
    bool anywhere;
    std::unique_ptr<LineParser> (*make)(const TraceOptions& options);
};

#define CACHETALLY_DECLARE(name) TextFormat name##_format();
CACHETALLY_TEXT_FORMATS(CACHETALLY_DECLARE)
#undef CACHETALLY_DECLARE
using TextFormatRow = TextFormat (*)();
#define CACHETALLY_ROW(name) name##_format,
inline constexpr TextFormatRow built_in_text_formats[] = {CACHETALLY_TEXT_FORMATS(CACHETALLY_ROW)};
#undef CACHETALLY_ROW

/// The text formats of the program. A source of its own, so that a program may link another with more rows.
std::span<const TextFormatRow> text_format_rows();

/// What is known of a format, which is one of text.
const TextFormat& text_format(TraceFormat format);

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

// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <sstream>
#include <utility>
#include <vector>

namespace cachetally {
namespace {

/// Levenshtein distance, without regard to case.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const bool same =
                std::tolower(static_cast<unsigned char>(a[i])) == std::tolower(static_cast<unsigned char>(b[j]));
            diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, diagonal + (same ? 0 : 1)}));
        }
    }
    return row.back();
}

struct Character {
    std::size_t bytes = 0;  ///< none where the text does not begin with a character of UTF-8
    char32_t code = 0;
};

Character first_character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return {1, lead};
    const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
    char32_t code = lead & (0x7FU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) return {};
        code = code << 6 | (byte(i) & 0x3FU);
    }
    constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    return code < least[bytes] || code > 0x10FFFF || surrogate ? Character{} : Character{bytes, code};
}

/// Whether a terminal acts upon it: controls, separators of lines, and what turns the direction of writing.
bool is_control(char32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

/// The text with each control character, and each byte that is no UTF-8, as `replacement` of it and what follows it.
template <class Replacement>
std::string replaced(std::string_view text, const Replacement& replacement) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const Character character = first_character(text);
        const std::size_t bytes = std::max<std::size_t>(character.bytes, 1);
        if (character.bytes == 0 || is_control(character.code))
            result += replacement(character, text);
        else
            result += text.substr(0, bytes);
        text.remove_prefix(bytes);
    }
    return result;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const auto end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string with_separators(std::uint64_t value) {
    std::string digits = std::to_string(value);
    for (std::size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, 1, ',');
    return digits;
}

std::string numbered(std::uint64_t number, std::string_view noun) {
    return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::size_t find_no_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = first_character(text.substr(at)).bytes;
        if (bytes == 0) return at;
        at += bytes;
    }
    return text.npos;
}

std::string without_controls(std::string_view text) {
    return replaced(text, [](const Character&, std::string_view) { return "?"; });
}

std::string printable(std::string_view text) {
    return replaced(text, [](const Character& character, std::string_view rest) {
        if (character.bytes == 1 && (rest.front() == '\n' || rest.front() == '\t')) return rest.substr(0, 1);
        return std::string_view(rest.starts_with("\r\n") ? "\r" : "?");
    });
}

std::string folded(std::string_view text) {
    std::string line;
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
    return line;
}

std::string printable_json(std::string_view json) {
    return replaced(json, [](const Character& character, std::string_view) {
        if (character.bytes == 0) return std::string("?");
        return character.code < 0x20 ? std::string(1, static_cast<char>(character.code))  // between values
                                     : fmt::format("\\u{:04x}", static_cast<std::uint32_t>(character.code));
    });
}

std::string shell_word(std::string_view word) {
    constexpr std::string_view harmless("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-");
    if (!word.empty() && word.find_first_not_of(harmless) == std::string_view::npos) return std::string(word);
    std::string text = "'";
    for (const char character : word) text += character == '\'' ? std::string("'\\''") : std::string(1, character);
    return text + "'";
}

std::string shown(std::string_view word) {
    constexpr std::size_t longest = 64;
    std::string text(word.substr(0, longest));
    if (text.size() < word.size()) {
        // Not in the middle of a character of several bytes.
        while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) text.pop_back();
        if (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0) text.pop_back();
        text += "...";
    }
    return without_controls(text);
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
    std::string_view best;
    if (word.empty() || word.size() > 64) return best;  // nobody meant that
    std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
    for (const std::string_view candidate : known) {
        const std::size_t d = distance(word, candidate);
        if (d < least) {
            least = d;
            best = candidate;
        }
    }
    return best;
}

std::string advice(std::string_view word, std::span<const std::string_view> known, std::size_t most) {
    if (known.empty()) return "";
    const std::string_view meant = nearest(word, known);
    std::vector<std::string> names;  // where one holds a comma, quotes tell where it ends
    for (const std::string_view name : known.first(std::min(most, known.size())))
        names.push_back(name.find(',') == std::string_view::npos ? std::string(name) : fmt::format("'{}'", name));
    const std::string question = meant.empty() ? "" : fmt::format("did you mean '{}'?", meant);
    if (known.size() <= most)
        return fmt::format("; {}{}known are: {}", question, question.empty() ? "" : " ", fmt::join(names, ", "));
    return fmt::format("; {}{} {}, the first are: {}", question, question.empty() ? "of" : " Of", known.size(),
                       fmt::join(names, ", "));
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "sim/topology/names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>
#include <utility>

#include "sim/topology/sizes.hpp"

namespace cachetally {
namespace {

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Splits "2.5 GHz" into a number and the rest; nothing where there is no number.
std::optional<std::pair<double, std::string_view>> split_unit(std::string_view text) {
    text = trim(text);
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc() || !std::isfinite(number) || std::signbit(number)) return std::nullopt;
    return std::pair{number, trim(text.substr(static_cast<std::size_t>(end - text.data())))};
}

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

template <std::size_t count>
std::span<const std::string_view> table(const std::string_view (&names)[count]) {
    return {names, count};
}

}  // namespace

template <>
std::span<const std::string_view> names_of<Serves>() {
    static constexpr std::string_view names[] = {"data", "fetch", "both"};
    return table(names);
}
template <>
std::span<const std::string_view> names_of<EmptyWay>() {
    static constexpr std::string_view names[] = {"lowest", "policy"};
    return table(names);
}
template <>
std::span<const std::string_view> names_of<Inclusion>() {
    static constexpr std::string_view names[] = {"nine", "inclusive", "exclusive", "victim"};
    return table(names);
}
template <>
std::span<const std::string_view> names_of<WritePolicy>() {
    static constexpr std::string_view names[] = {"write_back", "write_through"};
    return table(names);
}
template <>
std::span<const std::string_view> names_of<WriteBackMiss>() {
    static constexpr std::string_view names[] = {"allocate", "fetch", "bypass"};
    return table(names);
}
template <>
std::span<const std::string_view> names_of<Mapping>() {
    static constexpr std::string_view names[] = {"identity", "contiguous", "random", "coloured"};
    return table(names);
}
template <>
std::span<const std::string_view> names_of<Protocol>() {
    static constexpr std::string_view names[] = {"none", "mesi", "moesi"};
    return table(names);
}
template <>
std::span<const std::string_view> names_of<CoherenceBy>() {
    static constexpr std::string_view names[] = {"snooping", "directory"};
    return table(names);
}
template <>
std::span<const std::string_view> names_of<HomePolicy>() {
    static constexpr std::string_view names[] = {"first_touch", "interleaved", "fixed"};
    return table(names);
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
    const auto parts = split_unit(text);
    if (!parts) return std::nullopt;
    static constexpr std::string_view units[][3] = {
        {"", "B", "bytes"}, {"K", "KB", "KiB"}, {"M", "MB", "MiB"}, {"G", "GB", "GiB"}, {"T", "TB", "TiB"}};
    for (unsigned power = 0; power < std::size(units); ++power) {
        if (std::ranges::find(units[power], parts->second) == std::end(units[power])) continue;
        const double bytes = std::ldexp(parts->first, static_cast<int>(10 * power));
        if (bytes != std::floor(bytes) || bytes >= std::ldexp(1.0, 53)) return std::nullopt;
        return static_cast<std::uint64_t>(bytes);
    }
    return std::nullopt;
}

bool is_size_out_of_range(std::string_view text) {
    text = trim(text);
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0) return false;
    if (negative) return parse_size(text) || is_size_out_of_range(text);
    return !parse_size(text) && parse_size(fmt::format("1{}", text.substr(digits)));  // else it is no size at all
}

std::string format_size(std::uint64_t bytes) {
    static constexpr std::string_view units[] = {"TiB", "GiB", "MiB", "KiB"};
    unsigned shift = 40;
    for (const std::string_view unit : units) {
        const std::uint64_t size = std::uint64_t{1} << shift;
        if (bytes >= size && bytes % size == 0) return fmt::format("{} {}", bytes / size, unit);
        shift -= 10;
    }
    return fmt::format("{}", bytes);
}

std::optional<std::uint64_t> parse_period(std::string_view text) {
    const auto parts = split_unit(text);
    if (!parts) return std::nullopt;
    static constexpr std::pair<std::string_view, double> units[] = {
        {"Hz", 1e-9}, {"kHz", 1e-6}, {"MHz", 1e-3}, {"GHz", 1.0}, {"THz", 1e3}};
    for (const auto& [unit, in_ghz] : units) {
        if (unit != parts->second) continue;
        const double period = std::round(1000.0 / (parts->first * in_ghz));
        if (!(period >= 1 && period <= static_cast<double>(longest_cycle))) return std::nullopt;
        return static_cast<std::uint64_t>(period);
    }
    return std::nullopt;
}

std::string format_frequency(std::uint64_t period) {
    const bool in_ghz = period <= 1000;
    const double number = (in_ghz ? 1e3 : 1e6) / static_cast<double>(period);
    for (int digits = 1; digits < 17; ++digits) {
        // Fixed notation: the reader takes no exponents.
        const std::string short_form = fmt::format("{:.{}g}", number, digits);
        double rounded = 0;
        std::from_chars(short_form.data(), short_form.data() + short_form.size(), rounded);
        std::string text = fmt::format("{} {}", rounded, in_ghz ? "GHz" : "MHz");
        if (parse_period(text) == period) return text;
    }
    return fmt::format("{} {}", number, in_ghz ? "GHz" : "MHz");
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

std::string advice(std::string_view word, std::span<const std::string_view> known) {
    if (known.empty()) return "";
    const std::string_view meant = nearest(word, known);
    return fmt::format("; {}known are: {}", meant.empty() ? "" : fmt::format("did you mean '{}'? ", meant),
                       fmt::join(known, ", "));
}

}  // namespace cachetally

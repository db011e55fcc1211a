// SPDX-License-Identifier: BSD-3-Clause
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.hpp"

namespace cachetally {
namespace {

constexpr double longest_period = 1e6;  // picoseconds, of 1 MHz

/// Splits "2.5 GHz" into a number and the rest; nothing where there is no number.
std::optional<std::pair<double, std::string_view>> split_unit(std::string_view text) {
    text = trimmed(text);
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc() || !std::isfinite(number) || std::signbit(number)) return std::nullopt;
    return std::pair{number, trimmed(text.substr(static_cast<std::size_t>(end - text.data())))};
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text) {
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (hexadecimal) text.remove_prefix(2);
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number, hexadecimal ? 16 : 10);
    if (error != std::errc() || stop != end) return std::nullopt;
    return number;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
    const auto parts = split_unit(text);
    if (!parts) return std::nullopt;
    static constexpr std::string_view units[][4] = {{"", "B", "byte", "bytes"},
                                                    {"K", "k", "KB", "KiB"},
                                                    {"M", "m", "MB", "MiB"},
                                                    {"G", "g", "GB", "GiB"},
                                                    {"T", "t", "TB", "TiB"}};
    for (unsigned power = 0; power < std::size(units); ++power) {
        if (std::ranges::find(units[power], parts->second) == std::end(units[power])) continue;
        const double bytes = std::ldexp(parts->first, static_cast<int>(10 * power));
        if (bytes != std::floor(bytes) || bytes >= std::ldexp(1.0, 53)) return std::nullopt;
        return static_cast<std::uint64_t>(bytes);
    }
    return std::nullopt;
}

std::optional<std::uint64_t> parse_whole(std::string_view text) {
    if (const auto value = parse_number(text)) return value;
    const auto is = [](int (*kind)(int), char character) { return kind(static_cast<unsigned char>(character)) != 0; };
    const bool has_unit = !text.empty() && is(std::isdigit, text.front()) && is(std::isalpha, text.back());
    return has_unit ? parse_size(text) : std::nullopt;
}

bool is_size_out_of_range(std::string_view text) {
    text = trimmed(text);
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

std::optional<double> parse_frequency(std::string_view text) {
    const auto parts = split_unit(text);
    if (!parts) return std::nullopt;
    static constexpr std::pair<std::string_view, double> units[] = {
        {"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}, {"THz", 1e12}};
    for (const auto& [unit, hertz] : units)
        if (unit == parts->second) return std::round(parts->first * hertz);
    return std::nullopt;
}

std::optional<std::uint64_t> parse_period(std::string_view text) {
    const auto frequency = parse_frequency(text);
    const double period = frequency ? std::round(1e12 / *frequency) : 0;
    if (!(period >= 1 && period <= longest_period)) return std::nullopt;
    return static_cast<std::uint64_t>(period);
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

}  // namespace cachetally

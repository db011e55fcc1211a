// SPDX-License-Identifier: BSD-3-Clause
#include "app/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "app/commands.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace cachetally::app {

CLI::Validator not_empty(const std::string& what) {
    return {[what](const std::string& text) { return text.empty() ? fmt::format("it needs {}", what) : ""; }, ""};
}

std::optional<std::uint64_t> parse_whole(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return value;
    constexpr std::string_view units = "KMGT";
    const bool has_unit = !text.empty() && units.find(text.back()) != units.npos &&
                          std::isdigit(static_cast<unsigned char>(text.front())) != 0;
    return has_unit ? parse_size(text) : std::nullopt;
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
    const auto check = [least, most](std::string& text) -> std::string {
        const std::optional<std::uint64_t> value = parse_whole(text);
        if (value && *value >= least && *value <= most) {
            text = std::to_string(*value);
            return "";
        }
        // Of what nobody reaches by mistake only those are reported who did.
        const bool bounded = most != std::numeric_limits<std::uint64_t>::max() ||
                             (!value && !text.starts_with('-') && is_size_out_of_range(text));
        return fmt::format("'{}' is not possible; write a whole number {}", shown(text),
                           bounded ? fmt::format("from {} to {}", least, most) : fmt::format("of at least {}", least));
    };
    return {check, ""};
}

CLI::Validator positive_number() {
    const auto check = [](const std::string& text) -> std::string {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool good = error == std::errc() && end == text.data() + text.size() && std::isfinite(value) && value > 0;
        return good ? "" : fmt::format("'{}' is not possible; write a number above 0", shown(text));
    };
    return {check, ""};
}

CLI::Validator one_of(std::vector<std::string> words) {
    const std::string named = fmt::format("{{{}}}", fmt::join(words, ","));
    const auto check = [words = std::move(words)](const std::string& text) -> std::string {
        if (std::ranges::find(words, text) != words.end()) return "";
        return fmt::format("'{}' is not possible{}", shown(text),
                           advice(text, std::vector<std::string_view>(words.begin(), words.end())));
    };
    return {check, named};
}

void add_trust_option(CLI::App& command, Trust& trust) {
    command.add_flag_callback(
        "--trust", [&trust] { trust = Trust::file; },
        "Read an HDF5 file as it is, unverified: of an earlier version, or changed by another program");
}

void require_present(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error) && !(error && error != std::errc::no_such_file_or_directory))
        throw UsageError(fmt::format("{}: No such file or directory", shown(path)));
}

}  // namespace cachetally::app

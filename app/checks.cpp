#include "app/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "app/commands.hpp"
#include "sim/topology/names.hpp"

namespace cachetally::app {

CLI::Validator not_empty(const std::string& what) {
    return {[what](const std::string& text) { return text.empty() ? fmt::format("it needs {}", what) : ""; }, ""};
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
    const auto check = [least, most](const std::string& text) -> std::string {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return "";
        // Of what nobody reaches by mistake only those are told who did.
        const bool bounded =
            most != std::numeric_limits<std::uint64_t>::max() || error == std::errc::result_out_of_range;
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

void require_other_file(const std::string& input, const std::string& output) {
    std::error_code absent;
    if (std::filesystem::equivalent(input, output, absent) && !absent)
        throw UsageError(fmt::format("'{}' would be written over itself; give the output another name", shown(input)));
}

void require_present(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error) && !(error && error != std::errc::no_such_file_or_directory))
        throw UsageError(fmt::format("{}: No such file or directory", shown(path)));
}

}  // namespace cachetally::app

// SPDX-License-Identifier: BSD-3-Clause
#include "app/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "app/commands.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "monitor/causes/miss_causes.hpp"
#include "monitor/spec.hpp"
#include "storage/file.hpp"
#include "viewer/run_view.hpp"
#include "viewer/web/slim_file.hpp"

namespace cachetally::app {

CLI::Validator not_empty(const std::string& what) {
    return {[what](const std::string& text) { return text.empty() ? fmt::format("it needs {}", what) : ""; }, ""};
}

namespace {

/// `words`: which numbers are `good`.
CLI::Validator number_that(bool good(double), std::string_view words) {
    const auto check = [good, words](const std::string& text) -> std::string {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && good(value)) return "";
        return fmt::format("'{}' is not possible; write a number {}", shown(text), words);
    };
    return {check, ""};
}

}  // namespace

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
        const bool in_units = !value && text.find_first_of(".,") != std::string::npos;
        const bool too_large = !value && !text.starts_with('-') && is_size_out_of_range(text) &&
                               text.find_first_not_of("0123456789") != std::string::npos;
        return fmt::format("'{}' is not possible; write a whole number {}{}", shown(text),
                           in_units    ? "(1K is 1024) "
                           : too_large ? "(with a unit below 8192T) "
                                       : "",
                           bounded ? fmt::format("from {} to {}", least, most) : fmt::format("of at least {}", least));
    };
    return {check, ""};
}

CLI::Validator positive_number() {
    return number_that([](double value) { return std::isfinite(value) && value > 0; }, "above 0");
}

CLI::Validator percentage() {
    const CLI::Validator number = number_that([](double value) { return value >= 0 && value <= 100; }, "from 0 to 100");
    const auto check = [number](std::string& text) {
        if (text.ends_with('%')) text.pop_back();
        return number(text);
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

CLI::Validator one_of_counts(std::vector<std::string> counts) {
    counts.insert(counts.end(), std::begin(miss_cause_names), std::end(miss_cause_names));
    return one_of(std::move(counts));
}

void add_trust_option(CLI::App& command, Trust& trust) {
    command.add_flag_callback(
        "--trust", [&trust] { trust = Trust::file; },
        "Read an HDF5 file as it is, unverified: of an earlier version, or changed by another program");
}

void require_present(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error) && !(error && error != std::errc::no_such_file_or_directory))
        throw UsageError("{}: No such file or directory", shown(path));
}

void check_together(const std::vector<std::string>& files, Trust trust) {
    if (files.size() < 2) return;
    const auto kind_of = [&](const std::string& file) {
        check_result(file, trust);
        const std::string kind = result_kind(InputFile(file, trust));
        return kind == "trackers" ? "sweep" : kind;
    };
    const std::string first = kind_of(files.front());
    for (std::size_t i = 1; i < files.size(); ++i)
        if (const std::string kind = kind_of(files[i]); kind != first)
            throw UsageError("{}: is a result of {}, and {} of {}; a page takes several files of one kind",
                             shown(files[i]), kind, shown(files.front()), first);
    if (first != "sweep" && first != "probe" && (files.size() > 2 || first == "validate"))
        throw UsageError("a page takes {} of {}; of sweep, trackers and probe it takes any number",
                         first == "validate" ? "one result" : "two results", first);
}

namespace {

template <class Number>
std::optional<Number> number(std::string_view text, Number least = 1) {
    const auto value = parse_whole(text);
    if (!value || *value < least || *value > std::numeric_limits<Number>::max()) return std::nullopt;
    return static_cast<Number>(*value);
}

/// What was given twice counts once.
template <class T>
void add(std::vector<T>& all, const T& one) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

constexpr std::size_t most_values = 1000;  ///< of a list

/// "3-6": first and last. Nothing where it is no range of numbers.
template <class Number>
std::optional<std::pair<Number, Number>> range_of(std::string_view part, Number least = 1) {
    const auto dash = part.find('-');
    if (dash == part.npos) return std::nullopt;
    const auto first = number(part.substr(0, dash), least), last = number(part.substr(dash + 1), least);
    if (!first || !last) return std::nullopt;
    return std::pair{*first, *last};
}

template <class Number>
void check_range(const std::string& option, const std::string& part, std::pair<Number, Number> range,
                 const char* what) {
    if (range.first > range.second) throw UsageError("'{}': '{}' is not an ascending range", option, part);
    if (range.second - range.first >= most_values)
        throw UsageError("'{}': '{}' has {} {}; at most {} are possible", option, part,
                         std::uint64_t{range.second} - range.first + 1, what, most_values);
}

/// Numbers above zero and ranges of them; `what` they are, and an example.
template <class Number>
std::vector<Number> numbers(const std::string& name, const std::string& text, const char* what, const char* example) {
    const std::string option = fmt::format("{} {}", name, text);
    std::vector<Number> values;
    for (const std::string& part : split_list(text)) {
        const auto value = number<Number>(part);
        const auto range = value ? std::pair{*value, *value} : range_of<Number>(part);
        if (!range) throw UsageError("'{}': '{}' is not a number of {}; write e.g. {}", option, part, what, example);
        check_range(option, part, *range, what);
        for (Number each = range->first; each < range->second; ++each) add(values, each);
        add(values, range->second);
    }
    return values;
}

/// Reads a part of an option; what is wrong with it names the option.
template <class Value>
Value part_of(const std::string& option, const std::string& part, Value (*parse)(std::string_view)) {
    try {
        return parse(part);
    } catch (const SpecError& error) {
        const std::string quoted = fmt::format("'{}'", part);
        const std::string& message = error.message();
        throw UsageError(message.find(quoted) != std::string::npos
                             ? fmt::format("'{}': {}", option, message)
                             : fmt::format("'{}': {}: {}", option, quoted, message));
    }
}

DrainChoice parse_drain(const std::string& part, const std::string& text) {
    const auto colon = part.find(':');
    const std::string name = part.substr(0, colon);
    std::uint64_t amount = 0;
    if (colon != std::string::npos)
        amount = number<std::uint64_t>(std::string_view(part).substr(colon + 1)).value_or(0);
    if (part == "full") return {};
    if (part == "watermark") return {RingSpec::Drain::watermark, 0};
    if (name == "watermark" && amount != 0) return {RingSpec::Drain::watermark, amount};
    if (name == "periodic" && amount != 0) return {RingSpec::Drain::periodic, amount};
    throw UsageError(
        "'--drain {}': '{}' is not a drain; write full, watermark (at half of the ring), "
        "watermark:RECORDS or periodic:CYCLES",
        text, part);
}

}  // namespace

std::vector<std::string> split_list(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    for (std::size_t comma; (comma = text.find(',', from)) != std::string::npos; from = comma + 1)
        parts.push_back(text.substr(from, comma - from));
    parts.push_back(text.substr(from));
    return parts;
}

std::vector<std::string> parse_values(const std::string& option, const std::string& text, bool ranges) {
    std::vector<std::string> values;
    for (const std::string& part : split_list(text)) {
        const auto range = ranges ? range_of<std::uint64_t>(part, 0) : std::nullopt;
        if (!range) {
            add(values, part);
            continue;
        }
        check_range(option, part, *range, "values");
        for (std::uint64_t more = 0; more <= range->second - range->first; ++more)
            add(values, std::to_string(range->first + more));
    }
    return values;
}

std::vector<std::string> parse_links(const std::string& text) {
    std::vector<std::string> links;
    for (const std::string& part : split_list(text)) add(links, part);
    return links;
}

std::vector<std::uint32_t> parse_counters(const std::string& text) {
    const std::vector<std::uint32_t> found = numbers<std::uint32_t>("--counters", text, "counters", "16,32,64 or 1-8");
    for (const std::uint32_t counters : found)
        if (counters > most_counters)
            throw UsageError("'--counters {}': {} counters; write at most {}", text, counters, most_counters);
    return found;
}

std::vector<Granularity> parse_granularities(const std::string& text) {
    const std::string option = "--granularity " + text;
    std::vector<Granularity> granularities;
    for (const std::string& part : split_list(text)) {
        const auto range = range_of<std::uint32_t>(part);
        if (!range) {
            add(granularities, part_of(option, part, parse_granularity));
            continue;
        }
        part_of(option, std::to_string(range->second), parse_granularity);
        check_range(option, part, *range, "granularities");
        for (std::uint32_t lines = range->first; lines <= range->second; ++lines)
            add(granularities, {Granularity::Mode::aligned, lines});
    }
    if (granularities.size() > most_values)
        throw UsageError("'{}': these are {} granularities; at most {} fit into one sweep", option,
                         granularities.size(), most_values);
    return granularities;
}

std::vector<Eviction> parse_evictions(const std::string& text) {
    std::vector<Eviction> evictions;
    for (const std::string& part : split_list(text))
        add(evictions, part_of("--eviction " + text, part, parse_eviction));
    return evictions;
}

std::vector<std::uint64_t> parse_capacities(const std::string& text) {
    return numbers<std::uint64_t>("--ring", text, "records", "64,4096");
}

std::vector<DrainChoice> parse_drains(const std::string& text) {
    std::vector<DrainChoice> drains;
    for (const std::string& part : split_list(text)) add(drains, parse_drain(part, text));
    return drains;
}

void add_choice_options(CLI::App& command, ChoiceTexts& texts, const std::string& more) {
    add_text_option(
        command, "--objectives", texts.objectives,
        "What cells are compared by: some of error, slowdown, bytes, swapouts, counters, bits, comparators, "
        "area, energy; default: of a file what its sweep was asked, else error,bytes,bits and, with --slowdown, "
        "slowdown",
        "NAME,NAME...", "objectives, as in error,bits");
    add_text_option(
        command, "--where", texts.where,
        "Only cells that keep these bounds, as in \"error<5,slowdown<1\" (both in percent); none: all" + more,
        "NAME<NUMBER,...", "bounds, as in error<5");
    command
        .add_option("--tolerance", texts.tolerance,
                    "Differences up to so many percent of the front's range do not count for what remains of it (*); "
                    "default: of a file what its sweep was asked, else 5")
        ->type_name("PERCENT")
        ->transform(percentage());
}

SweepChoice choice_of(const ChoiceTexts& texts, const SweepChoice& kept) {
    SweepChoice choice = parse_choice(texts.objectives, texts.where, texts.tolerance.value_or(100 * kept.tolerance));
    if (texts.objectives.empty()) choice.objectives = kept.objectives;
    if (texts.where.empty()) choice.bounds = kept.bounds;
    return choice;
}

}  // namespace cachetally::app

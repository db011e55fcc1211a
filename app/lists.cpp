#include "app/lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "app/commands.hpp"

namespace cachetally::app {
namespace {

template <class Number>
std::optional<Number> number(std::string_view text) {
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value == 0) return std::nullopt;
    return value;
}

/// What was given twice counts once.
template <class T>
void add(std::vector<T>& all, const T& one) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

/// Numbers above zero; `what` they are, and an example.
template <class Number>
std::vector<Number> numbers(const std::string& option, const std::string& text, const char* what, const char* example) {
    std::vector<Number> values;
    for (const std::string& part : split_list(text)) {
        const auto value = number<Number>(part);
        if (!value)
            throw UsageError(fmt::format("'{} {}': '{}' is not {}; write e.g. {}", option, text, part, what, example));
        add(values, *value);
    }
    return values;
}

/// Reads a part of an option; what is wrong with it names the option.
template <class Value>
Value part_of(const std::string& option, const std::string& part, Value (*parse)(std::string_view)) {
    try {
        return parse(part);
    } catch (const SpecError& error) {
        const std::string quoted = fmt::format("'{}'", part), message = error.message();
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
        fmt::format("'--drain {}': '{}' is not a drain; write full, watermark (at half of the ring), "
                    "watermark:RECORDS or periodic:CYCLES",
                    text, part));
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

std::vector<std::string> parse_links(const std::string& text) {
    std::vector<std::string> links;
    for (const std::string& part : split_list(text)) add(links, part);
    return links;
}

std::vector<std::uint32_t> parse_counters(const std::string& text) {
    return numbers<std::uint32_t>("--counters", text, "a number of counters", "16,32,64");
}

std::vector<Granularity> parse_granularities(const std::string& text) {
    constexpr std::size_t most_granularities = 1000;
    const std::string option = "--granularity " + text;
    std::vector<Granularity> granularities;
    for (const std::string& part : split_list(text)) {
        const auto dash = part.find('-');
        const auto first =
            dash == std::string::npos ? std::nullopt : number<std::uint32_t>(std::string_view(part).substr(0, dash));
        const auto last =
            dash == std::string::npos ? std::nullopt : number<std::uint32_t>(std::string_view(part).substr(dash + 1));
        if (!first || !last) {
            add(granularities, part_of(option, part, parse_granularity));
            continue;
        }
        if (*first > *last) throw UsageError(fmt::format("'{}': '{}' is not an ascending range", option, part));
        part_of(option, std::to_string(*last), parse_granularity);
        for (std::uint32_t lines = *first; lines <= *last; ++lines)
            add(granularities, {Granularity::Mode::aligned, lines});
    }
    if (granularities.size() > most_granularities)
        throw UsageError(fmt::format("'{}': these are {} granularities; at most {} fit into one sweep", option,
                                     granularities.size(), most_granularities));
    return granularities;
}

std::vector<Eviction> parse_evictions(const std::string& text) {
    std::vector<Eviction> evictions;
    for (const std::string& part : split_list(text))
        add(evictions, part_of("--eviction " + text, part, parse_eviction));
    return evictions;
}

std::vector<std::uint64_t> parse_capacities(const std::string& text) {
    return numbers<std::uint64_t>("--ring", text, "a number of records", "64,4096");
}

std::vector<DrainChoice> parse_drains(const std::string& text) {
    std::vector<DrainChoice> drains;
    for (const std::string& part : split_list(text)) add(drains, parse_drain(part, text));
    return drains;
}

}  // namespace cachetally::app

// SPDX-License-Identifier: BSD-3-Clause
// Options of a workload: reading and complaining.
#include "workloads/kernels/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"

namespace cachetally {
namespace {

std::vector<std::string_view> views(const std::vector<std::string>& words) { return {words.begin(), words.end()}; }

bool begins_with_digit(std::string_view text) { return !text.empty() && text[0] >= '0' && text[0] <= '9'; }

}  // namespace

std::string WorkloadOption::range() const {
    return choices.empty() ? fmt::format("{} .. {}", least, most) : fmt::format("{}", fmt::join(choices, ", "));
}

WorkloadOption number_option(std::string name, std::uint64_t initial, std::string meaning, std::uint64_t least,
                             std::uint64_t most) {
    return {std::move(name), std::to_string(initial), std::move(meaning), {}, least, most};
}

WorkloadOption choice_option(std::string name, std::string meaning, std::vector<std::string> choices) {
    std::string initial = choices.front();
    return {std::move(name), std::move(initial), std::move(meaning), std::move(choices)};
}

OptionValues::OptionValues(std::string_view workload, std::vector<WorkloadOption> options,
                           std::span<const std::string> texts)
    : workload_(workload), options_(std::move(options)) {
    for (const WorkloadOption& option : options_) values_[option.name] = checked(option, option.initial);
    for (const std::string& text : texts) set(text);
}

void OptionValues::set(const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos)
        throw OptionError(fmt::format("{}: '{}' is not an option; write name=value", workload_, text));
    const std::string name = text.substr(0, equals);
    const auto option = std::ranges::find(options_, name, &WorkloadOption::name);
    if (option == options_.end()) {
        std::vector<std::string> names;
        for (const WorkloadOption& known : options_) names.push_back(known.name);
        throw OptionError(fmt::format("{}: there is no option '{}'{}", workload_, name, advice(name, views(names))));
    }
    if (std::ranges::find(given_, name) != given_.end())
        throw OptionError(fmt::format("{}: option '{}' is given twice; keep one of them", workload_, name));
    given_.push_back(name);
    values_[name] = checked(*option, text.substr(equals + 1));
}

OptionValues::Value OptionValues::checked(const WorkloadOption& option, const std::string& text) const {
    if (!option.choices.empty()) {
        if (std::ranges::find(option.choices, text) == option.choices.end())
            throw OptionError(fmt::format("{}: '{}' is not a value of option '{}'{}", workload_, text, option.name,
                                          advice(text, views(option.choices))));
        return {text, 0};
    }
    const auto value = begins_with_digit(text) ? parse_size(text) : std::nullopt;
    if (!value || *value < option.least || *value > option.most)
        throw OptionError(fmt::format("{}: {}={} is {}; it must be from {} to {}", workload_, option.name, text,
                                      value || is_size_out_of_range(text) ? "out of range" : "not a whole number",
                                      option.least, option.most));
    return {text, *value};
}

std::uint64_t OptionValues::number(std::string_view name) const { return values_.find(name)->second.number; }

std::string_view OptionValues::choice(std::string_view name) const { return values_.find(name)->second.text; }

void OptionValues::reject(std::string_view name, std::string_view what) const {
    throw OptionError(fmt::format("{}: {}={} {}", workload_, name, values_.find(name)->second.text, what));
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Options of a workload: what there is, read from "key=value" texts, with errors that say what would be right.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cachetally {

/// A wrong option. The message names the option, what is wrong and what would be right.
class OptionError : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

struct WorkloadOption {
    std::string name;
    std::string initial;               ///< the default
    std::string meaning;               ///< with unit
    std::vector<std::string> choices;  ///< permitted words; empty = a whole number from least to most
    std::uint64_t least = 0;
    std::uint64_t most = 0;

    /// "1 .. 64" or "on, off"
    std::string range() const;
};

/// An option that is a whole number; K, M, G and T after it are powers of 1024.
WorkloadOption number_option(std::string name, std::uint64_t initial, std::string meaning, std::uint64_t least,
                             std::uint64_t most);
/// An option that is one of several words, the first being the default.
WorkloadOption choice_option(std::string name, std::string meaning, std::vector<std::string> choices);

/// Values for all options of one workload.
class OptionValues {
public:
    /// Reads "key=value" texts; what is not given has its default. Throws OptionError.
    OptionValues(std::string_view workload, std::vector<WorkloadOption> options, std::span<const std::string> texts);

    std::uint64_t number(std::string_view name) const;
    std::string_view choice(std::string_view name) const;
    bool is(std::string_view name, std::string_view value) const { return choice(name) == value; }

    /// Throws OptionError: `what` is wrong with the value of `name`.
    [[noreturn]] void reject(std::string_view name, std::string_view what) const;

private:
    struct Value {
        std::string text;
        std::uint64_t number = 0;
    };
    Value checked(const WorkloadOption& option, const std::string& text) const;
    void set(const std::string& text);

    std::string workload_;
    std::vector<WorkloadOption> options_;
    std::map<std::string, Value, std::less<>> values_;
    std::vector<std::string> given_;
};

}  // namespace cachetally

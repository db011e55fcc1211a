// SPDX-License-Identifier: BSD-3-Clause
// Fields of a YAML mapping, read by a table of keys, with every complaint collected rather than the first one thrown.
#pragma once

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cachetally/topology.hpp"
#include "sim/topology/machine_keys.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {

Mark mark_of(const YAML::Node& node);

/// What a key of a mapping does with its value.
struct Field {
    std::string_view key;
    std::function<void(const YAML::Node&)> read;
    bool required = false;
};

class FieldReader {
public:
    void complain(const Mark& mark, std::string message) { diagnostics_.push_back({mark, std::move(message)}); }
    std::vector<Diagnostic>& diagnostics() { return diagnostics_; }

    /// Reads all keys of a mapping; complains of unknown, repeated and missing ones. Returns where the values are.
    KeyMarks mapping(const YAML::Node& node, const MappingKind& kind, const std::vector<Field>& fields);

    /// Calls `read` for each element of a list; complains where it is none.
    void list(const YAML::Node& node, std::string_view key, const std::function<void(const YAML::Node&)>& read);

    /// The text of a scalar; complains and returns nothing where it is none. `example` shows what would be right.
    std::optional<std::string> scalar(const YAML::Node& node, std::string_view key, std::string_view example);

    void text(const YAML::Node& node, std::string_view key, std::string_view example, std::string& target);
    void flag(const YAML::Node& node, std::string_view key, bool& target);
    void size(const YAML::Node& node, std::string_view key, std::uint64_t& target);

    /// An address: hexadecimal with 0x, or as a size.
    void address(const YAML::Node& node, std::string_view key, Address& target);

    /// A whole number, decimal or hexadecimal with 0x. `words` says what may stand instead, e.g. ", or all".
    void whole(const YAML::Node& node, std::string_view key, std::uint64_t& target, std::uint64_t least,
               std::uint64_t most, std::string_view words = "");

    void whole(const YAML::Node& node, std::string_view key, unsigned& target, std::uint64_t least, std::uint64_t most,
               std::string_view words = "") {
        std::uint64_t value = target;
        whole(node, key, value, least, most, words);
        target = static_cast<unsigned>(value);
    }

    template <class Enum>
    void choice(const YAML::Node& node, std::string_view key, Enum& target) {
        if (const auto number = choice(node, key, names_of<Enum>())) target = static_cast<Enum>(*number);
    }

private:
    std::optional<std::size_t> choice(const YAML::Node& node, std::string_view key,
                                      std::span<const std::string_view> names);

    std::vector<Diagnostic> diagnostics_;
};

}  // namespace cachetally

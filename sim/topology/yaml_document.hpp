// SPDX-License-Identifier: BSD-3-Clause
// YAML text to nodes, for files that strangers may have written: bounded in size and depth, and without aliases; and
// the fields of its maps.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cachetally/machine.hpp"
#include "cachetally/topology.hpp"
#include "sim/topology/machine_keys.hpp"
#include "sim/topology/names.hpp"
#include "sim/topology/validate.hpp"

namespace cachetally {

/// The most bytes that such a file may have.
constexpr std::size_t largest_yaml_file = std::size_t{1} << 20;

/// Counted from 1; the beginning of the file where yaml-cpp knows no place.
Mark mark_of(const YAML::Mark& mark);

/// The text of a file, at most one byte more than the largest, so that endless files end too. Nothing where it cannot
/// be read: errno says why.
std::optional<std::string> read_yaml_file(const std::string& path);

/// The one document of a file. Throws FileError where the text is no YAML, is larger than 1 MiB, is nested more than
/// 16 deep, or holds anchors, aliases, tags or a second document. `kind`: what the file is, for messages.
YAML::Node load_yaml(const std::string& text, const std::string& file, const std::string& kind);

/// The nodes of a machine file, and the machine that they describe; together read_machine(). Both throw MachineError.
YAML::Node load_machine_yaml(const std::string& text, const std::string& file_name);
MachineDescription machine_of(const YAML::Node& root, const std::string& text, const std::string& file_name);

Mark mark_of(const YAML::Node& node);

/// What a key of a mapping does with its value.
struct Field {
    std::string_view key;
    std::function<void(const YAML::Node&)> read;
    bool required = false;
};

class FieldReader : public Complaints {
public:
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
};

}  // namespace cachetally

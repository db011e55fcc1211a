// Fields of a YAML mapping, read by a table of keys, with every complaint collected rather than the first one thrown.
#pragma once

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sim/topology/names.hpp"
#include "sim/topology/topology.hpp"

namespace cachetally {

Mark mark_of(const YAML::Node& node);

/// What a key of a mapping does with its value.
struct Field {
    std::string_view key;
    std::function<void(const YAML::Node&)> read;
};

class FieldReader {
public:
    void complain(const Mark& mark, std::string message) { diagnostics_.push_back({mark, std::move(message)}); }
    std::vector<Diagnostic>& diagnostics() { return diagnostics_; }

    /// Reads all keys of a mapping; unknown and repeated keys are complained of. `what` names the mapping in messages.
    void mapping(const YAML::Node& node, std::string_view what, const std::vector<Field>& fields);

    /// Calls `read` for each element of a list; complains where it is none.
    void list(const YAML::Node& node, std::string_view key, const std::function<void(const YAML::Node&)>& read);

    /// The text of a scalar; complains and returns nothing where it is none. `example` shows what would be right.
    std::optional<std::string> scalar(const YAML::Node& node, std::string_view key, std::string_view example);

    void text(const YAML::Node& node, std::string_view key, std::string& target);
    void flag(const YAML::Node& node, std::string_view key, bool& target);
    void size(const YAML::Node& node, std::string_view key, std::uint64_t& target);
    void whole(const YAML::Node& node, std::string_view key, std::uint64_t& target, std::uint64_t least,
               std::uint64_t most);

    template <class Integer>
    void whole(const YAML::Node& node, std::string_view key, Integer& target, std::uint64_t least, std::uint64_t most) {
        std::uint64_t value = target;
        whole(node, key, value, least, most);
        target = static_cast<Integer>(value);
    }

    template <class Enum>
    void choice(const YAML::Node& node, std::string_view key, Enum& target) {
        const auto names = names_of<Enum>();
        const auto word = scalar(node, key, names.front());
        if (!word) return;
        for (std::size_t i = 0; i < names.size(); ++i)
            if (names[i] == *word) {
                target = static_cast<Enum>(i);
                return;
            }
        complain(mark_of(node), fmt::format("'{}' is not a value of '{}'{}", *word, key, advice(*word, names)));
    }

private:
    std::vector<Diagnostic> diagnostics_;
};

}  // namespace cachetally

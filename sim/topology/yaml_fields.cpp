// SPDX-License-Identifier: BSD-3-Clause
#include "sim/topology/yaml_fields.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "base/units.hpp"
#include "sim/topology/yaml_document.hpp"

namespace cachetally {
Mark mark_of(const YAML::Node& node) { return mark_of(node.Mark()); }

KeyMarks FieldReader::mapping(const YAML::Node& node, const MappingKind& kind, const std::vector<Field>& fields) {
    KeyMarks marks;
    if (!node.IsMap()) {
        complain(mark_of(node), fmt::format("{} is a mapping of keys to values, as in '{}'", kind.name, kind.example));
        return marks;
    }
    std::vector<std::string_view> known;
    known.reserve(fields.size());
    for (const Field& field : fields) known.push_back(field.key);
    for (const auto& entry : node) {
        if (!entry.first.IsScalar()) {
            complain(mark_of(entry.first), fmt::format("a key of {} is a word, as in '{}'", kind.name, kind.example));
            continue;
        }
        const std::string& key = entry.first.Scalar();
        const auto field = std::ranges::find(fields, std::string_view(key), &Field::key);
        if (field == fields.end()) {
            complain(mark_of(entry.first),
                     fmt::format("unknown key '{}' in {}{}", shown(key), kind.name, advice(key, known)));
        } else if (!marks.emplace(key, mark_of(entry.second)).second) {
            complain(mark_of(entry.first), fmt::format("key '{}' of {} is given twice; keep one", key, kind.name));
        } else if (entry.second.IsNull()) {
            complain(mark_of(entry.first), fmt::format("key '{}' of {} has no value; write one after the colon, or "
                                                       "remove the key",
                                                       key, kind.name));
        } else {
            field->read(entry.second);
        }
    }
    for (const Field& field : fields)
        if (field.required && !marks.contains(field.key))
            complain(mark_of(node), fmt::format("{} needs '{}', as in '{}'", kind.name, field.key, kind.example));
    return marks;
}

void FieldReader::list(const YAML::Node& node, std::string_view key,
                       const std::function<void(const YAML::Node&)>& read) {
    if (!node.IsSequence()) {
        complain(mark_of(node), fmt::format("'{}' is a list: one '- ...' per element, or '[..., ...]'", key));
        return;
    }
    for (const YAML::Node& element : node) read(element);
}

std::optional<std::string> FieldReader::scalar(const YAML::Node& node, std::string_view key, std::string_view example) {
    if (node.IsScalar()) return node.Scalar();
    complain(mark_of(node), fmt::format("'{}' is a single value, as in '{}: {}'", shown(key), shown(key), example));
    return std::nullopt;
}

void FieldReader::text(const YAML::Node& node, std::string_view key, std::string_view example, std::string& target) {
    if (auto value = scalar(node, key, example)) target = std::move(*value);
}

void FieldReader::flag(const YAML::Node& node, std::string_view key, bool& target) {
    const auto value = scalar(node, key, "true");
    if (!value) return;
    if (*value != "true" && *value != "false") {
        complain(mark_of(node), fmt::format("'{}' is not a value of '{}'; write true or false", shown(*value), key));
        return;
    }
    target = *value == "true";
}

void FieldReader::size(const YAML::Node& node, std::string_view key, std::uint64_t& target) {
    const auto value = scalar(node, key, "32 KiB");
    if (!value) return;
    if (const auto bytes = parse_size(*value)) {
        target = *bytes;
    } else if (is_size_out_of_range(*value)) {
        complain(mark_of(node), fmt::format("'{}' is out of range for '{}'; write a size from 0 to less than {}",
                                            shown(*value), key, size_limit));
    } else {
        complain(mark_of(node),
                 fmt::format("'{}' is not a size for '{}'; write whole bytes, or a number with KiB, MiB, "
                             "GiB or TiB, as in 32 KiB",
                             shown(*value), key));
    }
}

void FieldReader::address(const YAML::Node& node, std::string_view key, Address& target) {
    const auto value = scalar(node, key, "0x40000000");
    if (!value) return;
    auto number = parse_number(*value);
    if (!number) number = parse_size(*value);
    if (number) {
        target = *number;
    } else {
        complain(mark_of(node), fmt::format("'{}' is not an address for '{}'; write bytes, as in 0x40000000 or 1 GiB",
                                            shown(*value), key));
    }
}

void FieldReader::whole(const YAML::Node& node, std::string_view key, std::uint64_t& target, std::uint64_t least,
                        std::uint64_t most, std::string_view words) {
    const auto value = scalar(node, key, std::to_string(std::max<std::uint64_t>(least, 1)));
    if (!value) return;
    const auto number = parse_number(*value);
    if (!number || *number < least || *number > most) {
        complain(mark_of(node), fmt::format("'{}' is not a value of '{}'; write a whole number from {} to {}{}",
                                            shown(*value), key, least, most, words));
        return;
    }
    target = *number;
}

/// Machine files from before a value was renamed stay readable.
std::string_view current_name(std::string_view value) { return value == "neither" ? "nine" : value; }

std::optional<std::size_t> FieldReader::choice(const YAML::Node& node, std::string_view key,
                                               std::span<const std::string_view> names) {
    const auto word = scalar(node, key, names.front());
    if (!word) return std::nullopt;
    const auto found = std::ranges::find(names, current_name(*word));
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    complain(mark_of(node), fmt::format("'{}' is not a value of '{}'{}", shown(*word), key, advice(*word, names)));
    return std::nullopt;
}

}  // namespace cachetally

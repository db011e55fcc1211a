#include "sim/topology/yaml_fields.hpp"

#include <algorithm>
#include <charconv>
#include <set>

namespace cachetally {

Mark mark_of(const YAML::Node& node) {
    const YAML::Mark mark = node.Mark();
    return mark.is_null() ? Mark{} : Mark{mark.line + 1, mark.column + 1};
}

void FieldReader::mapping(const YAML::Node& node, std::string_view what, const std::vector<Field>& fields) {
    if (!node.IsMap()) {
        complain(mark_of(node),
                 fmt::format("{} must be a mapping of keys to values, as in '{}: ...'", what, fields.front().key));
        return;
    }
    std::set<std::string> seen;
    for (const auto& entry : node) {
        if (!entry.first.IsScalar()) {
            complain(mark_of(entry.first), fmt::format("a key of {} must be a word", what));
            continue;
        }
        const std::string& key = entry.first.Scalar();
        const auto field = std::ranges::find(fields, std::string_view(key), &Field::key);
        if (field == fields.end()) {
            std::vector<std::string_view> known;
            for (const Field& each : fields) known.push_back(each.key);
            complain(mark_of(entry.first), fmt::format("unknown key '{}' in {}{}", key, what, advice(key, known)));
        } else if (!seen.insert(key).second) {
            complain(mark_of(entry.first), fmt::format("key '{}' of {} is given twice; keep one", key, what));
        } else {
            field->read(entry.second);
        }
    }
}

void FieldReader::list(const YAML::Node& node, std::string_view key,
                       const std::function<void(const YAML::Node&)>& read) {
    if (!node.IsSequence()) {
        complain(mark_of(node), fmt::format("'{}' must be a list, one '- ...' per element", key));
        return;
    }
    for (const YAML::Node& element : node) read(element);
}

std::optional<std::string> FieldReader::scalar(const YAML::Node& node, std::string_view key, std::string_view example) {
    if (node.IsScalar()) return node.Scalar();
    complain(mark_of(node), fmt::format("'{}' must be a single value, as in '{}: {}'", key, key, example));
    return std::nullopt;
}

void FieldReader::text(const YAML::Node& node, std::string_view key, std::string& target) {
    if (auto value = scalar(node, key, "name")) target = std::move(*value);
}

void FieldReader::flag(const YAML::Node& node, std::string_view key, bool& target) {
    const auto value = scalar(node, key, "true");
    if (!value) return;
    if (*value != "true" && *value != "false") {
        complain(mark_of(node), fmt::format("'{}' is not a value of '{}'; write true or false", *value, key));
        return;
    }
    target = *value == "true";
}

void FieldReader::size(const YAML::Node& node, std::string_view key, std::uint64_t& target) {
    const auto value = scalar(node, key, "32 KiB");
    if (!value) return;
    if (const auto bytes = parse_size(*value)) {
        target = *bytes;
    } else {
        complain(
            mark_of(node),
            fmt::format("'{}' is not a size for '{}'; write bytes or a number with KiB, MiB, GiB or TiB, as in 32 KiB",
                        *value, key));
    }
}

void FieldReader::whole(const YAML::Node& node, std::string_view key, std::uint64_t& target, std::uint64_t least,
                        std::uint64_t most) {
    const auto value = scalar(node, key, std::to_string(least));
    if (!value) return;
    std::uint64_t number = 0;
    const char* const end = value->data() + value->size();
    const bool hexadecimal = value->starts_with("0x");
    const auto [stop, error] =
        std::from_chars(value->data() + (hexadecimal ? 2 : 0), end, number, hexadecimal ? 16 : 10);
    if (error != std::errc() || stop != end || number < least || number > most) {
        complain(mark_of(node), fmt::format("'{}' is not a value of '{}'; write a whole number from {} to {}", *value,
                                            key, least, most));
        return;
    }
    target = number;
}

}  // namespace cachetally

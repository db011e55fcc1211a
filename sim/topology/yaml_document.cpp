// SPDX-License-Identifier: BSD-3-Clause
#include "sim/topology/yaml_document.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cachetally/topology.hpp"

namespace cachetally {
namespace {

constexpr int deepest = 16;

/// The rest of a text from a place on. Columns count characters, of one to four bytes.
std::string_view rest_from(std::string_view text, const YAML::Mark& mark) {
    for (int line = 0; line < mark.line; ++line) {
        const auto end = text.find('\n');
        if (end == text.npos) return {};
        text.remove_prefix(end + 1);
    }
    const auto continues = [&] { return !text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0U) == 0x80U; };
    for (int column = 0; column < mark.column && !text.empty(); ++column) {
        text.remove_prefix(1);
        while (continues()) text.remove_prefix(1);
    }
    return text;
}

/// Whether the quotation that begins at a place ends; true where none begins there.
bool ends_quotation(std::string_view text, const YAML::Mark& mark) {
    text = rest_from(text, mark);
    if (text.empty() || (text.front() != '"' && text.front() != '\'')) return true;
    const char quote = text.front();
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (quote == '"' && text[i] == '\\') {
            ++i;
        } else if (text[i] == quote) {
            if (quote == '"' || i + 1 == text.size() || text[i + 1] != quote) return true;
            ++i;  // '' stands for a quote
        }
    }
    return false;
}

/// What is wrong with the bytes of a text; nothing if that is reported elsewhere.
std::string fault_of_bytes(std::string_view text, const std::string& kind) {
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
        return "the file is in UTF-16 or UTF-32; write it in UTF-8, as by iconv -f UTF-16 -t UTF-8";
    if (text.find('\0') != text.npos)
        return fmt::format("the file holds zero bytes, as binary files and those in UTF-16 do; a {} is a text in UTF-8",
                           kind);
    return {};
}

/// The first tab in the indentation of a line, down to a line (counted from 0): where yaml-cpp complains of something
/// else, that is the reason.
std::optional<Mark> tab_before(std::string_view text, int last_line) {
    for (int line = 0; line <= last_line && !text.empty(); ++line) {
        const std::size_t tab = std::min(text.find_first_not_of(' '), text.size());
        if (tab < text.size() && text[tab] == '\t') return Mark{line + 1, static_cast<int>(tab) + 1};
        const std::size_t end = text.find('\n');
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    return std::nullopt;
}

/// Follows the events of a parser and stops it where nodes would be dangerous to build: yaml-cpp recurses over nesting,
/// and aliases make much of little.
class Guard : public YAML::EventHandler {
public:
    Guard(const std::string& file, const std::string& kind) : file_(file), kind_(kind) {}

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1)
            refuse(mark, fmt::format("a second document begins here; a {} is one document, without ---", kind_));
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { check(mark, "", anchor); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        refuse(mark, fmt::format("aliases (*name) are not for {}s; write the value out", kind_));
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string&) override {
        check(mark, tag, anchor);
        if (tag == "!") last_quoted_ = mark;
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        check(mark, tag, anchor);
        enter(mark);
    }
    void OnSequenceEnd() override { --depth_; }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        check(mark, tag, anchor);
        enter(mark);
    }
    void OnMapEnd() override { --depth_; }

    /// yaml-cpp takes the end of the file for the end of a quotation.
    void check_last_quotation(const std::string& text) const {
        if (!last_quoted_.is_null() && !ends_quotation(text, last_quoted_))
            refuse(last_quoted_, "this is not valid YAML: the quotation that begins here does not end");
    }

private:
    [[noreturn]] void refuse(const YAML::Mark& mark, std::string message) const {
        throw FileError(file_, {{mark_of(mark), std::move(message)}});
    }

    void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
        if (anchor != YAML::NullAnchor)
            refuse(mark, fmt::format("anchors (&name) are not for {}s; write the value out where it is needed", kind_));
        // "?" and "!" are what yaml-cpp says of plain and of quoted values without a tag.
        if (!tag.empty() && tag != "?" && tag != "!")
            refuse(mark, fmt::format("tags (!type) are not for {}s; remove it", kind_));
    }

    void enter(const YAML::Mark& mark) {
        if (++depth_ > deepest)
            refuse(mark, fmt::format("nested more than {} deep, which no {} needs", deepest, kind_));
    }

    const std::string& file_;
    const std::string& kind_;
    int depth_ = 0;
    int documents_ = 0;
    YAML::Mark last_quoted_ = YAML::Mark::null_mark();
};

}  // namespace

Mark mark_of(const YAML::Mark& mark) {
    return mark.is_null() ? Mark{1, 1} : Mark{std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1};
}

std::optional<std::string> read_yaml_file(const std::string& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::string text(largest_yaml_file + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad() || (file.gcount() == 0 && errno != 0)) return std::nullopt;
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

YAML::Node load_yaml(const std::string& text, const std::string& file, const std::string& kind) {
    if (text.size() > largest_yaml_file)
        throw FileError(file, {{{}, fmt::format("the file is larger than 1 MiB, which no {} is", kind)}});
    if (std::string fault = fault_of_bytes(text, kind); !fault.empty()) throw FileError(file, {{{}, std::move(fault)}});
    if (const std::size_t at = find_no_utf8(text); at != text.npos) {
        const std::string_view before = std::string_view(text).substr(0, at);
        const auto line = std::ranges::count(before, '\n'),
                   column = static_cast<std::ptrdiff_t>(at - (before.rfind('\n') + 1));
        throw FileError(file, {{{static_cast<int>(line) + 1, static_cast<int>(column) + 1},
                                "a byte here is no UTF-8; write the file in UTF-8, as by iconv -f LATIN1 -t UTF-8"}});
    }
    try {
        std::istringstream stream(text);
        YAML::Parser parser(stream);
        Guard guard(file, kind);
        while (parser.HandleNextDocument(guard)) {
        }
        guard.check_last_quotation(text);
        return YAML::Load(text);
    } catch (const YAML::Exception& error) {
        if (const auto tab = tab_before(text, error.mark.line))
            throw FileError(file, {{*tab, "this is not valid YAML: a tab in the indentation; write spaces"}});
        throw FileError(file, {{mark_of(error.mark), "this is not valid YAML: " + shown(error.msg)}});
    }
}

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
    const auto number = parse_whole(*value);
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

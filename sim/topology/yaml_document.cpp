// SPDX-License-Identifier: BSD-3-Clause
#include "sim/topology/yaml_document.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/text.hpp"
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
std::string_view fault_of_bytes(std::string_view text) {
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
        return "the file is in UTF-16 or UTF-32; write it in UTF-8, as by iconv -f UTF-16 -t UTF-8";
    if (text.find('\0') != text.npos)
        return "the file holds zero bytes, as binary files and those in UTF-16 do; a machine file is a text in UTF-8";
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
    explicit Guard(const std::string& file) : file_(file) {}

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1)
            refuse(mark, "a second document begins here; a machine file is one document, without ---");
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { check(mark, "", anchor); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        refuse(mark, "aliases (*name) are not for machine files; write the value out");
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
        throw MachineError(file_, {{mark_of(mark), std::move(message)}});
    }

    void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
        if (anchor != YAML::NullAnchor)
            refuse(mark, "anchors (&name) are not for machine files; write the value out where it is needed");
        // "?" and "!" are what yaml-cpp says of plain and of quoted values without a tag.
        if (!tag.empty() && tag != "?" && tag != "!") refuse(mark, "tags (!type) are not for machine files; remove it");
    }

    void enter(const YAML::Mark& mark) {
        if (++depth_ > deepest)
            refuse(mark, fmt::format("nested more than {} deep, which no machine file needs", deepest));
    }

    const std::string& file_;
    int depth_ = 0;
    int documents_ = 0;
    YAML::Mark last_quoted_ = YAML::Mark::null_mark();
};

}  // namespace

Mark mark_of(const YAML::Mark& mark) {
    return mark.is_null() ? Mark{1, 1} : Mark{std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1};
}

YAML::Node load_yaml(const std::string& text, const std::string& file) {
    if (text.size() > largest_machine_file)
        throw MachineError(file, {{{}, "the file is larger than 1 MiB, which no machine file is"}});
    if (const std::string_view fault = fault_of_bytes(text); !fault.empty())
        throw MachineError(file, {{{}, std::string(fault)}});
    if (const std::size_t at = find_no_utf8(text); at != text.npos) {
        const std::string_view before = std::string_view(text).substr(0, at);
        const auto line = std::ranges::count(before, '\n'),
                   column = static_cast<std::ptrdiff_t>(at - (before.rfind('\n') + 1));
        throw MachineError(file,
                           {{{static_cast<int>(line) + 1, static_cast<int>(column) + 1},
                             "a byte here is no UTF-8; write the file in UTF-8, as by iconv -f LATIN1 -t UTF-8"}});
    }
    try {
        std::istringstream stream(text);
        YAML::Parser parser(stream);
        Guard guard(file);
        while (parser.HandleNextDocument(guard)) {
        }
        guard.check_last_quotation(text);
        return YAML::Load(text);
    } catch (const YAML::Exception& error) {
        if (const auto tab = tab_before(text, error.mark.line))
            throw MachineError(file, {{*tab, "this is not valid YAML: a tab in the indentation; write spaces"}});
        throw MachineError(file, {{mark_of(error.mark), "this is not valid YAML: " + shown(error.msg)}});
    }
}

}  // namespace cachetally

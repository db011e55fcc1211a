// SPDX-License-Identifier: BSD-3-Clause
// Machine descriptions to machine files: only what differs from the defaults, in flow style, one component a line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/units.hpp"
#include "cachetally/topology.hpp"
#include "sim/topology/machine_keys.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (code < 0x20 || code == 0x7F) {
            out += fmt::format("\\x{:02x}", code);
        } else {
            out += c;
        }
    }
    return out + '"';
}

/// Without quotes where the reader takes it for the same word.
std::string plain(std::string_view text) {
    const auto is_alnum = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    const auto is_tame = [&](char c) { return is_alnum(c) || std::string_view("_.+-").find(c) != text.npos; };
    const bool tame = !text.empty() && is_alnum(text.front()) && std::ranges::all_of(text, is_tame);
    const bool null = text == "null" || text == "Null" || text == "NULL";
    return tame && !null ? std::string(text) : in_quotes(text);
}

/// "{name: L1, size: 32 KiB}"
std::string in_braces(const std::vector<std::string>& pairs) { return fmt::format("{{{}}}", fmt::join(pairs, ", ")); }

/// Writes the members of a part as pairs of key and value, in order.
class WriteKeys {
public:
    struct Pair {
        std::string_view key;
        std::string text;
        bool always = false;
    };
    const std::vector<Pair>& pairs() const { return pairs_; }

    bool all() const { return false; }

    void text(std::string_view key, const std::string& value, const char*, Need need = Need::optional) {
        add(key, plain(value), need);
    }
    template <class Integer>
    void whole(std::string_view key, Integer value, std::uint64_t, std::uint64_t, Need need = Need::optional) {
        add(key, std::to_string(value), need);
    }
    void whole_or(const char* word, std::string_view key, unsigned value, std::uint64_t, const char*, Need need) {
        add(key, value == 0 ? word : std::to_string(value), need);
    }
    void flag(std::string_view key, bool value) { add(key, value ? "true" : "false", Need::optional); }
    template <class Enum>
    void choice(std::string_view key, Enum value, Need need = Need::optional) {
        add(key, std::string(name_of(value)), need);
    }
    void size(std::string_view key, std::uint64_t value, Need need = Need::optional) {
        add(key, format_size(value), need);
    }
    void size(std::string_view key, unsigned value) { add(key, std::to_string(value), Need::optional); }
    void sizes(std::string_view key, const std::vector<std::uint64_t>& values) {
        std::vector<std::string> texts;
        for (const std::uint64_t value : values) texts.push_back(format_size(value));
        add(key, fmt::format("[{}]", fmt::join(texts, ", ")), Need::optional);
    }
    void wholes(std::string_view key, const std::vector<unsigned>& values, std::uint64_t, std::uint64_t) {
        add(key, fmt::format("[{}]", fmt::join(values, ", ")), Need::optional);
    }
    void address(std::string_view key, Address value) { add(key, fmt::format("{:#x}", value), Need::required); }
    template <class Part>
    void list(std::string_view key, const std::vector<Part>& parts, MappingKind) {
        std::vector<std::string> texts;
        for (const Part& part : parts) texts.push_back(text_of(part));
        add(key, fmt::format("[{}]", fmt::join(texts, ", ")), Need::optional);
    }
    template <class Visit>
    void mapping(std::string_view key, MappingKind, Visit visit_members) {
        WriteKeys inner;
        visit_members(inner);
        inner_[key] = inner.pairs_;
        add(key, "", Need::optional);
    }
    void kind_or_mapping(std::string_view key, MappingKind kind, PrefetchConfig& prefetch) {
        mapping(key, kind, [&](auto& inner) { visit(inner, prefetch); });
    }

    /// What differs from the pairs of `standard`, or is always written.
    std::vector<std::string> difference(const WriteKeys& standard) const {
        std::vector<std::string> texts;
        for (const Pair& pair : pairs_) {
            const auto inner = inner_.find(pair.key);
            if (inner != inner_.end()) {
                const std::vector<std::string> members = unlike(inner->second, standard.inner_.at(pair.key));
                if (!members.empty()) texts.push_back(fmt::format("{}: {}", pair.key, in_braces(members)));
            } else {
                for (std::string& text : unlike({pair}, standard.pairs_)) texts.push_back(std::move(text));
            }
        }
        return texts;
    }

    template <class Part, class... Settings>
    static std::string text_of(Part part, Settings... settings) {
        Part standard;
        WriteKeys keys, usual;
        visit(keys, part, settings...);
        visit(usual, standard, settings...);
        return in_braces(keys.difference(usual));
    }

private:
    void add(std::string_view key, std::string text, Need need) {
        pairs_.push_back({key, std::move(text), need != Need::optional});
    }

    static std::vector<std::string> unlike(const std::vector<Pair>& pairs, const std::vector<Pair>& standard) {
        std::vector<std::string> texts;
        for (const Pair& pair : pairs) {
            const auto usual = std::ranges::find(standard, pair.key, &Pair::key);
            if (pair.always || usual == standard.end() || usual->text != pair.text)
                texts.push_back(fmt::format("{}: {}", pair.key, pair.text));
        }
        return texts;
    }

    std::vector<Pair> pairs_;
    std::map<std::string_view, std::vector<Pair>> inner_;
};

std::string text_of(const MonitorEntry& monitor) {
    std::vector<std::string> pairs;
    for (const MonitorEntry::Setting& setting : monitor.settings)
        pairs.push_back(fmt::format("{}: {}", plain(setting.key), plain(setting.value)));
    return in_braces(pairs);
}

template <class Part, class... Settings>
std::string text_of(const Part& part, Settings... settings) {
    return WriteKeys::text_of(part, settings...);
}

template <class Part, class... Settings>
std::string list(std::string_view key, const std::vector<Part>& parts, Settings... settings) {
    std::string text;
    if (!parts.empty()) text = fmt::format("{}:\n", key);
    for (const Part& part : parts) text += fmt::format("  - {}\n", text_of(part, settings...));
    return text;
}

}  // namespace

std::string write_machine(const MachineDescription& machine) {
    const MachineDescription standard;
    std::string text;
    if (!machine.name.empty()) text += fmt::format("name: {}\n", plain(machine.name));
    if (!machine.description.empty()) text += fmt::format("description: {}\n", in_quotes(machine.description));
    if (!machine.source.empty()) text += fmt::format("source: {}\n", in_quotes(machine.source));
    if (machine.period != standard.period) text += fmt::format("clock: {}\n", format_frequency(machine.period));
    if (machine.cores != standard.cores) text += fmt::format("cores: {}\n", machine.cores);
    text += list("caches", machine.caches);
    if (machine.coherence.protocol != Protocol::none)
        text += fmt::format("coherence: {}\n", text_of(machine.coherence));
    text += list("tlbs", machine.tlbs);
    if (const std::string pages = text_of(machine.pages, !machine.tlbs.empty()); pages != "{}")
        text += fmt::format("pages: {}\n", pages);
    if (machine.has_nodes()) text += fmt::format("numa: {}\n", text_of(machine.numa));
    if (machine.has_nodes() || machine.memories != std::vector{MemoryConfig{}})
        text += list("memories", machine.memories, true, machine.has_nodes());
    text += list("monitors", machine.monitors);
    return text.empty() ? "{}\n" : text;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "campaign/campaign_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "sim/topology/yaml_document.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t longest_range = 100'000;
constexpr std::uint64_t largest_exact = std::uint64_t{1} << 53;  ///< of doubles, which tables have

/// "1-4" as four values; nothing where the text is none.
std::optional<std::pair<std::uint64_t, std::uint64_t>> range_of(const std::string& text) {
    const auto dash = text.find('-');
    if (dash == std::string::npos || text.find_first_not_of("0123456789-") != std::string::npos) return std::nullopt;
    const auto first = parse_number(std::string_view(text).substr(0, dash)),
               last = parse_number(std::string_view(text).substr(dash + 1));
    if (!first || !last) return std::nullopt;
    return std::pair(*first, *last);
}

struct Sign {
    std::string_view text;
    Condition::Relation relation;
};
constexpr Sign signs[] = {
    {"<=", Condition::Relation::at_most}, {">=", Condition::Relation::at_least}, {"==", Condition::Relation::equal},
    {"!=", Condition::Relation::unequal}, {"<", Condition::Relation::less},      {">", Condition::Relation::more},
};

std::vector<std::string> factors_of(std::string_view text) {
    std::vector<std::string> factors;
    for (const std::string_view each : split(text, '*')) factors.emplace_back(trimmed(each));
    return factors;
}

class CampaignReader : public FieldReader {
public:
    explicit CampaignReader(CampaignFile& file) : file_(file) {}

    void read(const YAML::Node& root) {
        mapping(root, {"a campaign file", "workloads: [lu]"},
                {{"name", [&](const auto& node) { text(node, "name", "counters", file_.name); }},
                 {"machines", [&](const auto& node) { machines(node); }, true},
                 {"workloads", [&](const auto& node) { workloads(node); }, true},
                 {"monitors", [&](const auto& node) { monitors(node); }},
                 {"seeds", [&](const auto& node) { seeds(node); }},
                 {"where", [&](const auto& node) { conditions(node); }},
                 {"draw", [&](const auto& node) { draw(node); }},
                 {"count", [&](const auto& node) { references(node, "count", file_.count); }},
                 {"warmup", [&](const auto& node) { references(node, "warmup", file_.warmup); }},
                 {"slowdown", [&](const auto& node) { flag(node, "slowdown", file_.slowdown); }}});
    }

    /// What only all of the file tells.
    void check_whole() {
        for (const auto* entries : {&file_.machines, &file_.workloads, &file_.monitors})
            for (auto entry = entries->begin(); entry != entries->end(); ++entry)
                if (std::any_of(entries->begin(), entry, [&](const auto& other) { return is_same(*entry, other); }))
                    complain(entry->mark, "this is in the list already; keep one");
        const bool monitored =
            std::ranges::any_of(file_.monitors, [](const CampaignEntry& entry) { return entry.name != "none"; });
        if (file_.slowdown && !monitored && diagnostics().empty())
            complain({1, 1}, "'slowdown' is of monitors, and there is none; write 'monitors'");
    }

private:
    static bool is_same(const CampaignEntry& a, const CampaignEntry& b) {
        return a.name == b.name && a.is_trace == b.is_trace &&
               std::ranges::equal(a.set, b.set, [](const Varied& x, const Varied& y) {
                   return x.key == y.key && x.values == y.values;
               });
    }

    /// A list of values, or one.
    std::vector<std::string> values(const YAML::Node& node, std::string_view key) {
        std::vector<std::string> found;
        const auto add = [&](const YAML::Node& each) {
            const auto value = scalar(each, key, "[1, 2]");
            if (!value) return;
            const auto range = range_of(*value);
            if (!range) {
                found.push_back(*value);
            } else if (range->first > range->second || range->second - range->first >= longest_range) {
                complain(mark_of(each), "'{}' is no range of '{}'; write FIRST-LAST, as in 1-4, of at most {} values",
                         shown(*value), shown(key), longest_range);
            } else {
                for (std::uint64_t i = range->first; i <= range->second; ++i) found.push_back(std::to_string(i));
            }
        };
        if (node.IsSequence()) {
            for (const YAML::Node& each : node) add(each);
            if (node.size() == 0)
                complain(mark_of(node), "'{}' has no values; write some, or leave it out", shown(key));
        } else {
            add(node);
        }
        std::map<std::string, std::string_view> seen;  // 32768 is 32 KiB
        for (const std::string& value : found) {
            if (const auto whole = parse_whole(value); whole && *whole > largest_exact)
                complain(mark_of(node),
                         "'{}': {} is above 2^53 = {}, beyond which the numbers of the table are not exact", shown(key),
                         shown(value), largest_exact);
            const auto number = campaign_number(value);
            const auto [first, is_new] = seen.try_emplace(number ? fmt::format("{}", *number) : value, value);
            if (is_new) continue;
            complain(mark_of(node), "'{}' has the value '{}' twice{}; keep one", shown(key), shown(value),
                     first->second == value ? "" : fmt::format(", also as '{}'", shown(std::string(first->second))));
        }
        return found;
    }

    std::vector<Varied> set(const YAML::Node& node) {
        std::vector<Varied> all;
        if (!node.IsMap()) {
            complain(mark_of(node), "'set' is a mapping of keys to values, as in 'set: {{n: [64, 128]}}'");
            return all;
        }
        for (const auto& entry : node) {
            if (!entry.first.IsScalar()) {
                complain(mark_of(entry.first), "a key of 'set' is a word, as in 'set: {{n: [64, 128]}}'");
                continue;
            }
            const std::string& key = entry.first.Scalar();
            if (std::ranges::find(all, key, &Varied::key) != all.end())
                complain(mark_of(entry.first), "key '{}' of 'set' is given twice; keep one", shown(key));
            all.push_back({key, values(entry.second, key), mark_of(entry.second)});
        }
        return all;
    }

    /// An element of a list: a name alone, or a mapping with it under one of `keys`, and what is set.
    void entry(const YAML::Node& node, const char* kind, const char* example, std::vector<std::string_view> keys,
               std::vector<CampaignEntry>& target) {
        CampaignEntry found;
        found.mark = mark_of(node);
        if (node.IsScalar()) {
            found.name = node.Scalar();
        } else {
            std::vector<Field> fields{{"set", [&](const auto& value) { found.set = set(value); }}};
            for (const std::string_view key : keys)
                fields.push_back({key, [&, key](const auto& value) {
                                      if (!found.name.empty())
                                          complain(mark_of(value), "{} has one of '{}'; remove the others", kind,
                                                   fmt::join(keys, "' and '"));
                                      text(value, key, "lu", found.name);
                                      found.is_trace = key == "trace";
                                  }});
            const std::size_t before = diagnostics().size();
            mapping(node, {kind, example}, fields);
            if (found.name.empty() && !keys.empty() && before == diagnostics().size())
                complain(found.mark, "{} needs a name, as in '{}'", kind, example);
        }
        target.push_back(std::move(found));
    }

    void machines(const YAML::Node& node) {
        list(node, "machines", [&](const auto& each) {
            entry(each, "a machine of a campaign", "{machine: generic3, set: {L2.size: [256 KiB, 512 KiB]}}",
                  {"machine"}, file_.machines);
        });
        if (node.IsSequence() && node.size() == 0)
            complain(mark_of(node), "'machines' names none; write one, as in [generic3]");
    }

    void workloads(const YAML::Node& node) {
        list(node, "workloads", [&](const auto& each) {
            entry(each, "a workload of a campaign", "{run: lu, set: {n: [64, 128]}}", {"run", "trace"},
                  file_.workloads);
        });
        if (node.IsSequence() && node.size() == 0)
            complain(mark_of(node), "'workloads' names none; write one, as in [lu]");
    }

    void monitors(const YAML::Node& node) {
        list(node, "monitors", [&](const auto& each) {
            entry(each, "a monitor of a campaign", "{set: {counters: [16, 32], granularity: 1-4}}", {}, file_.monitors);
            if (const std::string& name = file_.monitors.back().name; !name.empty() && name != "none")
                complain(mark_of(each),
                         "'{}' is no monitor of a campaign; write none, or what is set, as in "
                         "{{set: {{counters: [16, 32]}}}}",
                         shown(name));
        });
    }

    void seeds(const YAML::Node& node) {
        for (const std::string& text : values(node, "seeds")) {
            const auto seed = parse_number(text);
            if (!seed) complain(mark_of(node), "'{}' is no seed; write whole numbers, as in 1-10", shown(text));
            file_.seeds.push_back(seed.value_or(0));
        }
    }

    void conditions(const YAML::Node& node) {
        for (const YAML::Node& each : node.IsScalar() ? std::vector<YAML::Node>{node} : elements(node)) {
            const auto text = scalar(each, "where", "L2.size < 1 MiB");
            if (text) condition(*text, mark_of(each));
        }
    }

    std::vector<YAML::Node> elements(const YAML::Node& node) {
        std::vector<YAML::Node> all;
        list(node, "where", [&](const auto& each) { all.push_back(each); });
        return all;
    }

    void condition(const std::string& text, const Mark& mark) {
        for (const Sign& sign : signs) {
            const auto place = text.find(sign.text);
            if (place == std::string::npos) continue;
            Condition found{factors_of(std::string_view(text).substr(0, place)),
                            factors_of(std::string_view(text).substr(place + sign.text.size())), sign.relation, text,
                            mark};
            const auto blank = [](const std::string& factor) { return factor.empty(); };
            if (std::ranges::any_of(found.left, blank) || std::ranges::any_of(found.right, blank)) break;
            file_.where.push_back(std::move(found));
            return;
        }
        complain(mark,
                 "'{}' is no condition; write two sides with <, <=, >, >=, == or != between them, as in "
                 "'L2.size < 1 MiB' or 'counters * granularity <= 256'",
                 shown(text));
    }

    void draw(const YAML::Node& node) {
        RandomDraw drawn;
        mapping(node, {"'draw'", "{points: 1000, seed: 1}"},
                {{"points", [&](const auto& value) { whole(value, "points", drawn.points, 1, 10'000'000); }, true},
                 {"seed", [&](const auto& value) { whole(value, "seed", drawn.seed, 0, ~std::uint64_t{0}); }}});
        file_.draw = drawn;
    }

    void references(const YAML::Node& node, std::string_view key, std::uint64_t& target) {
        const auto value = scalar(node, key, "1M");
        if (!value) return;
        if (const auto number = parse_whole(*value)) {
            target = *number;
        } else {
            complain(mark_of(node), "'{}' is no number of references for '{}'; write one, as in 1000000 or 1M",
                     shown(*value), key);
        }
    }

    CampaignFile& file_;
};

}  // namespace

std::optional<double> campaign_number(const std::string& text) {
    if (const auto whole = parse_whole(text)) return static_cast<double>(*whole);
    if (const auto frequency = parse_frequency(text)) return frequency;
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

CampaignFile parse_campaign_file(const std::string& text, const std::string& path) {
    CampaignFile file;
    file.path = path;
    file.text = text;
    CampaignReader reader(file);
    reader.read(load_yaml(text, path, "campaign file"));
    reader.check_whole();
    if (!reader.diagnostics().empty()) throw FileError(path, reader.diagnostics());
    if (file.name.empty()) file.name = std::filesystem::path(path).stem().string();
    if (file.monitors.empty()) file.monitors.push_back({"none", false, {}, {}});
    return file;
}

}  // namespace cachetally

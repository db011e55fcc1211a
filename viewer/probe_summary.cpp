// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/probe_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "base/units.hpp"
#include "probes/validation/truth.hpp"
#include "sim/topology/host_machine.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

/// Parameters in the order in which a line names them.
constexpr std::array<std::string_view, 11> in_order = {"capacity",       "entries",   "ways",        "line",
                                                       "latency",        "inclusion", "replacement", "write",
                                                       "write_allocate", "prefetch",  "shared_among"};

/// Parameters that have a column each in a table of their own, and the titles of these.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> in_columns = {
    {{"parallelism", "loads at a time"},
     {"read_bandwidth", "read B/cycle"},
     {"write_bandwidth", "write B/cycle"},
     {"copy_bandwidth", "copy B/cycle"}}};

bool is_stated(const Fact& fact) {
    return fact.parameter == "capacity" || fact.parameter == "entries" || fact.parameter == "ways" ||
           fact.parameter == "line" || fact.parameter == "shared_among";
}

/// "L1" before "L2" before "memory" before "TLB1".
int rank_of(const std::string& level) {
    const int base = level.starts_with("TLB") ? 200 : level.starts_with("transfer") ? 150 : level == "memory" ? 100 : 0;
    return base + (level.empty() || level.back() < '0' || level.back() > '9' ? 0 : level.back() - '0');
}

struct BeforeInHierarchy {
    bool operator()(const std::string& a, const std::string& b) const {
        return std::pair(rank_of(a), a) < std::pair(rank_of(b), b);
    }
};

/// "0+1+4-7" as "0-1,4-7". What is no such list is left as it is.
std::string list_of_processors(const std::string& group) {
    struct Range {
        std::string first, last;
    };
    std::vector<Range> ranges;
    std::istringstream parts(group);
    for (std::string part; std::getline(parts, part, '+');) {
        const std::size_t dash = part.find('-');
        const Range range{part.substr(0, dash), dash == std::string::npos ? part : part.substr(dash + 1)};
        const auto number = parse_number(range.first);
        const auto before = ranges.empty() ? std::nullopt : parse_number(ranges.back().last);
        if (number && before && *number == *before + 1)
            ranges.back().last = range.last;
        else
            ranges.push_back(range);
    }
    std::vector<std::string> words;
    for (const Range& range : ranges)
        words.push_back(range.first == range.last ? range.first : range.first + '-' + range.last);
    return fmt::format("{}", fmt::join(words, ","));
}

constexpr std::size_t most_groups = 4;  ///< of processors that a line names

/// "private", "shared by 0-1 2-3", "shared by 0,64 1,65 2,66 3,67 and 60 more groups": lists as in the system's
/// shared_cpu_list, of what findings have as "0+1 2+3", "0+64 1+65 ...".
std::string shared_in_words(const std::string& among) {
    if (among.find_first_of("+-") == std::string::npos) return "private";
    std::vector<std::string> groups;
    std::istringstream words(among);
    for (std::string group; words >> group;) groups.push_back(list_of_processors(group));
    const std::size_t shown = groups.size() > most_groups + 1 ? most_groups : groups.size();
    const std::string first = fmt::format("shared by {}", fmt::join(groups.begin(), groups.begin() + shown, " "));
    return shown == groups.size() ? first : fmt::format("{} and {} more groups", first, groups.size() - shown);
}

/// A value without what it is of.
std::string value_in_words(const Finding& finding) {
    if (finding.parameter == "shared_among") return shared_in_words(finding.value->word);
    return is_whole(finding.parameter) ? found_in_words(finding) : fmt::format("{:.2f}", finding.value->number);
}

/// "8 ways", "lines of 64 B", "4.00 cycles", "write-back", "no write-allocate", "stream prefetcher".
std::string in_words(const std::string& parameter, const std::string& value) {
    if (parameter == "line") return "lines of " + value + " B";
    if (parameter == "latency") return value + " cycles";
    if (parameter == "write") return value == "write_back" ? "write-back" : "write-through";
    if (parameter == "write_allocate") return value == "true" ? "write-allocate" : "no write-allocate";
    if (parameter == "prefetch") return (value == "none" ? "no" : value) + " prefetcher";
    if (parameter == "ways" || parameter == "entries") return value + ' ' + parameter;
    return value;
}

bool contradict(const Finding& a, const Finding& b) {
    if (!a.value->word.empty() || !b.value->word.empty()) return *a.value != *b.value;
    const double slack = a.parameter == "latency" ? 0.05 * a.value->number : 0;
    return a.low > b.high + slack || b.low > a.high + slack;
}

/// What is known of one level: the answers, narrowest first, by parameter.
using Answers = std::map<std::string, std::vector<const Finding*>>;

std::string found_in_line(const Answers& answers) {
    std::vector<std::string> parts;
    for (const std::string_view parameter : in_order) {
        const auto known = answers.find(std::string(parameter));
        if (known == answers.end()) continue;
        const Finding& best = *known->second.front();
        std::string value = value_in_words(best);
        for (const Finding* other : known->second)
            if (contradict(best, *other))
                value +=
                    fmt::format(" or {} ({} and {} contradict each other)",
                                other->parameter == "shared_among" ? value_in_words(*other) : found_in_words(*other),
                                best.test, other->test);
        parts.push_back(in_words(best.parameter, value));
        if (best.level.starts_with("transfer")) parts.back() += " for a line from one processor to another";
    }
    return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string stated_in_line(const std::vector<Fact>& facts, const std::string& level) {
    std::vector<std::string> parts;
    for (const std::string_view parameter : in_order)
        for (const Fact& fact : facts)
            if (fact.level == level && fact.parameter == parameter && is_stated(fact)) {
                const bool bytes = parameter == "capacity";
                if (!fact.value.word.empty()) {
                    parts.push_back(parameter == "shared_among" ? shared_in_words(fact.value.word) : fact.value.word);
                    continue;
                }
                const auto number = static_cast<std::uint64_t>(fact.value.number);
                parts.push_back(in_words(fact.parameter, bytes ? format_size(number) : fmt::format("{}", number)));
            }
    return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, ", "));
}

using Levels = std::map<std::string, Answers, BeforeInHierarchy>;

/// How much levels give at a time; empty where that is known of none.
std::string throughput(const Levels& levels, unsigned width) {
    std::vector<TextTable::Column> columns{{"level", TextTable::Align::left}};
    for (const auto& [parameter, title] : in_columns) columns.push_back({std::string(title)});
    TextTable table(std::move(columns), 1);
    bool any = false;
    for (const auto& [level, answers] : levels) {
        std::vector<Cell> cells{level};
        bool known = false;
        for (const auto& [parameter, title] : in_columns) {
            const auto found = answers.find(std::string(parameter));
            known = known || found != answers.end();
            cells.emplace_back(found == answers.end() ? "-"
                                                      : fmt::format("{:.1f}", found->second.front()->value->number));
        }
        if (known) table.add(std::move(cells));
        any = any || known;
    }
    return any ? '\n' + table.text(width) : "";
}

/// Whether who shares the level was found otherwise than it is stated.
bool shared_otherwise(const Answers& answers, std::span<const Fact> sharing, const std::string& level) {
    const auto found = answers.find("shared_among");
    const auto fact = std::ranges::find(sharing, level, &Fact::level);
    return found != answers.end() && fact != sharing.end() && *found->second.front()->value != fact->value;
}

}  // namespace

std::string probe_summary(std::span<const TestReport> reports, const MachineDescription* stated, unsigned width,
                          std::span<const Fact> sharing) {
    const bool robust = std::ranges::any_of(reports, [](const TestReport& each) { return each.variant == "robust"; });
    Levels levels;
    for (const TestReport& report : reports) {
        if (robust && report.variant != "robust") continue;
        for (const Finding& finding : report.findings) {
            if (finding.level.empty()) continue;
            Answers& answers = levels[finding.level];
            if (finding.value) answers[finding.parameter].push_back(&finding);
        }
    }
    std::vector<Fact> facts = stated == nullptr ? std::vector<Fact>{} : facts_of(*stated);
    std::erase_if(facts, [&](const Fact& fact) { return is_assumed(*stated, fact.level); });
    if (stated != nullptr) facts.insert(facts.end(), sharing.begin(), sharing.end());
    for (const Fact& fact : facts)
        if (is_stated(fact)) levels[fact.level];
    if (levels.empty()) return "";
    constexpr auto left = TextTable::Align::left;
    std::vector<TextTable::Column> columns{{"level", left}, {"found", left}};
    if (stated != nullptr) columns.push_back({"stated by the machine", left});
    TextTable table(std::move(columns), 1);
    for (auto& [level, answers] : levels) {
        for (auto& [parameter, findings] : answers)
            std::ranges::stable_sort(findings, {}, [](const Finding* each) { return each->high - each->low; });
        std::vector<Cell> cells{
            level, found_in_line(answers) + (shared_otherwise(answers, sharing, level) ? " (stated otherwise)" : "")};
        if (stated != nullptr) cells.emplace_back(stated_in_line(facts, level));
        table.add(std::move(cells));
    }
    return table.text(width) + throughput(levels, width);
}

}  // namespace cachetally

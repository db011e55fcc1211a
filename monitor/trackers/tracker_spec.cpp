// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/trackers/tracker_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "base/text.hpp"
#include "base/units.hpp"
#include "monitor/hardware_cost.hpp"

namespace cachetally {
namespace {

constexpr std::string_view tracker_names[] = {"space_saving", "count_min", "sampling", "hotness"};
constexpr std::uint64_t most_events = std::uint64_t{1} << 40;

constexpr unsigned of(TrackerKind kind) { return 1U << static_cast<unsigned>(kind); }
constexpr unsigned saving = of(TrackerKind::space_saving), sketch = of(TrackerKind::count_min),
                   sampled = of(TrackerKind::sampling), hot = of(TrackerKind::hotness);

using Spec = TrackerSpec;

/// A setting: for which kinds it means something, and how it is read and written.
struct TrackerKey {
    std::string_view name;
    unsigned kinds;
    void (*read)(Spec&, std::string_view);
    std::string (*write)(const Spec&);
};

[[noreturn]] void reject_tracker(const std::string& message) { throw SpecError("tracker: ", message, {}); }

std::uint64_t whole(std::string_view text, std::uint64_t least, std::uint64_t most) {
    const auto value = parse_whole(text);
    if (!value) reject_tracker(fmt::format("'{}' is not a whole number; write {} to {}", text, least, most));
    if (*value < least || *value > most)
        reject_tracker(fmt::format("{} is out of range; write {} to {}", text, least, most));
    return *value;
}

std::uint32_t whole_small(std::string_view text, std::uint64_t least, std::uint64_t most) {
    return static_cast<std::uint32_t>(whole(text, least, most));
}

bool on_or_off(std::string_view text) {
    if (text != "on" && text != "off") reject_tracker(fmt::format("'{}' is not a choice here; write on or off", text));
    return text == "on";
}

std::vector<std::uint32_t> block_numbers(std::string_view text) {
    std::vector<std::uint32_t> blocks;
    for (std::size_t plus; (plus = text.find('+')) != std::string_view::npos; text.remove_prefix(plus + 1))
        blocks.push_back(whole_small(text.substr(0, plus), 0, ~std::uint32_t{0}));
    blocks.push_back(whole_small(text, 0, ~std::uint32_t{0}));
    return blocks;
}

TrackerKind kind_named(std::string_view text) {
    const auto found = std::ranges::find(tracker_names, text);
    if (found == std::end(tracker_names))
        reject_tracker(fmt::format("there is no kind '{}'{}", text, advice(text, tracker_names)));
    return static_cast<TrackerKind>(found - std::begin(tracker_names));
}

const TrackerKey tracker_keys[] = {
    {"counters", saving | sketch | hot,
     [](Spec& s, std::string_view t) { s.counters = whole_small(t, 1, most_tracker_entries); },
     [](const Spec& s) { return std::to_string(s.counters); }},
    {"width", saving | sketch | hot, [](Spec& s, std::string_view t) { s.width = whole_small(t, 1, 64); },
     [](const Spec& s) { return std::to_string(s.width); }},
    {"rows", sketch, [](Spec& s, std::string_view t) { s.rows = whole_small(t, 1, 64); },
     [](const Spec& s) { return std::to_string(s.rows); }},
    {"columns", sketch, [](Spec& s, std::string_view t) { s.columns = whole_small(t, 1, most_tracker_entries); },
     [](const Spec& s) { return std::to_string(s.columns); }},
    {"period", sampled, [](Spec& s, std::string_view t) { s.period = whole(t, 1, std::uint64_t{1} << 30); },
     [](const Spec& s) { return std::to_string(s.period); }},
    {"random", sampled | hot, [](Spec& s, std::string_view t) { s.random = on_or_off(t); },
     [](const Spec& s) { return std::string(s.random ? "on" : "off"); }},
    {"epoch", saving | sketch | hot, [](Spec& s, std::string_view t) { s.epoch = whole(t, 0, most_events); },
     [](const Spec& s) { return std::to_string(s.epoch); }},
    {"always_on", hot, [](Spec& s, std::string_view t) { s.always_on = on_or_off(t); },
     [](const Spec& s) { return std::string(s.always_on ? "on" : "off"); }},
    {"threshold", hot, [](Spec& s, std::string_view t) { s.threshold = whole_small(t, 1, 1U << 31); },
     [](const Spec& s) { return std::to_string(s.threshold); }},
    {"list", hot, [](Spec& s, std::string_view t) { s.list = whole_small(t, 1, most_tracker_entries); },
     [](const Spec& s) { return std::to_string(s.list); }},
    {"watermark", hot, [](Spec& s, std::string_view t) { s.watermark = whole_small(t, 0, most_tracker_entries); },
     [](const Spec& s) { return std::to_string(s.watermark); }},
    {"delay", hot, [](Spec& s, std::string_view t) { s.delay = whole(t, 0, most_events); },
     [](const Spec& s) { return std::to_string(s.delay); }},
    {"down_sampling", hot, [](Spec& s, std::string_view t) { s.down_sampling = whole_small(t, 1, 32768); },
     [](const Spec& s) { return std::to_string(s.down_sampling); }},
    {"blocks", hot, [](Spec& s, std::string_view t) { s.blocks = block_numbers(t); },
     [](const Spec& s) { return fmt::format("{}", fmt::join(s.blocks, "+")); }},
    {"seed", sketch | sampled | hot, [](Spec& s, std::string_view t) { s.seed = whole(t, 0, ~std::uint64_t{0}); },
     [](const Spec& s) { return std::to_string(s.seed); }},
};

void read_setting(Spec& spec, std::string_view name, std::string_view value) {
    const auto key = std::ranges::find(tracker_keys, name, &TrackerKey::name);
    if (key == std::end(tracker_keys) || (key->kinds & of(spec.kind)) == 0) {
        std::vector<std::string_view> names;
        for (const TrackerKey& each : tracker_keys)
            if ((each.kinds & of(spec.kind)) != 0) names.push_back(each.name);
        reject_tracker(fmt::format("kind {} has no '{}'{}", to_string(spec.kind), name, advice(name, names)));
    }
    try {
        key->read(spec, value);
    } catch (const SpecError& error) {
        reject_tracker(fmt::format("{}: {}", name, error.message()));
    }
}

}  // namespace

std::string_view to_string(TrackerKind kind) { return tracker_names[static_cast<unsigned>(kind)]; }

TrackerSpec parse_tracker(std::string_view text) {
    TrackerSpec spec;
    std::vector<std::string_view> seen;
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view setting = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), setting.size() + 1));
        const auto equals = setting.find('=');
        if (equals == std::string_view::npos)
            reject_tracker(
                fmt::format("'{}' is not a setting; write KEY=VALUE, e.g. kind=count_min,counters=64", setting));
        const std::string_view name = setting.substr(0, equals), value = setting.substr(equals + 1);
        if (std::ranges::find(seen, name) != seen.end())
            reject_tracker(fmt::format("'{}' is given twice; keep one", name));
        if (seen.empty() != (name == "kind")) reject_tracker("write 'kind' first, as in kind=count_min,counters=64");
        seen.push_back(name);
        if (name == "kind")
            spec.kind = kind_named(value);
        else
            read_setting(spec, name, value);
    }
    if (seen.empty()) reject_tracker("write a kind, as in kind=count_min,counters=64");
    validate(spec);
    return spec;
}

std::string to_string(const TrackerSpec& spec) {
    static const TrackerSpec standard;
    std::string text = fmt::format("kind={}", to_string(spec.kind));
    for (const TrackerKey& key : tracker_keys)
        if ((key.kinds & of(spec.kind)) != 0 && key.write(spec) != key.write(standard))
            text += fmt::format(",{}={}", key.name, key.write(spec));
    return text;
}

void validate(const TrackerSpec& spec) {
    if (spec.counters == 0 || spec.rows == 0 || spec.period == 0 || spec.list == 0 || spec.threshold == 0)
        reject_tracker("counters, rows, period, list and threshold are at least 1");
    if (spec.width < 1 || spec.width > 64)
        reject_tracker(fmt::format("a counter of {} bits; write 1 to 64", spec.width));
    if (!is_power_of_two(spec.columns)) reject_tracker(fmt::format("columns: {} is not a power of two", spec.columns));
    if (!is_power_of_two(spec.down_sampling) || spec.down_sampling > 32768)
        reject_tracker(fmt::format("down_sampling: {} is not a power of two up to 32768", spec.down_sampling));
    if (spec.kind != TrackerKind::hotness) return;
    if (spec.always_on && spec.epoch != 0) reject_tracker("always_on has no epochs; leave 'epoch' out");
    if (spec.watermark > spec.list)
        reject_tracker(
            fmt::format("watermark: {} entries in a list of {}; write at most that", spec.watermark, spec.list));
    if (spec.width < 32 && spec.threshold >> spec.width != 0)
        reject_tracker(
            fmt::format("threshold: {} is more than a counter of {} bits holds", spec.threshold, spec.width));
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// The parser of monitor specifications: one table of keys, used for machine files, the command line, and help.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <span>

#include "base/text.hpp"
#include "base/units.hpp"
#include "monitor/counter_array.hpp"
#include "monitor/spec.hpp"

namespace cachetally {
namespace {

constexpr std::string_view path_names[] = {"memory", "link"};
constexpr std::string_view drain_names[] = {"full", "watermark", "periodic"};
constexpr std::string_view overflow_names[] = {"stall", "drop"};
constexpr std::string_view flag_names[] = {"off", "on"};
constexpr std::string_view everywhere = "everywhere", all_cores = "all";  // where no range and no core is named

constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t most_lines = 1U << 12;

/// A value that cannot be read; where it stands is known further up.
struct BadValue {
    std::string message;
};

std::uint64_t number(std::string_view text, std::uint64_t least, std::uint64_t most) {
    const auto value = parse_whole(text);
    if (!value)
        throw BadValue{fmt::format("'{}' is not a whole number that can be meant here; write e.g. {} or {:#x}", text,
                                   least, least + 64)};
    if (*value < least || *value > most)
        throw BadValue{most == any_number ? fmt::format("{} is too small; write at least {}", text, least)
                                          : fmt::format("{} is out of range; write {} to {}", text, least, most)};
    return *value;
}

std::uint32_t small(std::string_view text, std::uint64_t least, std::uint64_t most) {
    return static_cast<std::uint32_t>(number(text, least, most));
}

template <class Enum>
Enum choice(std::string_view text, std::span<const std::string_view> names) {
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) throw BadValue{fmt::format("'{}' is not a choice here{}", text, advice(text, names))};
    return static_cast<Enum>(found - names.begin());
}

bool flag(std::string_view text) {
    if (text == "true" || text == "false") return text == "true";  // what YAML readers make of on and off
    return choice<std::uint8_t>(text, flag_names) != 0;
}

std::vector<std::string_view> kind_names() {
    std::vector<std::string_view> names{"all"};
    for (unsigned kind = 0; kind < event_kind_count; ++kind) names.push_back(to_string(static_cast<EventKind>(kind)));
    return names;
}

std::uint32_t read_kinds(std::string_view text) {
    const std::vector<std::string_view> names = kind_names();
    std::uint32_t kinds = 0;
    for (const std::string_view word : split(text, '+')) {
        const auto found = std::ranges::find(names, trimmed(word));
        if (found == names.end())
            throw BadValue{fmt::format("'{}' is not a kind of event{}", trimmed(word), advice(trimmed(word), names))};
        kinds |= found == names.begin() ? (1U << event_kind_count) - 1 : 1U << (found - names.begin() - 1);
    }
    return kinds;
}

std::vector<AddressRange> read_ranges(std::string_view text) {
    if (text == everywhere) return {};
    std::vector<AddressRange> ranges;
    for (const std::string_view part : split(text, '+')) {
        const auto ends = split(part, '-');
        if (ends.size() != 2)
            throw BadValue{fmt::format("'{}' is not an address range; write FROM-TO, e.g. 0x1000-0x2000", part)};
        ranges.push_back({number(trimmed(ends[0]), 0, any_number), number(trimmed(ends[1]), 0, any_number)});
    }
    return ranges;
}

std::vector<std::uint32_t> read_cores(std::string_view text) {
    if (text == all_cores) return {};
    std::set<std::uint32_t> cores;
    for (const std::string_view part : split(text, '+')) cores.insert(small(trimmed(part), 0, 255));
    return {cores.begin(), cores.end()};
}

Granularity read_granularity(std::string_view text) {
    static constexpr std::string_view modes[] = {"aligned", "mask", "dynamic"};
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) {
        if (!parse_whole(text))
            throw BadValue{fmt::format(
                "'{}' is not a granularity; write lines (4), aligned:4, dynamic:4 or mask:6 (address bits)", text)};
        return {Granularity::Mode::aligned, small(text, 1, most_lines)};
    }
    const auto mode = choice<Granularity::Mode>(trimmed(text.substr(0, colon)), modes);
    const std::string_view amount = trimmed(text.substr(colon + 1));
    return {mode, mode == Granularity::Mode::mask ? small(amount, 0, 30) : small(amount, 1, most_lines)};
}

using Text = std::string_view;
struct Key : SpecKey {
    void (*read)(MonitorSpec&, Text);
    std::string (*write)(const MonitorSpec&);
};

std::string on_off(bool value) { return std::string(flag_names[value ? 1 : 0]); }

template <class Enum, std::size_t count>
std::string word(const std::string_view (&names)[count], Enum value) {
    return std::string(names[static_cast<std::size_t>(value)]);
}

std::string write_kinds(std::uint32_t kinds) {
    std::string text;
    for (unsigned kind = 0; kind < event_kind_count; ++kind)
        if ((kinds >> kind & 1U) != 0)
            text += fmt::format("{}{}", text.empty() ? "" : "+", to_string(static_cast<EventKind>(kind)));
    return text;
}

std::string write_ranges(const std::vector<AddressRange>& ranges) {
    std::vector<std::string> texts;
    for (const AddressRange& range : ranges) texts.push_back(fmt::format("{:#x}-{:#x}", range.from, range.to));
    return texts.empty() ? std::string(everywhere) : fmt::format("{}", fmt::join(texts, "+"));
}

std::string write_cores(const std::vector<std::uint32_t>& cores) {
    return cores.empty() ? std::string(all_cores) : fmt::format("{}", fmt::join(cores, "+"));
}

/// "fifo|lru|..."
std::string_view eviction_form() {
    static const std::string form = fmt::format("{}", fmt::join(eviction_names(), "|"));
    return form;
}

using S = MonitorSpec;
const Key keys[] = {
    {{"link", "NAME", "", "the link that is watched, FROM-TO, e.g. core-L1D"},
     [](S& s, Text t) { s.link = t; },
     [](const S& s) { return s.link; }},
    {{"name", "NAME", "the link", "how results name the monitor"},
     [](S& s, Text t) { s.name = t; },
     [](const S& s) { return s.name; }},
    {{"counters", "N", "128", "counters in the array"},
     [](S& s, Text t) { s.counters = small(t, 1, most_counters); },
     [](const S& s) { return std::to_string(s.counters); }},
    {{"ways", "N", "0", "counters per set; 0: fully associative"},
     [](S& s, Text t) { s.ways = t == "full" ? 0 : small(t, 0, most_counters); },
     [](const S& s) { return std::to_string(s.ways); }},
    {{"eviction", eviction_form(), "fifo", "which counter is swapped out to make room"},
     [](S& s, Text t) { s.eviction = choice<Eviction>(t, eviction_names()); },
     [](const S& s) { return std::string(to_string(s.eviction)); }},
    {{"seed", "N", "1", "of random eviction"},
     [](S& s, Text t) { s.seed = number(t, 0, any_number); },
     [](const S& s) { return std::to_string(s.seed); }},
    {{"width", "BITS", "32", "of a counter; a full one is swapped out and keeps its key"},
     [](S& s, Text t) { s.width = small(t, 1, 64); },
     [](const S& s) { return std::to_string(s.width); }},
    {{"granularity", "G|aligned:G|dynamic:G|mask:BITS", "1", "lines, or low address bits, that share a counter"},
     [](S& s, Text t) { s.granularity = read_granularity(t); },
     [](const S& s) { return to_string(s.granularity); }},
    {{"line", "BYTES", "0", "line of the monitor; 0: that of the first cache below the link"},
     [](S& s, Text t) { s.line = small(t, 0, 1U << 20); },
     [](const S& s) { return std::to_string(s.line); }},
    {{"kinds", "KIND+KIND...", "load+store+fetch", "events that are counted; all: every kind"},
     [](S& s, Text t) { s.kinds = read_kinds(t); },
     [](const S& s) { return write_kinds(s.kinds); }},
    {{"range", "FROM-TO+FROM-TO...", everywhere,
      "addresses (on the link) that are counted, TO is the first that is not"},
     [](S& s, Text t) { s.ranges = read_ranges(t); },
     [](const S& s) { return write_ranges(s.ranges); }},
    {{"cores", "N+N...", all_cores, "cores whose events are counted"},
     [](S& s, Text t) { s.cores = read_cores(t); },
     [](const S& s) { return write_cores(s.cores); }},
    {{"barriers", "on|off", "on", "a barrier of the program swaps all counters out and begins a phase"},
     [](S& s, Text t) { s.barriers = flag(t); },
     [](const S& s) { return on_off(s.barriers); }},
    {{"functions", "on|off", "off", "a histogram per function; entering and leaving swaps all counters out"},
     [](S& s, Text t) { s.functions = flag(t); },
     [](const S& s) { return on_off(s.functions); }},
    {{"start", "on|off", "on", "count from the beginning, or from when the program switches the monitor on"},
     [](S& s, Text t) { s.start = flag(t); },
     [](const S& s) { return on_off(s.start); }},
    {{"capacity", "RECORDS", "4096", "of the ring buffer"},
     [](S& s, Text t) { s.ring.capacity = number(t, 1, std::uint64_t{1} << 40); },
     [](const S& s) { return std::to_string(s.ring.capacity); }},
    {{"record", "BYTES", "16", "a swapped-out counter with its address"},
     [](S& s, Text t) { s.ring.record = small(t, 1, 4096); },
     [](const S& s) { return std::to_string(s.ring.record); }},
    {{"base", "ADDRESS", "0x8000000000000", "physical address of the ring buffer"},
     [](S& s, Text t) { s.ring.base = number(t, 0, any_number); },
     [](const S& s) { return fmt::format("{:#x}", s.ring.base); }},
    {{"path", "memory|link", "memory", "records go straight to memory, or into the component below the link"},
     [](S& s, Text t) { s.ring.path = choice<RingSpec::Path>(t, path_names); },
     [](const S& s) { return word(path_names, s.ring.path); }},
    {{"drain", "full|watermark|periodic", "full", "when the software begins to empty the ring buffer"},
     [](S& s, Text t) { s.ring.drain = choice<RingSpec::Drain>(t, drain_names); },
     [](const S& s) { return word(drain_names, s.ring.drain); }},
    {{"watermark", "RECORDS", "0", "with drain watermark: records that make the software begin (0: half of the ring)"},
     [](S& s, Text t) { s.ring.watermark = number(t, 0, std::uint64_t{1} << 40); },
     [](const S& s) { return std::to_string(s.ring.watermark); }},
    {{"period", "CYCLES", "0", "with drain periodic: from one beginning to the next"},
     [](S& s, Text t) { s.ring.period = number(t, 0, longest_period); },
     [](const S& s) { return std::to_string(s.ring.period); }},
    {{"drain_cost", "CYCLES", "0", "that the software takes for one record, in the background"},
     [](S& s, Text t) { s.ring.drain_cost = number(t, 0, most_cost); },
     [](const S& s) { return std::to_string(s.ring.drain_cost); }},
    {{"write_cost", "CYCLES", "0", "that the core loses for one record"},
     [](S& s, Text t) { s.ring.write_cost = number(t, 0, most_cost); },
     [](const S& s) { return std::to_string(s.ring.write_cost); }},
    {{"overflow", "stall|drop", "stall", "a full ring makes the core wait, or the record is lost and counted as lost"},
     [](S& s, Text t) { s.ring.overflow = choice<RingSpec::Overflow>(t, overflow_names); },
     [](const S& s) { return word(overflow_names, s.ring.overflow); }},
};

/// A setting and how messages name its place.
struct Setting {
    std::string_view key, value;
    Mark mark;
};

/// Reads settings one by one; `Place` makes the beginning of a message from a mark.
template <class Place>
class SpecReader {
public:
    explicit SpecReader(Place place, const MonitorSpec& start = {}) : place_(place), spec_(start) {}

    void read(const Setting& setting) {
        const auto key = std::ranges::find(keys, setting.key, &Key::name);
        if (key == std::end(keys))
            fail(fmt::format("a monitor has no '{}'{}", setting.key, known(setting.key)), setting.mark);
        if (std::ranges::find(seen_, setting.key, &Setting::key) != seen_.end())
            fail(fmt::format("'{}' is given twice; keep one", setting.key), setting.mark);
        seen_.push_back(setting);
        if (setting.value.empty()) fail(fmt::format("'{}' has no value; write {}", key->name, key->form), setting.mark);
        try {
            key->read(spec_, setting.value);
        } catch (const BadValue& bad) {
            fail(fmt::format("{}: {}", setting.key, bad.message), setting.mark);
        }
    }

    MonitorSpec finish(Mark whole) {
        if (spec_.link.empty()) fail("a monitor needs the 'link' that it watches, e.g. link: core-L1D", whole);
        return finish_common(whole);
    }

    /// The same without a link.
    MonitorSpec finish_common(Mark whole) {
        RingSpec& ring = spec_.ring;
        if (ring.drain == RingSpec::Drain::watermark && ring.watermark == 0)
            ring.watermark = usual_watermark(ring.capacity);
        if (const auto conflict = find_conflict(spec_)) {
            const auto blamed = std::ranges::find(seen_, conflict->key, &Setting::key);
            fail<ContradictingSpec>(conflict->message, blamed == seen_.end() ? whole : blamed->mark);
        }
        return spec_;
    }

    bool has(std::string_view key) const { return std::ranges::find(seen_, key, &Setting::key) != seen_.end(); }

    template <class Error = SpecError>
    [[noreturn]] void fail(const std::string& message, Mark mark) const {
        throw Error(place_(mark), message, mark);
    }

private:
    static std::string known(std::string_view key) {
        std::vector<std::string_view> names;
        for (const Key& each : keys) names.push_back(each.name);
        if (key == "ring") return "; its size is 'capacity', in records";
        if (key == "filter") return "; what it counts is filtered by 'kinds', 'range' and 'cores'";
        return advice(key, names);
    }

    Place place_;
    MonitorSpec spec_;
    std::vector<Setting> seen_;
};

std::string place_in(std::string_view text, Mark mark) {
    return fmt::format("monitor '{}', column {}: ", text, mark.column);
}

/// "counters=4,eviction=lru".
template <class Place>
std::vector<Setting> settings_of(std::string_view text, const SpecReader<Place>& reader) {
    std::vector<Setting> settings;
    for (const std::string_view part : split(text, ',')) {
        const Mark mark{0, static_cast<int>(part.data() - text.data()) + 1};
        const auto equals = part.find('=');
        if (equals == std::string_view::npos)
            reader.fail(fmt::format("'{}' is not a setting; write KEY=VALUE, e.g. counters=64", part), mark);
        settings.push_back({trimmed(part.substr(0, equals)), trimmed(part.substr(equals + 1)), mark});
    }
    return settings;
}

template <class Value>
Value read_alone(std::string_view text, Value (*read)(std::string_view)) {
    try {
        return read(trimmed(text));
    } catch (const BadValue& bad) {
        throw SpecError("", bad.message, {0, 1});
    }
}

}  // namespace

MonitorSpec parse_monitor(const MonitorEntry& entry, const std::string& file) {
    SpecReader reader([&](Mark mark) { return fmt::format("{}:{}:{}: error: ", file, mark.line, mark.column); });
    for (const MonitorEntry::Setting& setting : entry.settings)
        reader.read({setting.key, trimmed(setting.value), setting.mark});
    return reader.finish(entry.mark);
}

MonitorSpec parse_monitor(std::string_view text) {
    SpecReader reader([&](Mark mark) { return place_in(text, mark); });
    for (const Setting& setting : settings_of(text, reader)) reader.read(setting);
    return reader.finish({0, 1});
}

MonitorSpec parse_common(std::string_view text, std::span<const RefusedKey> refused,
                         std::span<const RequiredKey> required, const MonitorSpec& start) {
    SpecReader reader([&](Mark mark) { return place_in(text, mark); }, start);
    const std::vector<Setting> settings = text.empty() ? std::vector<Setting>{} : settings_of(text, reader);
    for (const Setting& setting : settings) {
        const auto found = std::ranges::find(refused, setting.key, &RefusedKey::key);
        if (found != refused.end())
            reader.fail(fmt::format("'{}' does not belong here; {}", setting.key, found->advice), setting.mark);
        reader.read(setting);
    }
    for (const RequiredKey& key : required)
        if (!reader.has(key.key)) reader.fail(fmt::format("'{}' is missing; {}", key.key, key.advice), {0, 1});
    return reader.finish_common({0, 1});
}

std::string varied_setting(const std::string& key, const std::string& value) {
    const auto colon = value.find(':');
    if (key != "drain" || colon == std::string::npos) return key + '=' + value;
    const std::string drain = value.substr(0, colon);
    return fmt::format("drain={},{}={}", drain, drain == "periodic" ? "period" : drain, value.substr(colon + 1));
}

Granularity parse_granularity(std::string_view text) { return read_alone<Granularity>(text, read_granularity); }

Eviction parse_eviction(std::string_view text) {
    return read_alone<Eviction>(text, [](std::string_view name) { return choice<Eviction>(name, eviction_names()); });
}

std::span<const std::string_view> eviction_names() {
    static const auto names = [] {
        std::vector<std::string_view> all;
        for (const EvictionRow& row : eviction_rows()) all.push_back(row.name);
        return all;
    }();
    return names;
}

std::string_view to_string(Eviction eviction) { return row_of(eviction).name; }

std::string to_string(const MonitorSpec& spec) {
    static const MonitorSpec standard;
    std::string text = "link=" + spec.link;
    for (const Key& key : std::span(keys).subspan(1))
        if (const std::string value = key.write(spec); value != key.write(standard))
            text += fmt::format(",{}={}", key.name, value);
    return text;
}

std::string counting_settings(std::string_view settings) {
    constexpr std::string_view choosing[] = {"kinds", "range", "cores", "start", "line"};
    std::string text;
    for (const std::string_view part : split(settings, ',')) {
        const std::string_view name = part.substr(0, part.find('='));
        if (std::ranges::find(choosing, name) == std::end(choosing) || name == part) continue;
        const auto key = std::ranges::find(keys, name, &Key::name);
        MonitorSpec spec;
        key->read(spec, part.substr(name.size() + 1));
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, key->write(spec));
    }
    return text;
}

std::vector<SpecKey> monitor_keys() { return {std::begin(keys), std::end(keys)}; }

}  // namespace cachetally

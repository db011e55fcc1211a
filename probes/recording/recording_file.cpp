// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "probes/recording/recording.hpp"
#include "probes/recording/recording_columns.hpp"
#include "storage/columns.hpp"

namespace cachetally {
namespace {

const std::string group_name = "recording";

bool has_others(const RecordedRun& run) {
    return run.kind >= RecordedRun::Kind::transfer && run.kind <= RecordedRun::Kind::prime_and_probe;
}

/// What a value is in a file: enumerators and truth values are numbers.
template <class T>
using Stored = std::conditional_t<std::is_enum_v<T> || std::is_same_v<T, bool>, std::uint8_t, T>;

template <class Rows>
auto writer(Group& group, const Rows& rows) {
    return [&](const char* name, auto of) {
        using T = Stored<std::decay_t<decltype(of(rows.front()))>>;
        const std::vector<T> values = column_of(rows, [&](const auto& row) { return static_cast<T>(of(row)); });
        if constexpr (std::is_same_v<T, std::string>)
            group.write_texts(name, values);
        else
            group.write(name, values);
    };
}

template <class Rows>
auto reader(const Group& group, Rows& rows) {
    return [&](const char* name, auto of) {
        using Value = std::decay_t<decltype(of(rows.front()))>;
        const auto values = read_column<Stored<Value>>(group, name, rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) of(rows[i]) = static_cast<Value>(values[i]);
    };
}

/// Lists of different lengths, after each other: where each ends, and all values.
template <class Rows, class Of>
void write_lists(Group& group, const std::string& name, const Rows& rows, Of of) {
    using List = std::decay_t<decltype(of(rows.front()))>;
    List all;
    std::vector<std::uint64_t> ends;
    for (const auto& row : rows) {
        all.insert(all.end(), of(row).begin(), of(row).end());
        ends.push_back(all.size());
    }
    group.write(name, all);
    group.write(name + "_end", ends);
}

template <class Rows, class Of>
void read_lists(const Group& group, const std::string& name, Rows& rows, Of of) {
    using List = std::decay_t<decltype(of(rows.front()))>;
    const auto ends = read_column<std::uint64_t>(group, name + "_end", rows.size());
    const auto all = group.read<typename List::value_type>(name);
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i < rows.size(); begin = ends[i++]) {
        if (ends[i] < begin || ends[i] > all.size())
            throw StorageError("{}: {} ends before its lists do; the file is damaged", group.where(), name);
        of(rows[i]).assign(all.begin() + static_cast<std::ptrdiff_t>(begin),
                           all.begin() + static_cast<std::ptrdiff_t>(ends[i]));
    }
    if (begin != all.size())
        throw StorageError("{}: {} has more than its lists; the file is damaged", group.where(), name);
}

void write_capabilities(Group& group, const Capabilities& can) {
    group.write("page_sizes", can.page_sizes);
    group.set_attribute("largest_arena", can.largest_arena);
    group.set_attribute("cache_events", can.cache_events);
    group.set_attribute("tlb_events", can.tlb_events);
    group.set_attribute("write_events", can.write_events);
    group.set_attribute("exact_events", can.exact_events);
    group.set_attribute("no_events", can.no_events);
    group.set_attribute("latencies", can.latencies);
    group.set_attribute("has_floating_point", can.floating_point);
    group.set_attribute("timer_quantum", can.timer_quantum);
    group.set_attribute("most_chains", can.most_chains);
    group.set_attribute("no_chains", can.no_chains);
    group.set_attribute("streams", can.streams);
    group.set_attribute("no_streams", can.no_streams);
    group.write("processors", can.processors);
    group.set_attribute("no_processors", can.no_processors);
    group.set_attribute("no_transfers", can.no_transfers);
}

void read_processors(const Group& group, Capabilities& can) {
    if (!group.has("processors")) {
        can.no_processors = "the recording is of a version that asked one processor alone; record again";
        return;
    }
    can.processors = group.read<unsigned>("processors");
    if (can.processors.empty() || !std::ranges::is_sorted(can.processors))
        throw StorageError("{}: processors is no ascending list; the file is damaged", group.where());
    can.no_processors = group.text_attribute("no_processors");
    can.no_transfers = group.text_attribute("no_transfers");
}

Capabilities read_capabilities(const Group& group) {
    Capabilities can;
    can.page_sizes = group.read<std::uint64_t>("page_sizes");
    if (can.page_sizes.empty() || can.page_sizes.front() == 0 || !std::ranges::is_sorted(can.page_sizes))
        throw StorageError("{}: page_sizes is no ascending list; the file is damaged", group.where());
    can.largest_arena = group.whole_attribute("largest_arena");
    can.cache_events = static_cast<unsigned>(group.whole_attribute("cache_events"));
    can.tlb_events = static_cast<unsigned>(group.whole_attribute("tlb_events"));
    if (group.has_attribute("write_events"))
        can.write_events = static_cast<unsigned>(group.whole_attribute("write_events"));
    can.exact_events = group.whole_attribute("exact_events") != 0;
    can.no_events = group.text_attribute("no_events");
    can.latencies = group.whole_attribute("latencies") != 0;
    can.floating_point = group.whole_attribute("has_floating_point") != 0;
    can.timer_quantum = group.real_attribute("timer_quantum");
    read_processors(group, can);
    can.no_chains = can.no_streams = "the recording was made by a version that ran one chain at a time";
    if (!group.has_attribute("most_chains")) return can;
    can.most_chains = static_cast<unsigned>(group.whole_attribute("most_chains"));
    can.no_chains = group.text_attribute("no_chains");
    can.streams = group.whole_attribute("streams") != 0;
    can.no_streams = group.text_attribute("no_streams");
    return can;
}

void write_suite(Group& recording, const SuiteOptions& suite) {
    Group group = recording.create_group("suite");
    if (!suite.tests.empty()) group.write_texts("tests", suite.tests);
    group.set_attribute("published", suite.published);
    group.set_attribute("robust", suite.robust);
    group.set_attribute("cheap", suite.cheap);
    group.set_attribute("curves", suite.curves);
    group.set_attribute("seed", suite.seed);
    group.set_attribute("most_cycles", suite.budget.most_cycles);
    group.set_attribute("stability", suite.sweep.sweep.stability);
    group.set_attribute("knock_out", suite.sweep.sweep.knock_out);
    group.set_attribute("revive", suite.sweep.sweep.revive);
    group.set_attribute("on_demand", suite.sweep.on_demand);
}

SuiteOptions read_suite(const Group& recording) {
    const Group group = recording.open_group("suite");
    const auto is = [&](const char* name) { return group.whole_attribute(name) != 0; };
    SuiteOptions suite;
    if (group.has("tests")) suite.tests = group.read_texts("tests");
    suite.published = is("published");
    suite.robust = is("robust");
    suite.cheap = is("cheap");
    suite.curves = is("curves");
    suite.seed = group.whole_attribute("seed");
    suite.budget.most_cycles = group.real_attribute("most_cycles");
    suite.sweep.sweep.stability = static_cast<unsigned>(group.whole_attribute("stability"));
    suite.sweep.sweep.knock_out = is("knock_out");
    suite.sweep.sweep.revive = is("revive");
    suite.sweep.on_demand = is("on_demand");
    return suite;
}

const auto parameters_of = [](auto& string) -> auto& { return string.recipe.parameters; };
const auto listed_of = [](auto& string) -> auto& { return string.listed; };
const auto pages_of = [](auto& made) -> auto& { return made.physical_pages; };
const auto latencies_of = [](auto& run) -> auto& { return run.latencies; };
const auto cache_misses_of = [](auto& run) -> auto& { return run.measurement.cache_misses; };
const auto part_cycles_of = [](auto& run) -> auto& { return run.measurement.parts; };
const auto tlb_misses_of = [](auto& run) -> auto& { return run.measurement.tlb_misses; };
const auto writes_of = [](auto& run) -> auto& { return run.measurement.writes; };
const auto write_misses_of = [](auto& run) -> auto& { return run.measurement.write_misses; };
const auto write_backs_of = [](auto& run) -> auto& { return run.measurement.write_backs; };

void check(const Group& group, const Recording& recording) {
    const auto fail = [&](std::size_t number, const std::string& what) {
        throw StorageError("{}: run {}: {}; the file is damaged", group.where(), number, what);
    };
    const auto& strings = recording.strings.all();
    for (std::size_t i = 0; i < recording.runs.size(); ++i) {
        const RecordedRun& run = recording.runs[i];
        const auto fits = [](const std::vector<double>& misses, unsigned events) {
            return misses.empty() || misses.size() == events;
        };
        if (!std::isfinite(run.effort.least_cycles) || run.effort.least_cycles < 0)
            fail(i, "least_cycles is no number of at least 0");
        const bool streamed = run.kind == RecordedRun::Kind::stream;
        if ((run.kind > RecordedRun::Kind::stream && !has_others(run)) || run.end > RecordedRun::End::refused)
            fail(i, "unknown kind");
        if (run.renewed > Renewal::taken_out) fail(i, "an unknown kind of renewal");
        if (run.chains == 0 || run.stream.kind > Streaming::Kind::copy)
            fail(i, "no chain, or an unknown kind of stream");
        if (run.arena >= recording.arenas.size() || (!streamed && run.string >= strings.size()) ||
            run.other_string >= std::max<std::size_t>(1, strings.size()))
            fail(i, "no such arena or string");
        if (!fits(run.measurement.cache_misses, recording.capabilities.cache_events) ||
            !fits(run.measurement.tlb_misses, recording.capabilities.tlb_events) ||
            !fits(run.measurement.writes, recording.capabilities.write_events + 1) ||
            !fits(run.measurement.write_misses, recording.capabilities.write_events) ||
            !fits(run.measurement.write_backs, recording.capabilities.write_events))
            fail(i, "misses of other levels than there are");
    }
}

}  // namespace

void write_recording(Group& root, const Recording& recording) {
    Group group = root.create_group(group_name);
    set_nexus_class(group, "NXcollection");
    group.set_attribute("target", recording.target);
    group.set_attribute("frequency", recording.frequency);
    group.set_attribute("machine_text", recording.machine_text);
    write_suite(group, recording.suite);
    write_capabilities(group, recording.capabilities);

    Group arenas = group.create_group("arenas");
    columns_of_arenas(writer(arenas, recording.arenas));
    write_lists(arenas, "physical_pages", recording.arenas, pages_of);

    Group strings = group.create_group("strings");
    const auto& all = recording.strings.all();
    columns_of_strings(writer(strings, all));
    std::vector<std::uint64_t> parameters;
    for (const RecordedString& string : all)
        parameters.insert(parameters.end(), parameters_of(string).begin(), parameters_of(string).end());
    strings.write("parameters", parameters);
    write_lists(strings, "offsets", all, listed_of);

    Group runs = group.create_group("runs");
    columns_of_runs(writer(runs, recording.runs));
    later_columns_of_runs(writer(runs, recording.runs));
    if (std::ranges::any_of(recording.runs, has_others)) {
        columns_of_others(writer(runs, recording.runs));
        write_lists(runs, "part_cycles", recording.runs, part_cycles_of);
        columns_of_probes(writer(runs, recording.runs));
    }
    if (std::ranges::any_of(recording.runs, &RecordedRun::stores)) {
        columns_of_stores(writer(runs, recording.runs));
        write_lists(runs, "writes", recording.runs, writes_of);
        write_lists(runs, "write_misses", recording.runs, write_misses_of);
        write_lists(runs, "write_backs", recording.runs, write_backs_of);
    }
    const auto is_shared = [](const RecordedRun& run) { return run.measurement.conditions.core_shared; };
    if (std::ranges::any_of(recording.runs, is_shared)) columns_of_shared_cores(writer(runs, recording.runs));
    Dataset end = runs.open_dataset("end");  // elsewhere a column of this name is a time
    end.set_attribute("units", "1");
    end.set_attribute("long_name", "how it ended");
    write_lists(runs, "latencies", recording.runs, latencies_of);
    write_lists(runs, "cache_misses", recording.runs, cache_misses_of);
    write_lists(runs, "tlb_misses", recording.runs, tlb_misses_of);
}

bool has_recording(const Group& root) { return root.has(group_name); }

Recording read_recording(const Group& root) {
    const Group group = root.open_group(group_name);
    Recording recording;
    recording.target = group.text_attribute("target");
    recording.frequency = group.real_attribute("frequency");
    recording.machine_text = group.text_attribute("machine_text");
    recording.suite = read_suite(group);
    recording.capabilities = read_capabilities(group);

    const Group arenas = group.open_group("arenas");
    recording.arenas.resize(arenas.open_dataset("id").rows());
    columns_of_arenas(reader(arenas, recording.arenas));
    read_lists(arenas, "physical_pages", recording.arenas, pages_of);

    const Group strings = group.open_group("strings");
    std::vector<RecordedString> all(strings.open_dataset("seed").rows());
    columns_of_strings(reader(strings, all));
    constexpr std::size_t each = std::tuple_size_v<decltype(Recipe::parameters)>;
    const auto parameters = read_column<std::uint64_t>(strings, "parameters", each * all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        std::copy_n(parameters.begin() + static_cast<std::ptrdiff_t>(each * i), each, parameters_of(all[i]).begin());
    read_lists(strings, "offsets", all, listed_of);
    recording.strings = RecordedStrings(std::move(all));

    const Group runs = group.open_group("runs");
    recording.runs.resize(runs.open_dataset("cycles").rows());
    columns_of_runs(reader(runs, recording.runs));
    if (runs.has("chains")) later_columns_of_runs(reader(runs, recording.runs));
    if (runs.has("processor")) columns_of_others(reader(runs, recording.runs));
    if (runs.has("part_cycles")) {
        read_lists(runs, "part_cycles", recording.runs, part_cycles_of);
        columns_of_probes(reader(runs, recording.runs));
    }
    if (runs.has("stores")) {
        columns_of_stores(reader(runs, recording.runs));
        read_lists(runs, "writes", recording.runs, writes_of);
        read_lists(runs, "write_misses", recording.runs, write_misses_of);
        read_lists(runs, "write_backs", recording.runs, write_backs_of);
    }
    if (runs.has("core_shared")) columns_of_shared_cores(reader(runs, recording.runs));
    read_lists(runs, "latencies", recording.runs, latencies_of);
    read_lists(runs, "cache_misses", recording.runs, cache_misses_of);
    read_lists(runs, "tlb_misses", recording.runs, tlb_misses_of);
    check(group, recording);
    return recording;
}

}  // namespace cachetally

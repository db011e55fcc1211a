// SPDX-License-Identifier: BSD-3-Clause
// What levels do with stores: whether a store that misses brings its line, and where what was stored goes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "probes/ours/answering_level.hpp"
#include "probes/ours/level_spans.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t most_lines = 64;
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;  ///< of a span
constexpr double near = 0.1;         ///< share of a latency, within which it is that of a level
constexpr double unlike_l1 = 1.5;    ///< times L1's latency, more than which another level answers
constexpr double like_first = 0.3;   ///< share of the way from L1's latency to the next, less than which it is L1's
constexpr double as_l1 = 0.15;       ///< share of L1's latency, by which a load of it may take longer
constexpr unsigned asked_again = 3;  ///< before a line is said not to be there
constexpr double least_write_backs = 0.1, no_write_backs = 0.02;  ///< per location
constexpr double all_go_on = 0.9;                                 ///< of the writes that come
constexpr double often_hit = 0.5;                                 ///< of them, where they say something of hits
constexpr double dearer = 0.1;  ///< share of a load's time that giving up a dirty line has to cost

/// Lines that were stored to once, and where loads find them.
class StoredLines {
public:
    StoredLines(Meter& meter, const L1Geometry& l1, TestReport& report)
        : meter_(meter),
          lines_(meter, l1, most_lines, 0),
          arena_(meter.arena_up_to(lines_.bytes(), lines_.page)),
          probe_(lines_.lines),
          elsewhere_{lines_.elsewhere()},
          report_(report) {}

    MeanTime after(Renewal renewed) { return mean_time(meter_, arena_, {{elsewhere_}, {probe_}, 1, 1, renewed}); }

    /// Whether a line that was stored to is in L1; empty where times do not say so.
    std::optional<bool> in_l1(const KnownLatencies& known) {
        const MeanTime loaded = after(Renewal::loaded), gone = after(Renewal::taken_out);
        stored_ = after(Renewal::stored);
        report_.decisions.push_back(
            fmt::format("{} lines: one that was loaded takes {:.2f} (+- {:.2f}) cycles, stored to {:.2f} (+- {:.2f}), "
                        "neither {:.2f}",
                        lines_.lines.size(), loaded.cycles, loaded.error, stored_.cycles, stored_.error, gone.cycles));
        const double l1 = known.cycles.front(), error = loaded.error + stored_.error;
        if (gone.cycles < 2 * loaded.cycles) return std::nullopt;
        // What loads of lines of L1 take more than usual, translation takes.
        stored_.cycles -= loaded.cycles - l1;
        memory_ = gone.cycles - (loaded.cycles - l1);
        const double next = known.cycles.size() > 1 ? known.cycles[1] : unlike_l1 * l1;
        const double more = stored_.cycles - l1, most = next - l1;
        if (error > like_first * most) return std::nullopt;
        // A level that `levels` has not seen may be nearer than the next one that it knows.
        if (more <= std::min(like_first * most, as_l1 * l1 + error)) return true;
        if (more >= (1 - like_first) * most - error) return false;
        return std::nullopt;
    }

    /// The level that answered, from 0; as many as there are levels: memory. Empty where it is none that is known.
    std::optional<std::size_t> answering(const KnownLatencies& known) const {
        const auto is = [&](double cycles) {
            return std::abs(stored_.cycles - cycles) <= near * cycles + stored_.error;
        };
        for (std::size_t i = 1; i < known.cycles.size(); ++i)
            if (is(known.cycles[i])) return i;
        if (known.all && is(memory_)) return known.cycles.size();
        return std::nullopt;
    }

private:
    Meter& meter_;
    SparseLines lines_;
    Arena arena_;
    Offsets probe_, elsewhere_;
    TestReport& report_;
    MeanTime stored_;
    double memory_ = 0;
};

constexpr char by_a_load[] = "loads of lines that were stored to once, and not loaded";

std::string level_name(std::size_t number) { return fmt::format("L{}", number + 1); }

void find_allocation(Meter& meter, const L1Geometry& l1, const KnownLatencies& known, TestReport& report) {
    StoredLines lines(meter, l1, report);
    std::optional<bool> in_l1 = lines.in_l1(known);
    // What disturbs takes lines away; it never brings any.
    for (unsigned i = 1; i < asked_again && meter.noise() > 0 && in_l1 == false; ++i) in_l1 = lines.in_l1(known);
    if (!in_l1)
        return report.refuse("L1", "write_allocate", "times do not show which level has lines that were stored to");
    report.answer("L1", "write_allocate", *in_l1 ? "true" : "false", by_a_load);
    const std::optional<std::size_t> answers = *in_l1 ? std::nullopt : lines.answering(known);
    for (std::size_t i = 1; i < known.cycles.size(); ++i) {
        if (answers && i <= *answers)
            report.answer(level_name(i), "write_allocate", i == *answers ? "true" : "false", by_a_load);
        else
            report.refuse(level_name(i), "write_allocate",
                          *in_l1 || answers
                              ? "a level above it fetches lines for stores, so that none that misses comes here"
                              : "the level that has lines that were stored to is none whose latency is known");
    }
}

/// What a level does with what is written to it; empty = that cannot be said.
std::string policy_of(const Measurement& run, std::size_t level) {
    const double come = run.writes[level], on = run.writes[level + 1], own = run.write_backs[level];
    const bool hit = come > least_write_backs && run.write_misses[level] <= (1 - often_hit) * come;
    if (hit && on >= all_go_on * come && own <= no_write_backs * come) return "write_through";
    if (own >= least_write_backs) return "write_back";
    return "";
}

/// By counts: lines of growing spans are loaded and stored to, until each level has given some up.
void count_writes(Meter& meter, const L1Geometry& l1, TestReport& report) {
    const unsigned levels = meter.capabilities().write_events;
    std::vector<std::string> found(levels);
    const std::uint64_t most = std::min(meter.capabilities().largest_arena, most_bytes);
    for (std::uint64_t bytes = 2 * l1.capacity; bytes <= most && std::ranges::count(found, "") > 0; bytes *= 2) {
        const Arena arena = meter.target().make_arena(bytes, meter.large_page());
        const Offsets lines = random_string(bytes, l1.line, meter.seed());
        const Measurement run = meter.run(arena, {lines, false, 1, true}, {1, 1});
        meter.target().release(arena);
        for (std::size_t i = 0; i < levels; ++i) {
            if (found[i].empty()) found[i] = policy_of(run, i);
            report.decisions.push_back(fmt::format(
                "{}, L{}: of each line {:.2f} writes come, {:.2f} miss, {:.2f} go on, {:.2f} dirty lines "
                "are given up",
                format_size(bytes), i + 1, run.writes[i], run.write_misses[i], run.writes[i + 1], run.write_backs[i]));
        }
    }
    for (std::size_t i = 0; i < levels; ++i) {
        if (found[i].empty())
            report.refuse(level_name(i), "write",
                          "it neither gives up dirty lines nor hands on what is written to lines that it has");
        else
            report.answer(level_name(i), "write", found[i], "counts of stores and of dirty lines that go down");
    }
}

/// Cycles per load of lines of L2 that take the places of lines of L1, which were loaded twice, or stored to. Between
/// two numbers of them, so that what is still under way when the first one begins does not count.
MeanTime taking_places(Meter& meter, const L1Geometry& l1, const Arena& arena, bool stored) {
    const Offsets own = random_string(l1.capacity * 5 / 4 / l1.line * l1.line, l1.line, meter.seed());
    const Offsets twice = stored ? own : with_other_words(own, l1.line, 1);
    const std::uint64_t few = l1.capacity / l1.line / 8;
    const auto all = [&](std::uint64_t count) {
        const Offsets others = moved(random_string(count * l1.line, l1.line, meter.seed() + count), 2 * l1.capacity);
        const MeanTime each = mean_time(meter, arena, {{twice, false, 1, stored}, {others}}, {2, 3});
        return MeanTime{each.cycles * static_cast<double>(count), each.error * static_cast<double>(count)};
    };
    const MeanTime less = all(few), more = all(2 * few);
    const auto lines = static_cast<double>(few);
    return {(more.cycles - less.cycles) / lines, (more.error + less.error) / lines};
}

/// By times: a level that gives up lines at a cost where they were stored to writes them back. Where it costs nothing,
/// either it writes through, or it has time enough: that says nothing.
void time_write_backs(Meter& meter, const L1Geometry& l1, const std::optional<TestReport>& levels, TestReport& report) {
    constexpr char hidden[] =
        "whether lines that were stored to are written back is not counted here, and takes no time";
    const Finding* capacity = levels ? levels->find("L2", "capacity") : nullptr;
    if (!has_large_pages(meter) || capacity == nullptr || capacity->low < 2.4 * static_cast<double>(l1.capacity))
        return report.refuse("L1", "write",
                             "write-backs are not counted here; times need large pages and an L2 of known capacity");
    const Arena arena = meter.arena_up_to(4 * l1.capacity, meter.large_page());
    bool all = true;
    for (unsigned i = 0; i < asked_again && all; ++i) {
        const MeanTime clean = taking_places(meter, l1, arena, false), dirty = taking_places(meter, l1, arena, true);
        all = dirty.cycles - clean.cycles > dearer * clean.cycles + dirty.error + clean.error;
        report.decisions.push_back(
            fmt::format("a load that takes the place of a line that was loaded: {:.2f} cycles, stored to: {:.2f}",
                        clean.cycles, dirty.cycles));
    }
    if (all)
        report.answer("L1", "write", "write_back",
                      "loads that take the places of lines that were stored to take longer");
    else
        report.refuse("L1", "write", hidden);
}

}  // namespace

TestReport stores_robust(Meter& meter, const L1Geometry& l1, const std::optional<TestReport>& levels) {
    TestReport report;
    const KnownLatencies known(l1, levels);
    find_allocation(meter, l1, known, report);
    if (meter.capabilities().write_events > 0) {
        count_writes(meter, l1, report);
        return report;
    }
    time_write_backs(meter, l1, levels, report);
    for (std::size_t i = 1; i < known.cycles.size(); ++i)
        report.refuse(level_name(i), "write",
                      "write-backs are not counted here, and those of levels above it hide them");
    return report;
}

}  // namespace cachetally

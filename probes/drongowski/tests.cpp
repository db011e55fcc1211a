// SPDX-License-Identifier: BSD-3-Clause
#include "probes/tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/units.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t least = 8 << 10, most = 4 << 20;
constexpr unsigned samples = 1000;
constexpr double least_share = 0.05;  ///< of the samples that lie close together: a line below is up to 16 items long
constexpr double alike = 1.01;        ///< times that differ by less are of one level

std::vector<std::uint64_t> sizes(const Meter& meter) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t bytes = least; bytes <= std::min(most, meter.capabilities().largest_arena); bytes *= 2)
        all.push_back(bytes);
    return all;
}

Curve curve_of(const std::string& name, const std::vector<std::uint64_t>& x, const std::string& unit) {
    return {.name = name, .x_name = "array", .x_unit = "bytes", .x = {x.begin(), x.end()}, .unit = unit};
}

/// How many single loads took how many cycles, rounded.
Curve histogram_of(const std::string& name, const std::map<long, unsigned>& bins) {
    Curve curve{.name = name, .x_name = "latency", .x_unit = "cycles", .unit = "loads"};
    for (const auto& [latency, loads] : bins) {
        curve.x.push_back(static_cast<double>(latency));
        curve.cycles.push_back(loads);
    }
    return curve;
}

/// The share of samples that makes a peak. A chase enters a page once in so many items: these walk, and are no peak.
double peak_share(const Meter& meter, std::uint64_t line) {
    return std::max(least_share, 2 * static_cast<double>(line) / static_cast<double>(meter.page()));
}

/// Whole cycles where at least so many samples lie, neighbours taken together; ascending.
std::vector<double> peaks(const std::map<long, unsigned>& histogram, double samples_needed) {
    std::vector<double> found;
    for (auto bin = histogram.begin(); bin != histogram.end();) {
        double count = 0, weight = 0;
        long last = bin->first;
        for (; bin != histogram.end() && bin->first - last <= 2; ++bin) {
            count += bin->second;
            weight += static_cast<double>(bin->first) * bin->second;
            last = bin->first;
        }
        if (count >= samples_needed) found.push_back(weight / count);
    }
    return found;
}

}  // namespace

TestReport chase_published(Meter& meter, std::uint64_t line) {
    TestReport report;
    const std::vector<std::uint64_t> all = sizes(meter);
    Curve time = curve_of("cycles", all, "cycles");
    std::vector<Curve> events;
    const Capabilities& can = meter.capabilities();
    for (unsigned i = 0; i < can.cache_events; ++i)
        events.push_back(curve_of(fmt::format("L{}_misses", i + 1), all, "misses"));
    for (unsigned i = 0; i < can.tlb_events; ++i)
        events.push_back(curve_of(fmt::format("TLB{}_misses", i + 1), all, "misses"));
    for (const std::uint64_t bytes : all) {
        const Arena arena = meter.target().make_arena(bytes, meter.page());
        const Measurement found = meter.run(arena, {ping_pong_string(bytes, line)}, {4, 8});
        time.cycles.push_back(found.cycles);
        for (unsigned i = 0; i < can.cache_events; ++i) events[i].cycles.push_back(found.cache_misses[i]);
        for (unsigned i = 0; i < can.tlb_events; ++i)
            events[can.cache_events + i].cycles.push_back(found.tlb_misses[i]);
        report.decisions.push_back(fmt::format("{}: {:.2f} cycles per load", format_size(bytes), found.cycles));
    }
    const auto [fastest, slowest] = std::ranges::minmax(time.cycles);
    if (slowest <= alike * fastest)
        report.refuse("L1", "latency", "all sizes take the same time: there is no tier");
    else
        report.answer("L1", "latency", fastest, fastest - 0.5, fastest + 0.5, "cycles",
                      "the fastest tier of the table");
    report.curves.push_back(std::move(time));
    std::ranges::move(events, std::back_inserter(report.curves));
    return report;
}

TestReport latency_published(Meter& meter, std::uint64_t line) {
    TestReport report;
    if (!meter.capabilities().latencies)
        return refused(std::move(report), "L1", {"latency"}, "single loads cannot be timed on this target");
    const std::uint64_t largest = std::min<std::uint64_t>(std::uint64_t{32} << 20, meter.capabilities().largest_arena);
    const Arena arena = meter.target().make_arena(largest, meter.page());
    const Offsets one{0};
    const double bias = meter.latencies(arena, {one}, 4, 64).back() - meter.settled(arena, one);
    report.decisions.push_back(fmt::format("reading the clock costs {:.1f} cycles", bias));
    std::vector<double> ping_pong, random;
    const double share = peak_share(meter, line);
    const auto look = [&](const Offsets& offsets, const std::string& name, std::uint64_t bytes) {
        const auto cycles = meter.latencies(arena, {offsets}, 1, bytes <= most ? samples : samples / 4);
        std::map<long, unsigned> histogram;
        for (const double sample : cycles) ++histogram[std::lround(sample - bias)];
        std::vector<double> found = peaks(histogram, share * static_cast<double>(cycles.size()));
        const std::string title = fmt::format("{} of {}", name, format_size(bytes));
        std::string text = title + ": peaks at";
        for (const double peak : found) text += fmt::format(" {:.1f}", peak);
        report.decisions.push_back(text);
        report.curves.push_back(histogram_of(title, histogram));
        return found;
    };
    std::vector<std::uint64_t> all = sizes(meter);
    if (largest > all.back()) all.push_back(largest);
    std::vector<double> lowest, highest;
    for (const std::uint64_t bytes : all) {
        ping_pong = look(ping_pong_string(bytes, line), "ping-pong", bytes);
        if (!ping_pong.empty()) lowest.push_back(ping_pong.front()), highest.push_back(ping_pong.back());
        if (bytes == all.back()) random = look(random_string(bytes, line, meter.seed()), "random chase", bytes);
    }
    if (lowest.empty()) return refused(std::move(report), "L1", {"latency"}, "the samples have no peaks");
    const double l1 = *std::ranges::min_element(lowest), memory = highest.back();
    if (memory <= alike * l1) {
        for (const char* level : {"L1", "memory"})
            report.refuse(level, "latency", "all sizes have the same peak: it is not known whose");
        return report;
    }
    report.answer("L1", "latency", l1, l1 - 1, l1 + 1, "cycles", "the lowest peak of single loads");
    report.answer("memory", "latency", memory, memory - 1, memory + 1, "cycles", "the peak of the largest ping-pong");
    if (!random.empty() && random.back() > memory + 2) {
        report.answer("walk", "latency", random.back(), random.back() - 1, random.back() + 1, "cycles",
                      "the highest peak of the largest random chase");
    } else {
        report.refuse("walk", "latency", "a random chase has no higher peak than a ping-pong");
    }
    return report;
}

}  // namespace cachetally

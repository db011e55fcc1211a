// SPDX-License-Identifier: BSD-3-Clause
// Bandwidth: bytes per cycle of contiguous spans that are read, written or copied.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/units.hpp"
#include "probes/ours/level_spans.hpp"

namespace cachetally {
namespace {

constexpr Streaming::Kind kinds[] = {Streaming::Kind::read, Streaming::Kind::write, Streaming::Kind::copy};
constexpr std::uint64_t least_span = 4096, largest_span = std::uint64_t{64} << 20;
constexpr std::uint64_t dense_spans = std::uint64_t{1} << 20;  ///< beyond, there are fewer points
constexpr std::uint64_t parts_of_spans = 2048;
constexpr double of_memory = 0.9;  ///< share of the time of unused lines that loads of memory take at least

std::string parameter_of(Streaming::Kind kind) { return fmt::format("{}_bandwidth", name_of(kind)); }

class Streams {
public:
    explicit Streams(Meter& meter) : meter_(meter) { arena_ = meter.arena_up_to(largest_span, meter.large_page()); }
    ~Streams() { meter_.target().release(arena_); }
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    std::uint64_t largest() const { return arena_.bytes / parts_of_spans * parts_of_spans; }

    /// Bytes per cycle; empty where the machine was disturbed.
    std::optional<double> bandwidth(Streaming::Kind kind, std::uint64_t bytes) {
        bytes = std::max(parts_of_spans, bytes / parts_of_spans * parts_of_spans);
        const auto [known, fresh] = known_.try_emplace({kind, bytes});
        if (!fresh) return known->second;
        const std::uint64_t blocks = bytes / Streaming::block;
        const auto laps = static_cast<unsigned>(std::clamp<std::uint64_t>(4096 / blocks, 1, 16));
        const auto cycles = meter_.time_of_stream(arena_, {kind, bytes}, laps);
        if (cycles && *cycles > 0) known->second = Streaming::block / *cycles;
        return known->second;
    }

private:
    Meter& meter_;
    Arena arena_;
    std::map<std::pair<Streaming::Kind, std::uint64_t>, std::optional<double>> known_;
};

void report_level(Meter& meter, Streams& streams, const LevelSpan& span, TestReport& report) {
    for (const Streaming::Kind kind : kinds) {
        const auto found = streams.bandwidth(kind, span.bytes);
        if (!found) {
            report.refuse(span.level, parameter_of(kind), "all samples were disturbed");
            continue;
        }
        const double share = meter.tolerance(1) + (meter.noise() > 0 ? Meter::misjudged : 0);
        report.answer(span.level, parameter_of(kind), *found, *found * (1 - share), *found * (1 + share),
                      "bytes per cycle", fmt::format("{} of {} in order", name_of(kind), format_size(span.bytes)));
    }
}

/// The largest span, if its loads take as long as those of lines that nobody has used.
void report_memory(Meter& meter, const L1Geometry& l1, Streams& streams, TestReport& report) {
    const LevelSpan largest{"memory", streams.largest()};
    const double warm = time_once(meter, l1, largest), cold = time_of_span(meter, l1, cold_span(meter), 1);
    report.decisions.push_back(fmt::format("{}: {:.1f} cycles per load in random order, {:.1f} of unused lines",
                                           format_size(largest.bytes), warm, cold));
    if (warm >= of_memory * cold) return report_level(meter, streams, largest, report);
    for (const Streaming::Kind kind : kinds)
        report.refuse("memory", parameter_of(kind), "caches answer loads of the largest span, {}",
                      format_size(largest.bytes));
}

void add_curves(Streams& streams, TestReport& report) {
    for (const Streaming::Kind kind : kinds) {
        Curve curve{.name = std::string(name_of(kind)), .x_name = "span", .x_unit = "bytes"};
        curve.unit = "bytes per cycle";
        for (std::uint64_t bytes = least_span; bytes <= streams.largest(); bytes *= bytes < dense_spans ? 2 : 4)
            if (const auto found = streams.bandwidth(kind, bytes)) {
                curve.x.push_back(static_cast<double>(bytes));
                curve.cycles.push_back(*found);
            }
        if (!curve.x.empty()) report.curves.push_back(std::move(curve));
    }
}

}  // namespace

TestReport bandwidth_robust(Meter& meter, const L1Geometry& l1, const std::optional<TestReport>& levels) {
    TestReport report;
    if (!meter.capabilities().streams)
        return refused(std::move(report), "", {"bandwidth"}, meter.capabilities().no_streams);
    Streams streams(meter);
    report_level(meter, streams, {"L1", l1.capacity / 2}, report);
    if (!has_large_pages(meter)) return refused(std::move(report), "", {"bandwidth"}, translation_overlaps);
    for (const LevelSpan& span : spans_below_l1(meter, l1, levels, "bandwidth", report))
        if (!span.level.empty()) report_level(meter, streams, span, report);
    report_memory(meter, l1, streams, report);
    add_curves(streams, report);
    return report;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/sweep.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace cachetally {
namespace {

constexpr std::uint64_t word = 8;
constexpr std::uint64_t most_loads = 1 << 20;
constexpr unsigned more_trials = 4;   ///< with noise
constexpr double clear_loss = 0.05;   ///< likewise
constexpr double clear_wait = 0.025;  ///< share of the time of a load

/// What is looked for is less than interrupts of a lap take: the trial with the fewest of them.
double least_time(Meter& meter, const Arena& arena, const Offsets& offsets) {
    double least = meter.time(arena, offsets, 2, 1);
    for (unsigned i = 0; i < more_trials && meter.noise() > 0; ++i)
        least = std::min(least, meter.time(arena, offsets, 2, 1));
    return least;
}

/// Lines alone, and with hits of L1 between them.
struct SlowedDown {
    double alone = 0, hits = 0, together = 0;  ///< cycles per line; 0 = a line has no other words

    SlowedDown(Meter& meter, const Arena& arena, const Offsets& lines, const L1Geometry& l1) {
        const std::uint64_t others = std::min(l1.line / word - 1, most_loads / lines.size());
        if (others == 0) return;
        const Offsets loads = with_other_words(lines, l1.line, others);
        alone = least_time(meter, arena, lines);
        hits = l1.latency * static_cast<double>(others);
        together = least_time(meter, arena, loads) * static_cast<double>(others + 1);
    }
};

}  // namespace

bool lines_are_taken(Meter& meter, const Arena& arena, const Offsets& lines, const L1Geometry& l1) {
    const SlowedDown times(meter, arena, lines, l1);
    return times.together - times.alone - times.hits >
           clear_loss * times.alone + meter.tolerance(times.alone + times.together);
}

bool loads_wait(Meter& meter, const Arena& arena, const Offsets& lines, const L1Geometry& l1) {
    const SlowedDown times(meter, arena, lines, l1);
    // Where hits take little they hide little of the wait; without noise that shows it as well.
    const double clear =
        std::min(clear_wait * times.alone, times.hits / 2) + meter.tolerance(times.alone + times.together);
    return times.alone + times.hits - times.together > clear;
}

namespace {

constexpr std::uint64_t usual_span = std::uint64_t{64} << 20;  ///< bytes swept
constexpr double from_memory = 0.85;                           ///< share of the time of lines that nobody has used
constexpr std::uint64_t moved_by = 21 * 128;                   ///< bytes
constexpr std::uint64_t least_page = 4096;
constexpr std::uint64_t enough_lines = 4096;  ///< of a span, at least
constexpr std::uint64_t enough_pages = 256;   ///< of a span, likewise
constexpr unsigned points_per_octave = 4;
constexpr unsigned other_placements = 3;  ///< of pages that are compared
constexpr unsigned noisy_repeats = 3;
constexpr unsigned askings_with_noise = 3;

}  // namespace

SpanSweep::SpanSweep(Meter& meter, const L1Geometry& l1, std::uint64_t stride, std::uint64_t local, std::uint64_t most)
    : meter_(meter), l1_(l1), stride_(stride), local_(local), arena_(meter.arena_up_to(most, meter.large_page())) {
    fields_ = stride_ > l1.line && arena_.bytes >= l1.capacity && sets_are_fields();
    const bool dense = stride_ <= 128;  // many loads: fewer spans
    const double step = std::exp2(1.0 / (dense ? points_per_octave / 2 : points_per_octave));
    for (double bytes = static_cast<double>(l1.capacity);; bytes *= step) {
        const auto whole = static_cast<std::uint64_t>(std::llround(bytes));
        const std::uint64_t rounded = whole / stride_at(whole) * stride_at(whole);
        if (rounded > arena_.bytes) break;
        points_.push_back({rounded, time(rounded)});
    }
}

bool SpanSweep::reaches_memory() {
    if (points_.empty()) return false;
    const SpanTime& last = points_.back();
    const Arena fresh = meter_.target().make_arena(arena_.bytes, arena_.page);
    const double unused = meter_.once(fresh, lines_of(last.bytes), 0, 1);
    return last.cycles > from_memory * unused;
}

bool SpanSweep::waits(std::uint64_t bytes) { return loads_wait(meter_, arena_, lines_of(bytes), l1_); }

bool SpanSweep::loses_lines(std::uint64_t bytes) { return lines_are_taken(meter_, arena_, lines_of(bytes), l1_); }

Offsets SpanSweep::lines_of(std::uint64_t bytes) const {
    return page_local_string(bytes, local_, stride_at(bytes), meter_.seed());
}

std::uint64_t SpanSweep::stride_at(std::uint64_t bytes) const {
    return fields_ ? std::max(stride_, std::bit_floor(bytes / enough_lines)) : stride_;
}

double SpanSweep::lessened_by_l1(const SpanTime& point) {
    if (meter_.capabilities().exact_cache_events() == 0) return 0;
    const double misses = meter_.count(arena_, {lines_of(point.bytes)}, {2, 1}).cache_misses.front();
    return misses == 0 ? 1 : 1 - point.cycles / ((point.cycles - (1 - misses) * l1_.latency) / misses);
}

double SpanSweep::time(std::uint64_t bytes) {
    const auto [place, fresh] = known_.try_emplace(bytes, 0);
    if (fresh) place->second = time(bytes, stride_at(bytes));
    return place->second;
}

/// time() after many more laps.
double SpanSweep::long_redundant(std::uint64_t bytes) {
    const auto [place, fresh] = known_redundant_.try_emplace(bytes, 0);
    if (!fresh) return place->second;
    const Offsets offsets = lines_of(bytes);
    const auto laps = laps_of(65536, offsets, 3, 256);
    return place->second = meter_.time(arena_, offsets, laps, std::max(1U, laps / 4));
}

double SpanSweep::time(std::uint64_t bytes, std::uint64_t stride) {
    return time_of(arena_, page_local_string(bytes, local_, stride, meter_.seed()));
}

/// time() in other sets, and on other pages.
double SpanSweep::time_moved(std::uint64_t bytes, unsigned move) {
    return time_of(other(move - 1), moved(lines_of(bytes), move * moved_by));
}

const Arena& SpanSweep::other(unsigned number) {
    while (others_.size() <= number) others_.push_back(meter_.target().make_arena(arena_.bytes, arena_.page));
    return others_[number];
}

bool SpanSweep::differs_elsewhere(std::uint64_t bytes, double share) {
    if (bytes > arena_.bytes) return false;
    const std::uint64_t stride = stride_at(bytes);
    const Offsets offsets = page_local_string(bytes / stride * stride, local_, stride, meter_.seed());
    double least = time_of(arena_, offsets), most = least;
    for (unsigned number = 0; number < other_placements; ++number) {
        const double time = time_of(other(number), offsets);
        least = std::min(least, time);
        most = std::max(most, time);
    }
    return most > least * (1 + share) + 2 * meter_.tolerance(least);
}

double SpanSweep::time_of_pieces(std::span<const std::uint64_t> pieces, std::uint64_t piece, std::uint64_t stride) {
    std::map<std::uint64_t, std::vector<std::uint64_t>> lines;  // by page
    for (const std::uint64_t at : pieces)
        for (std::uint64_t offset = at; offset < at + piece; offset += stride)
            lines[offset / arena_.page].push_back(offset);
    std::vector<std::uint64_t> offsets;
    for (auto& [page, of_page] : lines) {
        shuffle(of_page, meter_.seed() + page);
        offsets.insert(offsets.end(), of_page.begin(), of_page.end());
    }
    double least = time_of(arena_, offsets);
    const unsigned more = meter_.noise() > 0 ? noisy_repeats : 0;  // an interrupt costs as much as the pieces differ by
    for (unsigned i = 0; i < more; ++i) least = std::min(least, time_of(arena_, offsets));
    return least;
}

double SpanSweep::time_local(std::uint64_t bytes, std::uint64_t line) {
    const std::uint64_t spread =
        fields_ ? std::max<std::uint64_t>(1, std::bit_floor(bytes / (enough_pages * least_page))) : 1;
    return time_of(arena_, spread_pages_string(bytes / spread, least_page, line, spread * least_page, meter_.seed()));
}

/// Lines that meet in few sets of any level miss if these are chosen by fields of the address; those of sets that are
/// hashed do not meet.
bool SpanSweep::sets_are_fields() {
    const std::uint64_t sparse = std::max(stride_, std::bit_floor(arena_.bytes / enough_lines));
    const Arena fresh = meter_.target().make_arena(arena_.bytes, arena_.page);
    const Offsets lines = page_local_string(arena_.bytes, local_, sparse, meter_.seed());
    const double memory = std::max(time_of(arena_, lines), meter_.once(fresh, lines, 0, 1));
    for (const std::uint64_t apart : {arena_.bytes / 64, arena_.bytes / 128, arena_.bytes / 256 * 3}) {
        const Offsets meeting = random_string(arena_.bytes, std::max(apart, stride_), meter_.seed());
        Offsets scattered = meeting;
        for (std::size_t i = 0; std::uint64_t & offset : scattered.change())
            offset = offset / least_page * least_page + i++ * 128 % least_page;
        const double met = meter_.settled(arena_, meeting) - meter_.settled(arena_, scattered) + l1_.latency;
        if (met > 0.5 * memory) return true;
    }
    return false;
}

double SpanSweep::time_of(const Arena& arena, const Offsets& offsets) {
    const auto laps = laps_of(4096, offsets, 1, 64);
    return meter_.time(arena, offsets, offsets.size() > 500'000 ? 1 : laps + 1, laps);
}

std::uint64_t SpanSweep::last_quiet(const Trend& trend, std::uint64_t low, std::uint64_t high, double share,
                                    double resolution) {
    const std::uint64_t step = stride_at(high);
    const auto enough = std::max(step, static_cast<std::uint64_t>(static_cast<double>(low) * resolution));
    while (high - low > enough) {
        const std::uint64_t middle = low + (high - low) / 2 / step * step;
        if (middle == low) break;
        (rises_everywhere(trend, middle, share) ? high : low) = middle;
    }
    return low;
}

bool SpanSweep::rises_everywhere(const Trend& trend, std::uint64_t bytes, double share) {
    if (!rises(trend, {bytes, time(bytes)}, share)) return false;
    // A small rise may be what is left of the first laps, of which pseudo-LRU keeps something for long.
    if (time(bytes) < 1.2 * trend.at(bytes) && !rises(trend, {bytes, long_redundant(bytes)}, share)) return false;
    // What slows a machine down for a while does so in all trials of one time.
    for (unsigned i = 0; i < askings_with_noise && meter_.noise() > 0; ++i)
        if (!rises(trend, {bytes, time(bytes, stride_at(bytes))}, share)) return false;
    if (stride_ <= 128 || bytes + 2 * moved_by > arena_.bytes) return true;
    for (unsigned move = 1; move <= 2; ++move)
        if (!rises(trend, {bytes, time_moved(bytes, move)}, share)) return false;
    return true;
}

bool SpanSweep::rises(const Trend& trend, const SpanTime& point, double share) const {
    const double expected = trend.at(point.bytes);
    return point.cycles > expected * (1 + share) + meter_.tolerance(expected);
}

SpanSweep sweep_to_memory(Meter& meter, const L1Geometry& l1, std::uint64_t stride, std::uint64_t local) {
    for (std::uint64_t most = usual_span;; most *= 4) {
        SpanSweep sweep(meter, l1, stride, local, most);
        if (most >= meter.capabilities().largest_arena || sweep.reaches_memory()) return sweep;
    }
}

}  // namespace cachetally

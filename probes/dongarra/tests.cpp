#include "probes/dongarra/tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t element = 8;  ///< bytes
constexpr std::uint64_t least_array = 1024;
constexpr double clear_misses = 0.01;  ///< of loads
constexpr double some_misses = 0.5;    ///< of a lap: one that comes now and then is of others

/// Misses of one cache or TLB.
class Events {
public:
    Events(Meter& meter, bool hardened, bool tlb, unsigned level)
        : meter_(meter),
          tlb_(tlb),
          level_(level),
          arena_(meter.target().make_arena(
              std::min<std::uint64_t>(meter.capabilities().largest_arena, std::uint64_t{64} << 20),
              hardened && !tlb ? meter.large_page() : meter.page())) {}

    std::uint64_t most() const { return arena_.bytes; }

    /// Of one lap.
    double per_lap(const Offsets& offsets) {
        const unsigned laps = offsets.size() < 1024 ? 64 : 2;
        const Measurement found = meter_.count(arena_, {offsets}, {laps, laps});
        return (tlb_ ? found.tlb_misses : found.cache_misses)[level_] * static_cast<double>(offsets.size());
    }
    double per_load(const Offsets& offsets) { return per_lap(offsets) / static_cast<double>(offsets.size()); }

private:
    Meter& meter_;
    bool tlb_;
    unsigned level_;
    Arena arena_;
};

struct Geometry {
    std::uint64_t capacity = 0, block = 0, ways = 0;
    std::uint64_t high = 0;  ///< where misses are clear: above the capacity, if lines of others take some of it
};

/// papi_cacheBlock, case 1 and 2: misses per access double with the stride until there is one per access.
std::uint64_t block_size(Events& events, std::uint64_t array, std::uint64_t least) {
    double before = events.per_load(strided_string(array, least));
    if (before <= 0) return 0;
    for (std::uint64_t stride = 2 * least; stride <= array / 2; stride *= 2) {
        const double misses = events.per_load(strided_string(array, stride));
        if (misses < 1.5 * before) return stride / 2;
        before = misses;
    }
    return 0;
}

/// papi_cacheBlock, case 3: the first stride at which the elements left make no misses any more.
std::uint64_t fitting_elements(Events& events, std::uint64_t array, std::uint64_t from) {
    for (std::uint64_t stride = from; stride <= array / 2; stride *= 2)
        if (events.per_lap(strided_string(array, stride)) <= some_misses) return array / stride;
    return 1;
}

/// The number of elements that fit, between a number that does and twice as many, which do not.
std::uint64_t refined_ways(Events& events, std::uint64_t array, std::uint64_t fit) {
    const std::uint64_t stride = array / fit;
    std::uint64_t low = fit, high = 2 * fit;
    while (high - low > 1 && high * stride <= events.most()) {
        const std::uint64_t middle = (low + high) / 2;
        (events.per_lap(strided_string(middle * stride, stride)) <= some_misses ? low : high) = middle;
    }
    return low;
}

Geometry measure(Events& events, bool hardened, bool tlb, std::uint64_t step, TestReport& report,
                 const std::string& level) {
    Geometry found;
    // papi_cacheSize: powers of two first, then the size at which misses begin.
    std::uint64_t fits = 0, array = std::max(least_array, step);
    const auto misses = [&](std::uint64_t bytes) { return events.per_lap(strided_string(bytes, step)) > some_misses; };
    while (array <= events.most() && !misses(array)) fits = array, array *= 2;
    if (array > events.most() || fits == 0) return found;
    for (std::uint64_t high = array; high - fits > step;) {
        const std::uint64_t middle = fits + (high - fits) / 2 / step * step;
        (misses(middle) ? high : fits) = middle;
    }
    found.capacity = found.high = fits;
    if (hardened && !tlb) {
        const auto clear = [&](std::uint64_t bytes) {
            return events.per_load(strided_string(bytes, step)) > clear_misses;
        };
        for (std::uint64_t low = fits, high = array; high - low > std::max(step, fits / 128);) {
            const std::uint64_t middle = low + (high - low) / 2 / step * step;
            (clear(middle) ? high : low) = middle;
            found.high = high;
        }
    }
    array = std::bit_ceil(2 * fits);
    if (array > events.most()) return found;
    found.block = block_size(events, array, tlb ? 64 : element);
    if (found.block == 0) return found;
    const std::uint64_t fit = fitting_elements(events, array, 2 * found.block);
    found.ways = hardened ? refined_ways(events, array, fit) : fit;
    report.decisions.push_back(
        fmt::format("{}: misses begin beyond {} bytes; blocks of {} bytes; {} elements fit one set", level, fits,
                    found.block, found.ways));
    return found;
}

void answer(TestReport& report, const std::string& level, const std::string& parameter, std::uint64_t value,
            const std::string& unit, const std::string& method) {
    const auto number = static_cast<double>(value);
    if (value == 0) {
        report.refuse(level, parameter, "the counts of misses show no edge within the arena");
    } else {
        report.answer(level, parameter, number, number, number, unit, method);
    }
}

TestReport measure_all(Meter& meter, bool hardened) {
    TestReport report;
    report.test = "events";
    report.variant = hardened ? "hardened" : "published";
    const Capabilities& can = meter.capabilities();
    if (can.cache_events == 0) {
        report.refuse(
            "", "levels",
            "event counts are not to be had: " + (can.no_events.empty() ? "there is no cache" : can.no_events));
        return report;
    }
    const auto add_levels = [&](unsigned count, bool tlb) {
        std::uint64_t above = 0;  ///< ways
        for (unsigned i = 0; i < count; ++i) {
            const std::string level = fmt::format("{}{}", tlb ? "TLB" : "L", i + 1);
            Events events(meter, hardened, tlb, i);
            const std::uint64_t step = tlb ? std::min<std::uint64_t>(meter.page(), 4096) : hardened ? 32 : element;
            const Geometry found = measure(events, hardened, tlb, step, report, level);
            if (tlb) {
                answer(report, level, "entries", found.block == 0 ? 0 : found.capacity / found.block, "entries",
                       "papi_cacheSize on TLB misses");
                answer(report, level, "page", found.block, "bytes", "papi_cacheBlock, cases 1 and 2");
            } else if (hardened && found.capacity != 0) {
                const auto low = static_cast<double>(found.capacity), high = static_cast<double>(found.high);
                if (high > 1.08 * low)
                    report.refuse(level, "capacity", fmt::format("misses grow between {} and {} bytes", low, high));
                else
                    report.answer(level, "capacity", low, low, high, "bytes", "papi_cacheSize");
                answer(report, level, "line", found.block, "bytes", "papi_cacheBlock, cases 1 and 2");
            } else {
                answer(report, level, "capacity", found.capacity, "bytes", "papi_cacheSize");
                answer(report, level, "line", found.block, "bytes", "papi_cacheBlock, cases 1 and 2");
            }
            if (hardened && found.ways != 0 &&
                (found.capacity % found.ways != 0 || !std::has_single_bit(found.capacity / found.ways)))
                report.refuse(level, "ways",
                              fmt::format("{} locations fit one set, which is no whole part of a cache of {} bytes",
                                          found.ways, found.capacity));
            else if (hardened && found.ways != 0 && found.ways <= above)
                report.refuse(level, "ways", "the level above has as many, and may keep all locations that meet");
            else
                answer(report, level, "ways", found.ways, "ways", "papi_cacheBlock, case 3");
            above = std::max(above, found.ways);
        }
    };
    add_levels(can.cache_events, false);
    add_levels(can.tlb_events, true);
    if (!can.floating_point) return report;
    // Floating-point loads over an array that integer loads miss in L1: do they, too?
    const Arena arena = meter.target().make_arena(std::min<std::uint64_t>(can.largest_arena, 1 << 20), meter.page());
    const Offsets array = strided_string(arena.bytes, 64);
    const double integer = meter.count(arena, {array, false}, {2, 2}).cache_misses.front();
    const double floating = meter.count(arena, {array, true}, {2, 2}).cache_misses.front();
    report.answer("L1", "fp_bypass", integer > 0.5 && floating == 0 ? "present" : "absent",
                  "misses of L1 by loads of either kind");
    return report;
}

}  // namespace

TestReport events_published(Meter& meter) { return measure_all(meter, false); }
TestReport events_hardened(Meter& meter) { return measure_all(meter, true); }

}  // namespace cachetally

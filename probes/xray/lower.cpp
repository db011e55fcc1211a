// SPDX-License-Identifier: BSD-3-Clause
#include "probes/tests.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/random.hpp"
#include "probes/analysis.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

constexpr unsigned most_levels = 4;
constexpr std::uint64_t least_page = 4096;
constexpr std::uint64_t most_locations = 4096;
constexpr std::uint64_t shortest_stride = 64;

/// All levels above the one that is measured, as one.
struct Upper {
    std::uint64_t capacity = 0, way = 0;
    unsigned ways() const { return static_cast<unsigned>(capacity / way); }
};

struct Level {
    std::uint64_t capacity = 0, way = 0, ways = 0, line = 0;
    double latency = 0;
    std::string reason;  ///< where nothing was found
};

class LowerLevel {
public:
    LowerLevel(Meter& meter, const Arena& arena, const Upper& upper, double l1_hit, std::vector<std::string>& decisions)
        : meter_(meter), arena_(arena), upper_(upper), l1_hit_(l1_hit), decisions_(decisions) {}

    Level measure() {
        Level level;
        const Offsets above = random_string(2 * upper_.capacity, upper_.way, meter_.seed());
        hit_ = meter_.settled(arena_, above);
        if (translation(above) < 0.02 * hit_) level.latency = hit_;
        // Twice as large as what lies above (4.5), so that it holds at least so many locations S_old apart.
        std::uint64_t n = 2 * upper_.ways();
        while (compact(upper_.way, n, 0)) {
            n *= 2;
            if (n > most_locations || n * upper_.way > arena_.bytes)
                return nothing("times do not rise within the arena");
        }
        std::uint64_t stride = upper_.way, old = smallest(stride, n);
        if (old == 0) return nothing("a single location does not stay");
        while (true) {
            stride *= 2;
            if ((old + 1) * stride > arena_.bytes) return nothing("the number of ways is not reached within the arena");
            n = smallest(stride, old);
            if (n == 0) return nothing("a longer stride made fewer conflicts");
            decisions_.push_back(fmt::format("stride {}: {} locations do not fit", stride, n));
            // Locations S_old apart in the same set: a decomposed stride is all conflicts, and the plain one decides.
            if (stride == 2 * upper_.way && old * stride <= arena_.bytes && !plain(stride, old) &&
                plain(stride, old - 1))
                return below(level, old - 1);
            if (n == old) return done(level, stride / 2, n - 1, n - 1);
            old = n;
        }
    }

private:
    Level nothing(std::string reason) const { return {0, 0, 0, 0, 0, std::move(reason)}; }

    /// A way may be shorter than S_old, at which so many locations are all that fit: then it is the longest stride at
    /// half of which twice as many do. Levels above keep none of them as long as they are twice what these hold.
    Level below(Level level, std::uint64_t ways) {
        std::uint64_t stride = upper_.way, fit = ways;
        while (stride > shortest_stride && ways * stride / 2 >= 2 * upper_.capacity) {
            const std::uint64_t closer = most_that_fit(stride / 2, 2 * fit);
            decisions_.push_back(fmt::format("stride {}: {} locations fit", stride / 2, closer));
            if (closer == 2 * fit) break;
            stride /= 2;
            fit = closer;
        }
        return done(std::move(level), stride, ways, fit);
    }

    /// The most locations up to `most` that are compact, not decomposed: at least as many as at twice the stride.
    std::uint64_t most_that_fit(std::uint64_t stride, std::uint64_t most) {
        return bisect(most / 2, most + 1, [&](std::uint64_t n) { return plain(stride, n); }).low;
    }

    /// `fit`: of locations a way apart. Levels above that are exclusive keep some more where their ways are longer.
    Level done(Level level, std::uint64_t way, std::uint64_t ways, std::uint64_t fit) {
        level.capacity = way * fit;
        level.way = way;
        level.ways = ways;
        for (std::uint64_t shift = 8; shift < way; shift *= 2)
            if (compact(way, 2 * ways, shift)) {
                level.line = shift;
                break;
            }
        return level;
    }

    /// r = ceil((A_up + 1) / n)
    unsigned parts(std::uint64_t n) const {
        return static_cast<unsigned>((upper_.ways() + n) / std::max<std::uint64_t>(1, n));
    }

    Offsets string(std::uint64_t stride, std::uint64_t n, std::uint64_t shift) const {
        unsigned r = parts(n);
        while (r > 0 && r * upper_.way >= stride) --r;
        return decomposed_string(stride, n, upper_.way, r, shift);
    }

    bool compact(std::uint64_t stride, std::uint64_t n, std::uint64_t shift) {
        return compact(string(stride, n, shift));
    }

    bool compact(const Offsets& offsets) {
        if (!meter_.takes_longer(arena_, offsets, hit_ * 1.02)) return true;
        return meter_.settled(arena_, offsets) <= (hit_ + translation(offsets)) * 1.02;
    }

    /// What TLBs take: some hold only parts of large pages (on Itanium 2 4 KiB of any), so that these cost something
    /// without conflicts, too.
    double translation(Offsets offsets) {
        for (std::size_t i = 0; std::uint64_t & offset : offsets.change())
            offset = offset / least_page * least_page + splitmix64(i++) % (least_page / 128) * 128;
        return std::max(0.0, meter_.settled(arena_, offsets) - l1_hit_);
    }

    /// Whether <S,n>, not decomposed, is compact.
    bool plain(std::uint64_t stride, std::uint64_t n) { return compact(compact_string(stride, n)); }

    /// The smallest number of locations up to `high` that is not compact; 0 = none.
    std::uint64_t smallest(std::uint64_t stride, std::uint64_t high) {
        if (high * stride > arena_.bytes || compact(stride, high, 0)) return 0;
        return bisect(1, high, [&](std::uint64_t n) { return compact(stride, n, 0); }).high;
    }

    Meter& meter_;
    const Arena& arena_;
    Upper upper_;
    double l1_hit_;
    std::vector<std::string>& decisions_;
    double hit_ = 0;
};

}  // namespace

TestReport xray_lower_published(Meter& meter, const L1Geometry& l1) {
    TestReport report;
    const Arena arena = meter.arena_up_to(std::uint64_t{64} << 20, meter.large_page());
    Upper upper{l1.capacity, l1.way()};
    for (unsigned number = 2; number <= most_levels; ++number) {
        const std::string name = fmt::format("L{}", number);
        if (upper.capacity % upper.way != 0 || upper.ways() > most_locations / 4) break;
        const Level level = LowerLevel(meter, arena, upper, l1.latency, report.decisions).measure();
        if (level.capacity == 0) {
            if (number == 2) report.refuse(name, "capacity", level.reason);
            report.decisions.push_back(fmt::format("{}: {}", name, level.reason));
            break;
        }
        const std::string method = "compact sets <S,n,S_old,r>";
        report.answer(name, "capacity", level.capacity, "bytes", method);
        report.answer(name, "ways", level.ways, "ways", method);
        if (level.line != 0) report.answer(name, "line", level.line, "bytes", method + " with half of a set shifted");
        if (level.latency > 0)
            report.answer(name, "latency", level.latency, level.latency * 0.98, level.latency, "cycles", method);
        else
            report.refuse(name, "latency", "the times hold what some TLB takes");
        upper = {level.capacity, std::min(upper.way, level.way)};
    }
    return report;
}

}  // namespace cachetally

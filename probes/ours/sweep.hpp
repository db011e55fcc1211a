// SPDX-License-Identifier: BSD-3-Clause
// Times of chases over spans: what tests of cache levels look at.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "probes/tests.hpp"

namespace cachetally {

struct SpanTime {
    std::uint64_t bytes = 0;
    double cycles = 0;
};

/// What the times of quiet points foretell for larger spans.
struct Trend {
    SpanTime last;
    double slope = 0;  ///< cycles per byte, not negative

    double at(std::uint64_t bytes) const {
        return last.cycles + slope * (static_cast<double>(bytes) - static_cast<double>(last.bytes));
    }
};

/// Chases of lines `stride` apart, in random order within pieces of `local` bytes, over spans that grow by equal ratios
/// from the capacity of L1 to the arena. Where a set is chosen by fields of the address in all levels, lines of larger
/// spans lie farther apart. (ours)
class SpanSweep {
public:
    /// Spans up to `most` bytes, or what the target can give.
    SpanSweep(Meter& meter, const L1Geometry& l1, std::uint64_t stride, std::uint64_t local, std::uint64_t most);

    const std::vector<SpanTime>& points() const { return points_; }
    std::uint64_t stride() const { return stride_; }
    std::uint64_t local() const { return local_; }  ///< bytes of the pieces within which lines are in random order

    /// Bytes between lines of a span that TLBs and longer lines of lower levels show in, as L1 holds none: where it
    /// hashes sets, it would hold several times its capacity of lines far apart.
    std::uint64_t apart(std::uint64_t bytes) const {
        constexpr std::uint64_t long_line = 256, much = 16;
        return l1_.scattered && bytes < much * l1_.capacity ? l1_.line : std::max(l1_.line, long_line);
    }

    /// Whether sets are fields of the address: shown by lines that meet in few sets, and miss.
    bool fields() const { return fields_; }

    /// Bytes between the lines of a span.
    std::uint64_t stride_at(std::uint64_t bytes) const;

    /// Whether lines of the largest span come from memory: lines that nobody has used take no longer. Where the target
    /// has every line in a cache before its first use, this is not seen.
    bool reaches_memory();

    /// Whether loads of a span wait for memory that is still busy with those before them.
    bool waits(std::uint64_t bytes);

    /// Whether others take lines of a span that a level holds: the more of them, the longer a lap takes.
    bool loses_lines(std::uint64_t bytes);

    /// By how much, as a share, hits of L1 make the time of a span less than the latency of what answers the other
    /// loads; 0 if its misses are not counted exactly.
    double lessened_by_l1(const SpanTime& point);

    double time(std::uint64_t bytes);
    /// Where lines lie closer to each other, or farther.
    double time(std::uint64_t bytes, std::uint64_t stride);

    /// The time of all lines of some pages, in an order that leaves little to any TLB. Where sets are fields of the
    /// address pages far apart are as good as all.
    double time_local(std::uint64_t bytes, std::uint64_t line);

    /// The largest span up to `high` whose time does not exceed the trend by more than `share`, from `low`, which does
    /// not; off by no more than `resolution` of it.
    std::uint64_t last_quiet(const Trend& trend, std::uint64_t low, std::uint64_t high, double share,
                             double resolution = 0);

    /// Lines of others (of page tables, say) may stay in some sets for good, and pages lie badly; so other sets, on
    /// other pages, are tried, too.
    bool rises_everywhere(const Trend& trend, std::uint64_t bytes, double share);

    /// The time of lines `stride` apart in pieces of `piece` bytes, at these offsets; page after page.
    double time_of_pieces(std::span<const std::uint64_t> pieces, std::uint64_t piece, std::uint64_t stride);

    /// Bytes that spans are part of.
    std::uint64_t arena_bytes() const { return arena_.bytes; }

    /// Whether the time of a span differs on other pages, by more than `share`.
    bool differs_elsewhere(std::uint64_t bytes, double share);

    bool rises(const Trend& trend, const SpanTime& point, double share) const;

private:
    bool sets_are_fields();
    Offsets lines_of(std::uint64_t bytes) const;
    double long_redundant(std::uint64_t bytes);
    double time_moved(std::uint64_t bytes, unsigned move);
    double time_of(const Arena& arena, const Offsets& offsets);
    const Arena& other(unsigned number);

    Meter& meter_;
    L1Geometry l1_;
    std::uint64_t stride_, local_;
    bool fields_ = false;
    Arena arena_;
    std::vector<Arena> others_;
    std::vector<SpanTime> points_;
    std::map<std::uint64_t, double> known_, known_redundant_;
};

/// Spans up to 64 MiB, or so many that lines come from memory.
SpanSweep sweep_to_memory(Meter& meter, const L1Geometry& l1, std::uint64_t stride, std::uint64_t local);

/// Whether loads of this chain, one of each line, wait for memory to be done with those before them: then they take
/// less where others, of words of the same lines and so answered by L1, lie between. (ours)
bool loads_wait(Meter& meter, const Arena& arena, const Offsets& lines, const L1Geometry& l1);

/// Whether others take lines that a level holds: with hits of L1 between them, so that a lap takes longer, more are
/// lost.
bool lines_are_taken(Meter& meter, const Arena& arena, const Offsets& lines, const L1Geometry& l1);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Whether all locations of a set stay in the nearest cache, by the time of a chase of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cachetally/probe_meter.hpp"
#include "cachetally/probe_strings.hpp"

namespace cachetally {

/// Says whether sets of addresses are compact: whether all of them are hits. (X-Ray, 4.2)
class CompactTest {
public:
    static constexpr std::uint64_t location = 8;                      ///< bytes: the least stride
    static constexpr std::uint64_t largest = std::uint64_t{2} << 20;  ///< bytes that are searched for the first rise

    CompactTest(Meter& meter, bool robust, std::uint64_t seed);

    double hit_latency() const { return hit_; }
    /// The same, measured by now.
    double hit_latency_now() { return meter_.settled(arena_, {0}); }
    std::uint64_t page() const { return arena_.page; }
    std::uint64_t seed() const { return seed_; }

    /// From here on pages lie elsewhere.
    CompactTest& place_anew();
    /// From here on they lie elsewhere, and there in all strings, whichever of them these use first.
    CompactTest& keep_placed();

    /// Whether a location that is used again takes less than lines that nobody has used: then a cache has it. What
    /// translation takes is what one line of each page takes more.
    bool hits_a_cache();
    bool fits(std::uint64_t stride, std::uint64_t n) const { return stride * n + 3 * moved_by <= arena_.bytes; }

    bool operator()(std::uint64_t stride, std::uint64_t n);
    /// Elsewhere, too, only places that are multiples of 2 * shift: any other may lie across the end of a longer line.
    bool shifted(std::uint64_t stride, std::uint64_t n, std::uint64_t shift);
    /// n of the first 4n multiples of the stride, or of as many as there are, drawn by this number.
    bool drawn(std::uint64_t stride, std::uint64_t n, unsigned number);

    /// Of any locations, at least `stride` bytes apart, in these places alone.
    bool compact(Offsets offsets, std::uint64_t stride);

    /// From here on so many laps are made before a set is said not to be compact: policies that draw a way need them.
    void wait_for(unsigned laps) { least_laps_ = laps; }

private:
    static constexpr std::uint64_t moved_by = 21 * 128;  ///< bytes

    Arena new_arena() const;
    std::pair<double, double> first_use(const Offsets& offsets);

    /// Lines of others (of page tables, say) may stay in a set for good, with pseudo-LRU even beside lines that are
    /// used all the time. But no set anywhere holds more than its ways, so that one set that is compact is proof.
    bool somewhere(Offsets offsets, std::uint64_t stride, std::uint64_t move);
    bool longer(const Offsets& offsets);
    Offsets without_conflicts(const Offsets& offsets) const;

    Meter& meter_;
    bool robust_;
    std::uint64_t seed_;  ///< of orders and places
    unsigned least_laps_ = 0;
    Arena arena_;
    double hit_;
};

}  // namespace cachetally

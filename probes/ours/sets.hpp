// SPDX-License-Identifier: BSD-3-Clause
// What lines that meet in the sets of a level show: how many of them stay, and which replacement policy misses as
// often.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cachetally/probe_meter.hpp"
#include "cachetally/probe_strings.hpp"
#include "probes/result.hpp"
#include "sim/model/tags/cache_array.hpp"

namespace cachetally {

/// A cache level as far as it is known.
struct KnownLevel {
    unsigned level = 2;
    double low = 0, high = 0;  ///< bytes that the capacity lies between
    double latency = 0;        ///< cycles; needed where its misses cannot be counted
};

class CongruentLines {
public:
    /// Has an arena of the largest pages made. Decisions are added to `decisions`.
    CongruentLines(Meter& meter, const KnownLevel& known, std::vector<std::string>& decisions);

    const Arena& arena() const { return arena_; }
    bool counts_events() const { return events_; }

    /// Lines `stride` apart that all stay in the level, the most; 0 = not to be found.
    std::uint64_t most_that_stay(std::uint64_t stride);

    /// Whether so many lines `stride` apart all stay in the level: in one of a few places.
    bool stay(std::uint64_t stride, std::uint64_t count);
    bool stay(Offsets offsets);

    /// Bytes of the level to the byte: lines as far apart as a 64th and as a 128th of it (or a 256th and a 512th) fit
    /// as often as the same capacity says, and one more does not. With noise the interval may end too early, and more
    /// is tried. Empty where they do not agree: pages, lines of other levels or hashed sets make them differ. (ours;
    /// after X-Ray, 4.5)
    std::optional<std::uint64_t> capacity();

    /// Whether capacity() found that it depends on where pages lie.
    bool uneven() const { return uneven_; }

    /// Whether capacity() found, with noise, that more stays than the interval holds, and not how much.
    bool beyond() const { return beyond_; }

private:
    std::optional<std::uint64_t> capacity_by(std::uint64_t stride);
    Offsets lines_apart(std::uint64_t stride, std::uint64_t count) const;
    bool misses(const Offsets& offsets);

    Meter& meter_;
    KnownLevel known_;
    std::vector<std::string>& decisions_;
    bool events_, uneven_ = false, beyond_ = false;
    Arena arena_;
};

/// The policy of this name, if it is one of those that are compared.
std::optional<Replacement> known_policy(const std::string& name);

/// A set whose policy is looked for, and how: lines of it are visited several times each in random orders.
struct PolicySearch {
    std::string level;
    unsigned ways = 0;
    std::uint64_t way = 0;   ///< bytes between lines of the set
    std::uint64_t line = 0;  ///< bytes of a line: each visit is of another word of it
    std::uint64_t seed = 0;
    /// The share of loads that miss with a policy in the long run; lines by number, in the order of visits.
    std::function<double(const std::vector<std::uint64_t>& order, Replacement policy)> expected;
    std::function<double(const Offsets& loads)> measured;
    double best_error = 0;              ///< root of the mean square of differences in the share of misses, at most
    std::string unlike, alike, method;  ///< why none or no single policy is answered; how one is
};

/// Bytes of arena that such loads need beyond those of the lines.
inline constexpr std::uint64_t policy_margin = 3 * 21 * 128;

/// Answers or refuses the replacement policy of the level. (ours)
void find_policy(TestReport& report, const PolicySearch& search);

}  // namespace cachetally

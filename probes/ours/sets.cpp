// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "probes/analysis.hpp"
#include "sim/model/replacement/table.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t largest = std::uint64_t{64} << 20;
constexpr std::uint64_t moved_by = 21 * 128;
constexpr unsigned redundant_at_random = 256;  ///< laps
constexpr double some_misses = 0.02;           ///< of a lap
/// Interrupts take lines of sets that are full, each of which costs a round of them: long laps seem to miss before a
/// level ends.
constexpr double beyond_with_noise = 1.3;
/// Of pages that are compared: where sets are an odd multiple of a power of two, few fill them evenly.
constexpr unsigned other_placements = 24;

std::uint64_t bytes_for(const KnownLevel& known) {
    return std::max(largest, 2 * std::bit_ceil(static_cast<std::uint64_t>(known.high)));
}

}  // namespace

CongruentLines::CongruentLines(Meter& meter, const KnownLevel& known, std::vector<std::string>& decisions)
    : meter_(meter),
      known_(known),
      decisions_(decisions),
      events_(meter.capabilities().cache_events >= known.level),
      arena_(meter.arena_up_to(bytes_for(known), meter.large_page())) {}

std::uint64_t CongruentLines::most_that_stay(std::uint64_t stride) {
    std::uint64_t low = 1, high = 8;
    while (stay(stride, high)) {
        low = high;
        high *= 2;
        if (high * stride + 2 * moved_by > 2 * arena_.bytes) return 0;
        high = std::min(high, (arena_.bytes - 2 * moved_by) / stride);
        if (high <= low) return 0;
    }
    low = bisect(low, high, [&](std::uint64_t count) { return stay(stride, count); }).low;
    decisions_.push_back(fmt::format("{} lines {} bytes apart stay in L{}", low, stride, known_.level));
    return low;
}

std::optional<std::uint64_t> CongruentLines::capacity() {
    if (!events_ && known_.latency == 0) return {};
    // Distances have to divide a way, which may be an odd multiple of a power of two.
    for (const std::uint64_t parts : {64, 256})
        if (const auto found = capacity_by(std::bit_floor(static_cast<std::uint64_t>(known_.low) / parts))) {
            beyond_ = false;
            return found;
        }
    return {};
}

/// By lines so far apart, and by lines half as far.
std::optional<std::uint64_t> CongruentLines::capacity_by(std::uint64_t stride) {
    const auto least = static_cast<std::uint64_t>(known_.low),
               most = static_cast<std::uint64_t>(known_.high * (meter_.noise() > 0 ? beyond_with_noise : 1));
    if (stride < 2) return {};
    std::uint64_t count = (least + stride - 1) / stride;
    if (!stay(stride, count)) return {};
    while ((count + 1) * stride <= most && stay(stride, count + 1)) ++count;
    beyond_ = beyond_ || static_cast<double>(count * stride) > known_.high;
    if ((count + 1) * stride > most && stay(stride, count + 1)) return {};
    decisions_.push_back(fmt::format("{} lines {} bytes apart stay in L{}", count, stride, known_.level));
    const auto exactly = [&](std::uint64_t apart, std::uint64_t lines) {
        return stay(apart, lines) && !stay(apart, lines + 1);
    };
    if (!exactly(stride / 2, 2 * count)) return {};
    const Arena here = arena_;
    bool agree = true;  // several pages may fill sets unevenly, and otherwise elsewhere
    for (unsigned i = 0; i < other_placements && agree && most > arena_.page; ++i) {
        arena_ = meter_.target().make_arena(here.bytes, here.page);
        agree = stay(stride, count) && misses(lines_apart(stride, count + 1));
    }
    arena_ = here;
    uneven_ = !agree;
    return agree ? std::optional(count * stride) : std::nullopt;
}

Offsets CongruentLines::lines_apart(std::uint64_t stride, std::uint64_t count) const {
    return random_string(count * stride, stride, meter_.seed());
}

bool CongruentLines::stay(std::uint64_t stride, std::uint64_t count) {
    return count * stride + 2 * moved_by <= arena_.bytes && stay(lines_apart(stride, count));
}

/// Lines of others may stay in some sets; but no set anywhere holds more than its ways.
bool CongruentLines::stay(Offsets offsets) {
    for (unsigned move = 0; move < 3; ++move) {
        if (!misses(offsets)) return true;
        offsets = moved(offsets, moved_by);
    }
    return false;
}

bool CongruentLines::misses(const Offsets& offsets) {
    if (!events_) return meter_.settled(arena_, offsets) > known_.latency * 1.003 + meter_.tolerance(known_.latency);
    const auto laps = laps_of(4096, offsets, 3, 64);
    const auto misses_of = [&](unsigned warm_up) {
        const Measurement run = meter_.count(arena_, {offsets}, {warm_up, laps});
        return run.cache_misses[known_.level - 1] * static_cast<double>(offsets.size());
    };
    const double first = misses_of(laps);
    if (first <= some_misses) return false;
    // What is replaced at random takes long to find its places: about as many laps as there are ways, for each of them.
    if (misses_of(laps + 1) == first) return true;
    return misses_of(redundant_at_random) > some_misses;
}

namespace {

constexpr unsigned word = 8;  ///< bytes of a location: a line is visited as often as it has words
constexpr unsigned patterns = 10, bases = 3;
static_assert(bases * moved_by == policy_margin);

constexpr std::array candidates{Replacement::lru, replacements::tree_plru, replacements::fifo, replacements::random,
                                replacements::srrip};
using Shares = std::array<double, candidates.size()>;  ///< by candidate

/// An order of visits, as often to each line as to the others, and what each candidate would miss.
struct Trial {
    unsigned lines;
    std::vector<std::uint64_t> order;
    Shares expected;
};

/// Orders of one line more than the set has ways to nearly twice as many.
std::vector<Trial> trials_of(const PolicySearch& search) {
    const std::uint64_t visits = std::min<std::uint64_t>(3, search.line / word);
    std::vector<Trial> trials;
    for (unsigned i = 0; i < patterns; ++i) {
        Trial trial{search.ways + 1 + i * (search.ways - 1) / patterns, {}, {}};
        for (std::uint64_t visit = 0; visit < visits; ++visit)
            for (unsigned line = 0; line < trial.lines; ++line) trial.order.push_back(line);
        shuffle(trial.order, search.seed + i);
        std::ranges::transform(candidates, trial.expected.begin(),
                               [&](Replacement policy) { return search.expected(trial.order, policy); });
        trials.push_back(std::move(trial));
    }
    return trials;
}

/// How far each candidate is from what is measured. In some sets lines of others stay: the least of several.
Shares errors_of(const PolicySearch& search) {
    const std::vector<Trial> trials = trials_of(search);
    Shares errors;
    errors.fill(1);
    for (unsigned base = 0; base < bases; ++base) {
        Shares squares{};
        for (const Trial& trial : trials) {
            std::vector<unsigned> seen(trial.lines, 0);
            std::vector<std::uint64_t> loads;
            for (const std::uint64_t line : trial.order)
                loads.push_back(base * moved_by / search.line * search.line + line * search.way + word * seen[line]++);
            const double share = search.measured(loads);
            for (std::size_t c = 0; c < candidates.size(); ++c) squares[c] += std::pow(share - trial.expected[c], 2);
        }
        for (std::size_t c = 0; c < candidates.size(); ++c)
            errors[c] = std::min(errors[c], std::sqrt(squares[c] / patterns));
    }
    return errors;
}

}  // namespace

std::optional<Replacement> known_policy(const std::string& name) {
    const auto known = std::ranges::find(candidates, name, [](Replacement policy) { return name_of(policy); });
    return known == candidates.end() ? std::nullopt : std::optional(*known);
}

void find_policy(TestReport& report, const PolicySearch& search) {
    const Shares errors = errors_of(search);
    std::string text = "errors:";
    for (std::size_t c = 0; c < candidates.size(); ++c)
        text += fmt::format(" {} {:.3f}", name_of(candidates[c]), errors[c]);
    report.decisions.push_back(text);
    const auto best = static_cast<std::size_t>(std::ranges::min_element(errors) - errors.begin());
    double second = 1;
    for (std::size_t c = 0; c < candidates.size(); ++c)
        if (c != best) second = std::min(second, errors[c]);
    if (errors[best] > search.best_error)
        report.refuse(search.level, "replacement", search.unlike);
    else if (second < 2 * errors[best] + 0.01)
        report.refuse(search.level, "replacement", search.alike);
    else
        report.answer(search.level, "replacement", std::string(name_of(candidates[best])), search.method);
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Lines that move from processor to processor: the matrix, its classes and groups.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "probes/ours/cores.hpp"

namespace cachetally {
namespace {

constexpr unsigned rounds_with_noise = 63, disturbed_attempts = 3;
constexpr double like = 1.25;           ///< pairs that take less than this times as long as the next quicker are alike
constexpr double one_way_longer = 1.1;  ///< than the other way, from which it is said
constexpr double most_of_step = 0.05;   ///< of what is timed, that a step of the timer may be
constexpr std::size_t pairs_named = 8;
constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// Cycles per load, of one way or both: half of them lie between.
struct TransferTime {
    double median = 0, low = 0, high = 0;
};

/// Both ways between two processors, by their places in the list.
struct PairTime : TransferTime {
    std::size_t a = 0, b = 0;
};

bool takes_longer(const TransferTime& one, const TransferTime& other, double factor) {
    return one.low > other.high && one.median > factor * other.median;
}

/// What passes gave of one way.
struct OneWay {
    std::vector<TransferTime> passes;

    TransferTime time() const {
        if (passes.empty()) return {not_measured, not_measured, not_measured};
        std::vector<double> medians;
        for (const TransferTime& pass : passes) medians.push_back(pass.median);
        return {quantiles_of(medians).median, std::ranges::min(passes, {}, &TransferTime::low).low,
                std::ranges::max(passes, {}, &TransferTime::high).high};
    }

    /// The quickest and the slowest pass, where these are not of the same way.
    std::optional<std::pair<double, double>> moved() const {
        if (passes.empty()) return std::nullopt;
        const auto [quick, slow] = std::ranges::minmax(passes, {}, &TransferTime::median);
        if (!takes_longer(slow, quick, like)) return std::nullopt;
        return std::pair(quick.median, slow.median);
    }
};

}  // namespace

struct Transfers::Parts {
    Parts(Meter& meter, std::uint64_t line, std::uint64_t lines)
        : meter_(meter),
          processors_(meter.capabilities().processors),
          arena_(meter.target().make_arena(apart(meter, line) * lines, meter.large_page())),
          lines_(random_string(apart(meter, line) * lines, apart(meter, line), meter.seed())),
          ways_(processors_.size() * processors_.size()) {}

    /// Bytes from one line to the next, which are in random order: what is fetched beside a line, or some lines ahead,
    /// is not one of them, and 4 KiB have too few of them for a stride. An odd number of lines, so that all sets are
    /// used, and none next to a power of two, of whose multiples hashes make one set. Small pages would be more than
    /// some TLBs hold.
    static std::uint64_t apart(const Meter& meter, std::uint64_t line) {
        if (meter.large_page() <= meter.page()) return 2 * line;
        std::uint64_t lines = 71;
        for (const std::uint64_t fewer : {37, 23})
            if (fewer * line >= 2048) lines = fewer;
        return lines * line;
    }

    std::size_t all_pairs() const { return processors_.size() * (processors_.size() - 1) / 2; }
    OneWay& way(std::size_t from, std::size_t to) { return ways_[from * processors_.size() + to]; }

    /// Those nearest in number first.
    void pass(double budget_share) {
        const double least_left = meter_.left() * (1 - budget_share);
        const std::size_t count = processors_.size();
        try {
            for (std::size_t apart = 1; apart <= count / 2; ++apart)
                for (std::size_t a = 0; a < (2 * apart == count ? apart : count); ++a) {
                    if (meter_.left() < least_left) return;
                    const std::size_t b = (a + apart) % count;
                    measure(a, b);
                    measure(b, a);
                }
        } catch (const BudgetSpent&) {  // what was measured is kept
        }
    }

    void measure(std::size_t from, std::size_t to) {
        try {
            const unsigned rounds = meter_.noise() > 0 ? rounds_with_noise : 1;
            Measurement found;
            for (unsigned i = 0; i == 0 || (i < disturbed_attempts && found.conditions.disturbed); ++i)
                found = meter_.transfer(arena_, processors_[from], {processors_[to], {lines_}}, rounds);
            const Quantiles& seen = found.quantiles;
            way(from, to).passes.push_back({seen.median, seen.lower_quartile, seen.upper_quartile});
        } catch (const BudgetSpent&) {
            throw;
        } catch (const ProbeError& error) {  // others may answer
            decisions_.push_back(fmt::format("from {} to {}: {}", processors_[from], processors_[to], error.what()));
        }
    }

    ProcessorMatrix matrix() const {
        ProcessorMatrix matrix;
        matrix.name = "transfer";
        matrix.processors = processors_;
        for (const OneWay& way : ways_) {
            const TransferTime time = way.time();
            matrix.median.push_back(time.median);
            matrix.low.push_back(time.low);
            matrix.high.push_back(time.high);
        }
        return matrix;
    }

    /// Pairs that were measured both ways, and did not move.
    void collect_pairs() {
        for (std::size_t a = 0; a < processors_.size(); ++a)
            for (std::size_t b = a + 1; b < processors_.size(); ++b) {
                const OneWay &there = way(a, b), &back = way(b, a);
                if (there.passes.empty() || back.passes.empty()) continue;
                ++measured_;
                if (const auto moved = there.moved() ? there.moved() : back.moved())
                    moved_.push_back(
                        fmt::format("between {} and {} a line took {:.1f} cycles, and {:.1f} at another time",
                                    processors_[a], processors_[b], moved->first, moved->second));
                else
                    add_pair(a, b, there.time(), back.time());
            }
    }

    void add_pair(std::size_t a, std::size_t b, const TransferTime& there, const TransferTime& back) {
        const auto& [quick, slow] = there.median > back.median ? std::pair(back, there) : std::pair(there, back);
        if (takes_longer(slow, quick, one_way_longer))
            decisions_.push_back(fmt::format("between {} and {} a line takes {:.1f} cycles one way, {:.1f} the other",
                                             processors_[a], processors_[b], quick.median, slow.median));
        const TransferTime both{(slow.median + quick.median) / 2, std::min(slow.low, quick.low),
                                std::max(slow.high, quick.high)};
        pairs_.push_back({both, a, b});
    }

    std::string named(const PairTime& pair) const {
        return fmt::format("{}-{}", processors_[pair.a], processors_[pair.b]);
    }

    void say(TestReport& report) {
        collect_pairs();
        report.matrices.push_back(matrix());
        decisions_.insert(decisions_.end(), moved_.begin(), moved_.end());
        if (measured_ < all_pairs())
            decisions_.push_back(
                fmt::format("{} of {} pairs of processors were measured, those nearest in number first: "
                            "the share of the budget for them is spent, or some refused",
                            measured_, all_pairs()));
        report.decisions.insert(report.decisions.end(), decisions_.begin(), decisions_.end());
        std::ranges::sort(pairs_, {}, &PairTime::median);
        const auto classes = classes_of_pairs();
        for (std::size_t i = 0; i < classes.size(); ++i) say_class(report, i + 1, classes[i]);
        say_groups(report, classes);
    }

    using Class = std::span<const PairTime>;

    std::vector<Class> classes_of_pairs() const {
        std::vector<Class> classes;
        for (std::size_t begin = 0, i = 1; i <= pairs_.size(); ++i) {
            double high = 0;
            for (std::size_t j = begin; j < i; ++j) high = std::max(high, pairs_[j].high);
            if (i < pairs_.size() && (pairs_[i].median < like * pairs_[i - 1].median || pairs_[i].low <= high))
                continue;
            classes.push_back(Class(pairs_).subspan(begin, i - begin));
            begin = i;
        }
        return classes;
    }

    void say_class(TestReport& report, std::size_t number, Class pairs) const {
        std::vector<std::string> names;
        for (const PairTime& pair : pairs.first(std::min(pairs.size(), pairs_named))) names.push_back(named(pair));
        const double low = std::ranges::min(pairs, {}, &PairTime::low).low;
        const double high = std::ranges::max(pairs, {}, &PairTime::high).high;
        const std::string level = fmt::format("transfer {}", number);
        const double median = pairs[pairs.size() / 2].median, step = meter_.capabilities().timer_quantum;
        if (const double timed = median * static_cast<double>(lines_.size()); step > most_of_step * timed)
            return report.refuse(level, "latency",
                                 "the timer goes in steps of {:.0f} cycles; {} loads take about {:.0f}", step,
                                 lines_.size(), timed);
        report.answer(level, "latency", median, low, high, "cycles",
                      fmt::format("lines written by one processor, loaded by the other: {} pairs, {}{}", pairs.size(),
                                  fmt::join(names, " "), pairs.size() > pairs_named ? " ..." : ""));
    }

    /// Processors of which each is near to one of the others.
    ProcessorGroups near(Class nearest) const {
        std::vector<std::size_t> group(processors_.size());
        for (std::size_t i = 0; i < group.size(); ++i) group[i] = i;
        for (const PairTime& pair : nearest) {
            const std::size_t joined = group[pair.b];
            std::ranges::replace(group, joined, group[pair.a]);
        }
        ProcessorGroups groups;
        for (std::size_t number = 0; number < group.size(); ++number) {
            std::vector<unsigned> members;
            for (std::size_t i = 0; i < group.size(); ++i)
                if (group[i] == number) members.push_back(processors_[i]);
            if (!members.empty()) groups.push_back(std::move(members));
        }
        std::ranges::sort(groups);
        return groups;
    }

    void say_groups(TestReport& report, const std::vector<Class>& classes) const {
        if (!moved_.empty())
            return report.refuse("", "transfer_groups",
                                 "{}: something below the system, such as a hypervisor, may move processors",
                                 moved_.front());
        if (measured_ < all_pairs())
            return report.refuse("", "transfer_groups", "{} of {} pairs of processors were not measured{}",
                                 all_pairs() - measured_, all_pairs(),
                                 decisions_.empty() ? "" : ", as: " + decisions_.front());
        const ProcessorGroups groups = near(classes.front());
        std::size_t within = 0;
        for (const auto& group : groups) within += group.size() * (group.size() - 1) / 2;
        if (within != classes.front().size())
            return report.refuse("", "transfer_groups",
                                 "no groups: some processors are near to the same one, but not to each other");
        report.answer("", "transfer_groups", in_words(groups),
                      classes.size() == 1 ? "all pairs of processors at like latency"
                                          : "processors at the least latency from each other");
    }

    Meter& meter_;
    std::vector<unsigned> processors_;
    Arena arena_;
    Offsets lines_;
    std::vector<OneWay> ways_;  ///< row by row
    std::vector<std::string> decisions_, moved_;
    std::vector<PairTime> pairs_;
    std::size_t measured_ = 0;  ///< pairs
};

std::string in_words(const ProcessorGroups& groups) {
    std::vector<std::string> words;
    for (const auto& group : groups) {
        std::vector<std::string> parts;
        for (std::size_t begin = 0, end = 0; begin < group.size(); begin = end) {
            for (end = begin + 1; end < group.size() && group[end] == group[end - 1] + 1;) ++end;
            if (end - begin > 2)
                parts.push_back(fmt::format("{}-{}", group[begin], group[end - 1]));
            else
                for (std::size_t i = begin; i < end; ++i) parts.push_back(fmt::format("{}", group[i]));
        }
        words.push_back(fmt::format("{}", fmt::join(parts, "+")));
    }
    return fmt::format("{}", fmt::join(words, " "));
}

Transfers::Transfers(Meter& meter, std::uint64_t line, std::uint64_t lines)
    : parts_(std::make_unique<Parts>(meter, line, lines)) {}
Transfers::~Transfers() = default;

void Transfers::pass(double budget_share) { parts_->pass(budget_share); }

void Transfers::say(TestReport& report) const {
    Parts said = *parts_;
    said.say(report);
}

}  // namespace cachetally

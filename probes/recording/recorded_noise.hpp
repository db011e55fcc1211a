// SPDX-License-Identifier: BSD-3-Clause
// RecordedNoise: how a recorded machine disturbed its runs, and draws of it for simulated ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "probes/recording/recording.hpp"
#include "probes/target.hpp"

namespace cachetally {

/// Runs that were made at least three times (the same arena, string and effort), each over the quiet time of its
/// question: the median of those runs that take at most Meter's share of a misjudged clock more than the least that
/// another one agrees with. Interference only lengthens (Cooper and Xu 2018, 3.1); what is less than quiet is a
/// misjudged clock. Runs are kept with those that are like them, as loads that leave L1 are also disturbed by who
/// shares the levels below, and long runs by more than short ones. (ours)
class RecordedNoise {
public:
    /// A run, over the quiet time of its question.
    struct Run {
        double slowdown = 1;  ///< its time over the quiet one
        Quantiles quantiles;  ///< of its samples, over its time
        Conditions conditions;

        /// Time that it took for each cycle that counts: disturbed samples were made again.
        double lost() const;
    };

    /// Throws ProbeError where fewer than `least_runs` were made three times.
    explicit RecordedNoise(const Recording& recording);
    static constexpr std::size_t least_runs = 256;

    double timer_quantum() const { return timer_quantum_; }  ///< cycles, as Capabilities has it

    /// The runs of a question, in the order in which they were made.
    using Question = std::vector<Run>;

    /// Questions whose runs are like one of `cycles` in all, without what warms up, whose steps take `relative` times
    /// the quickest load. Where these have fewer than 64 runs, the nearest others.
    const std::vector<Question>& like(double relative, double cycles) const;

    std::size_t runs() const { return runs_; }

private:
    /// Powers of four: of the relative time beyond 1.1, and of the cycles.
    using Kind = std::pair<int, int>;
    static Kind kind_of(double relative, double cycles);
    void merge_small_kinds();
    Kind nearest(Kind kind) const;

    double timer_quantum_ = 0;
    std::size_t runs_ = 0;
    std::map<Kind, std::vector<Question>> kinds_;
};

/// Runs of all questions.
std::size_t runs_of(const std::vector<RecordedNoise::Question>& questions);

/// Draws runs so that each is drawn equally often: a question, then its runs from one of them on, and again from the
/// first. Trials of one question are thus as like each other as those recorded: what lasts for some of them does so
/// again, and what one string suffers from does not come to others. (A bootstrap of clusters.) Equal seeds give equal
/// draws.
class NoiseDraws {
public:
    NoiseDraws(std::shared_ptr<const RecordedNoise> noise, std::uint64_t seed)
        : noise_(std::move(noise)), random_(seed) {}

    /// What comes next is another question.
    void begin() { question_ = nullptr; }

    /// As RecordedNoise::like() says.
    const RecordedNoise::Run& next(double relative, double cycles);

private:
    std::shared_ptr<const RecordedNoise> noise_;
    Random random_;
    const RecordedNoise::Question* question_ = nullptr;
    std::size_t place_ = 0;  ///< of the run that comes next
};

}  // namespace cachetally

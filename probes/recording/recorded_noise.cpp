// SPDX-License-Identifier: BSD-3-Clause
#include "probes/recording/recorded_noise.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <tuple>

#include "cachetally/probe_meter.hpp"

namespace cachetally {
namespace {

constexpr std::size_t least_repeats = 3;  ///< two say nothing of which of them is quiet
constexpr double agreement = 0.01;        ///< share by which the second one takes more, at most
constexpr double leaves_l1 = 1.1;         ///< times the quickest load
constexpr std::size_t least_alike = 64;

/// The least time that another one agrees with, unless that is no misjudged clock more than the least one.
double least_agreed(std::vector<double> times) {
    std::ranges::sort(times);
    for (std::size_t i = 0; i + 1 < times.size() && times[i] <= times.front() * (1 + Meter::misjudged); ++i)
        if (times[i + 1] <= times[i] * (1 + agreement)) return times[i];
    return times.front();
}

double quiet_time(const std::vector<double>& times) {
    const double least = least_agreed(times);
    std::vector<double> quiet;
    for (const double time : times)
        if (std::abs(time - least) <= Meter::misjudged * least) quiet.push_back(time);
    std::ranges::sort(quiet);
    return (quiet[(quiet.size() - 1) / 2] + quiet[quiet.size() / 2]) / 2;
}

/// A question that was asked several times.
struct Repeated {
    std::vector<std::size_t> runs;
    double quiet = 0;   ///< cycles per step
    double cycles = 0;  ///< that its effort asks for, without what warms up
};

bool says_how_long(const RecordedRun& run) {
    using Kind = RecordedRun::Kind;
    return (run.kind == Kind::run || run.kind == Kind::stream) && run.end == RecordedRun::End::complete &&
           run.effort.warm_up > 0 && run.measurement.cycles > 0;
}

double steps_of_lap(const Recording& recording, const RecordedRun& run) {
    if (run.kind == RecordedRun::Kind::stream) return static_cast<double>(run.stream.bytes) / Streaming::block;
    const RecordedString& string = recording.strings.all().at(run.string);
    return static_cast<double>(string.offsets(recording.arenas.at(run.arena).arena.bytes).size());
}

std::vector<Repeated> repeated(const Recording& recording) {
    std::map<std::tuple<RecordedRun::Kind, std::uint32_t, std::uint32_t, bool, unsigned, Streaming::Kind, std::uint64_t,
                        unsigned, unsigned, double>,
             Repeated>
        questions;
    for (std::size_t i = 0; i < recording.runs.size(); ++i) {
        const RecordedRun& run = recording.runs[i];
        if (says_how_long(run))
            questions[{run.kind, run.arena, run.string, run.floating_point, run.chains, run.stream.kind,
                       run.stream.bytes, run.effort.warm_up, run.effort.laps, run.effort.least_cycles}]
                .runs.push_back(i);
    }
    std::vector<Repeated> found;
    for (auto& [question, asked] : questions) {
        if (asked.runs.size() < least_repeats) continue;
        std::vector<double> times;
        for (const std::size_t i : asked.runs) times.push_back(recording.runs[i].measurement.cycles);
        const RecordedRun& first = recording.runs[asked.runs.front()];
        asked.quiet = quiet_time(times);
        asked.cycles = std::max(first.effort.least_cycles,
                                asked.quiet * steps_of_lap(recording, first) * std::max(1U, first.effort.laps));
        found.push_back(std::move(asked));
    }
    return found;
}

RecordedNoise::Run over_quiet(const Measurement& found, double quiet) {
    return {found.cycles / quiet, found.quantiles.times(1 / found.cycles), found.conditions};
}

}  // namespace

double RecordedNoise::Run::lost() const {
    return static_cast<double>(conditions.dropped) /
           static_cast<double>(std::max<std::uint64_t>(1, conditions.samples));
}

std::size_t runs_of(const std::vector<RecordedNoise::Question>& questions) {
    std::size_t runs = 0;
    for (const RecordedNoise::Question& question : questions) runs += question.size();
    return runs;
}

RecordedNoise::RecordedNoise(const Recording& recording) : timer_quantum_(recording.capabilities.timer_quantum) {
    const std::vector<Repeated> questions = repeated(recording);
    double quickest = std::numeric_limits<double>::infinity();
    for (const Repeated& question : questions) {
        quickest = std::min(quickest, question.quiet);
        runs_ += question.runs.size();
    }
    if (runs_ < least_runs)
        throw ProbeError(
            "the recording has {} runs that were made at least three times, and noise needs {}; record l1, levels and "
            "tlb, with the budget that they need",
            runs_, least_runs);
    for (const Repeated& asked : questions) {
        Question question;
        for (const std::size_t run : asked.runs)
            question.push_back(over_quiet(recording.runs[run].measurement, asked.quiet));
        kinds_[kind_of(asked.quiet / quickest, asked.cycles)].push_back(std::move(question));
    }
    merge_small_kinds();
}

RecordedNoise::Kind RecordedNoise::kind_of(double relative, double cycles) {
    const auto power_of_four = [](double times) { return static_cast<int>(std::floor(std::log2(times) / 2)); };
    return {relative < leaves_l1 ? -1 : power_of_four(relative / leaves_l1), power_of_four(std::max(1.0, cycles))};
}

/// First by relative times: those say which levels take part.
RecordedNoise::Kind RecordedNoise::nearest(Kind kind) const {
    const auto distance = [&](const auto& other) {
        const auto [relative, cycles] = other.first;
        return std::tuple(std::abs(relative - kind.first), std::abs(cycles - kind.second), relative, cycles);
    };
    return std::ranges::min_element(kinds_, {}, distance)->first;
}

void RecordedNoise::merge_small_kinds() {
    while (kinds_.size() > 1) {
        const auto smallest =
            std::ranges::min_element(kinds_, {}, [](const auto& kind) { return runs_of(kind.second); });
        if (runs_of(smallest->second) >= least_alike) return;
        const auto taken = kinds_.extract(smallest);
        std::vector<Question>& taker = kinds_[nearest(taken.key())];
        taker.insert(taker.end(), taken.mapped().begin(), taken.mapped().end());
    }
}

const std::vector<RecordedNoise::Question>& RecordedNoise::like(double relative, double cycles) const {
    return kinds_.at(nearest(kind_of(relative, cycles)));
}

const RecordedNoise::Run& NoiseDraws::next(double relative, double cycles) {
    if (question_ == nullptr) {
        const auto& questions = noise_->like(relative, cycles);
        place_ = random_.below(runs_of(questions));  // of all runs: long questions come as often as their runs
        for (question_ = &questions.front(); place_ >= question_->size(); ++question_) place_ -= question_->size();
    }
    const RecordedNoise::Run& drawn = (*question_)[place_];
    place_ = (place_ + 1) % question_->size();
    return drawn;
}

}  // namespace cachetally

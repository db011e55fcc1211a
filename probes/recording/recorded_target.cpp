// SPDX-License-Identifier: BSD-3-Clause
#include "probes/recording/recorded_target.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "probes/recording/recorder.hpp"

namespace cachetally {

static constexpr std::uint32_t unknown_string = ~std::uint32_t{0};

RecordedTarget::RecordedTarget(Recording recording, RecordingOrigin origin)
    : recording_(std::move(recording)), origin_(std::move(origin)) {
    for (std::uint32_t number = 0; number < recording_.runs.size(); ++number) {
        const RecordedRun& run = recording_.runs[number];
        const Arena& arena = recording_.arenas.at(run.arena).arena;
        answers_[question_of(run, arena)].runs.push_back(number);
    }
}

RecordedTarget::Question RecordedTarget::question_of(const RecordedRun& run, const Arena& arena) {
    return {run.kind,
            arena.bytes,
            arena.page,
            run.string,
            run.floating_point,
            run.chains,
            run.stream.kind,
            run.stream.bytes,
            run.effort.warm_up,
            run.effort.laps,
            run.effort.least_cycles,
            {run.processor, run.other_processor, run.other_string, run.parts, run.used, run.renewed, run.touched,
             run.stores}};
}

Arena RecordedTarget::make_arena(std::uint64_t bytes, std::uint64_t page) {
    check_arena(recording_.capabilities, bytes, page);
    const auto number = static_cast<std::uint32_t>(arenas_made_++);
    const auto same = [&](const RecordedArena& made) {
        return made.arena.page == page && made.arena.bytes == std::max<std::uint64_t>(bytes, 1);
    };
    const auto& arenas = recording_.arenas;
    const auto recorded =
        number < arenas.size() && same(arenas[number]) ? arenas.begin() + number : std::ranges::find_if(arenas, same);
    if (recorded == arenas.end()) return {number, std::max<std::uint64_t>(bytes, 1), page, true};
    if (!recorded->refusal.empty()) throw ProbeError("{}", recorded->refusal);
    Arena made = recorded->arena;
    made.id = number;
    return made;
}

const RecordedRun& RecordedTarget::next(RecordedRun asked, const Arena& arena, const Chase& chase) {
    if (budget_.go_on && !budget_.go_on()) throw ProbingEnded();
    check_chase(recording_.capabilities, arena, chase);
    const auto string = recording_.strings.find(chase);
    asked.string = string.value_or(0);
    asked.floating_point = chase.floating_point;
    asked.chains = chase.chains;
    asked.stores = chase.stores;
    const auto known = string ? answers_.find(question_of(asked, arena)) : answers_.end();
    if (known == answers_.end())
        refuse(fmt::format("run of this string of {} ({}) in {}", numbered(chase.offsets.size(), "load"),
                           name_of(chase.recipe.generator), format_size(arena.bytes)));
    return answer(known->second);
}

void RecordedTarget::refuse(const std::string& asked) const {
    const std::string& first_of = origin_.first_of.empty() ? recording_.target : origin_.first_of;
    const std::string recording = origin_.file.empty() ? "the recording of " + first_of
                                                       : fmt::format("{}, a recording of {},", origin_.file, first_of);
    if (origin_.first_of.empty())
        throw ProbeError(
            "{} has no {}: it was made without this test, with other options, or by another version; record with these",
            recording, asked);
    throw ProbeError(
        "{} has no {}, so that {} was not asked for it: by what it finds, this test chooses other strings on another "
        "machine; probe {} without --replay, or name 'response', which asks all machines the same",
        recording, asked, recording_.target, recording_.target);
}

const RecordedRun& RecordedTarget::answer(Answers& answers) {
    const std::uint32_t number = answers.runs[answers.next++ % answers.runs.size()];
    const RecordedRun& run = recording_.runs[number];
    const ProbeCost spent = run.cost - (number == 0 ? ProbeCost{} : recording_.runs[number - 1].cost);
    cost_.runs += spent.runs;
    cost_.references += spent.references;
    cost_.simulated += spent.simulated;
    cost_.cycles += spent.cycles;
    switch (run.end) {
        case RecordedRun::End::budget_spent: throw BudgetSpent();
        case RecordedRun::End::ended: throw ProbingEnded();
        case RecordedRun::End::refused: throw ProbeError("{}", run.refusal);
        case RecordedRun::End::complete: break;
    }
    return run;
}

Measurement RecordedTarget::run(const Arena& arena, const Chase& chase, const Effort& effort) {
    return next({.kind = RecordedRun::Kind::run, .effort = effort}, arena, chase).measurement;
}

Measurement RecordedTarget::stream(const Arena& arena, const Streaming& stream, const Effort& effort) {
    if (budget_.go_on && !budget_.go_on()) throw ProbingEnded();
    check_stream(recording_.capabilities, arena, stream);
    const RecordedRun asked{.kind = RecordedRun::Kind::stream, .stream = stream, .effort = effort};
    const auto known = answers_.find(question_of(asked, arena));
    if (known == answers_.end())
        refuse(fmt::format("{} of {} in an arena of {}", name_of(stream.kind), format_size(stream.bytes),
                           format_size(arena.bytes)));
    return answer(known->second).measurement;
}

std::vector<double> RecordedTarget::latencies(const Arena& arena, const Chase& chase, unsigned warm_up,
                                              unsigned samples) {
    return next({.kind = RecordedRun::Kind::latencies, .effort = {warm_up, samples, 0}}, arena, chase).latencies;
}

Measurement RecordedTarget::prime_and_probe(const Arena& arena, const PrimeProbe& both, const Effort& effort) {
    parts_of(recording_.capabilities, arena, both);
    const std::uint32_t probe = recording_.strings.find(both.probe).value_or(unknown_string);
    return next({.kind = RecordedRun::Kind::prime_and_probe,
                 .effort = effort,
                 .other_string = probe,
                 .parts = both.parts,
                 .used = both.used,
                 .renewed = both.renewed,
                 .touched = both.touched},
                arena, both.prime)
        .measurement;
}

Measurement RecordedTarget::transfer(const Arena& arena, unsigned from, const ChaseOn& to, unsigned rounds) {
    check_transfer(recording_.capabilities, arena, from, to);
    return next({.kind = RecordedRun::Kind::transfer,
                 .effort = {1, rounds, 0},
                 .processor = to.processor,
                 .other_processor = from},
                arena, to.chase)
        .measurement;
}

Measurement RecordedTarget::run_after(const Arena& arena, const ChaseOn& one, const ChaseOn& other, unsigned rounds) {
    check_run_after(recording_.capabilities, arena, one, other);
    const std::uint32_t other_string = recording_.strings.find(other.chase).value_or(unknown_string);
    return next({.kind = RecordedRun::Kind::run_after,
                 .effort = {1, rounds, 0},
                 .processor = one.processor,
                 .other_processor = other.processor,
                 .other_string = other_string},
                arena, one.chase)
        .measurement;
}

namespace {

/// The arenas of a recording on another target, made when they are needed first.
class SameArenas {
public:
    SameArenas(const Recording& recording, ProbeTarget& target)
        : recording_(recording), target_(target), made_(recording.arenas.size()) {}

    const Arena& at(std::uint32_t number) {
        std::optional<Arena>& arena = made_.at(number);
        if (!arena) {
            const Arena& recorded = recording_.arenas[number].arena;
            arena = target_.make_arena(recorded.bytes, recorded.page);
            arena->written = recorded.written;
        }
        return *arena;
    }

private:
    const Recording& recording_;
    ProbeTarget& target_;
    std::vector<std::optional<Arena>> made_;
};

}  // namespace

Recording rerun(const Recording& recording, ProbeTarget& target, const std::string& name) {
    Recorder recorder(target, name);
    SameArenas arenas(recording, recorder);
    for (const RecordedRun& run : recording.runs) {
        try {
            const Arena& arena = arenas.at(run.arena);
            if (run.kind == RecordedRun::Kind::stream) {
                recorder.stream(arena, run.stream, run.effort);
                continue;
            }
            const Offsets offsets = recording.strings.all().at(run.string).offsets(arena.bytes);
            const Chase chase(offsets, run.floating_point, run.chains, run.stores);
            const ChaseOn timed{run.processor, chase};
            switch (run.kind) {
                case RecordedRun::Kind::run: recorder.run(arena, chase, run.effort); break;
                case RecordedRun::Kind::latencies:
                    recorder.latencies(arena, chase, run.effort.warm_up, run.effort.laps);
                    break;
                case RecordedRun::Kind::stream: break;
                case RecordedRun::Kind::transfer:
                    recorder.transfer(arena, run.other_processor, timed, run.effort.laps);
                    break;
                case RecordedRun::Kind::run_after: {
                    const Offsets others = recording.strings.all().at(run.other_string).offsets(arena.bytes);
                    recorder.run_after(arena, timed, {run.other_processor, {others}}, run.effort.laps);
                    break;
                }
                case RecordedRun::Kind::prime_and_probe: {
                    const Offsets probe = recording.strings.all().at(run.other_string).offsets(arena.bytes);
                    recorder.prime_and_probe(
                        arena, {chase, {probe, run.floating_point}, run.parts, run.used, run.renewed, run.touched},
                        run.effort);
                }
            }
        } catch (const BudgetSpent&) {
            break;
        } catch (const ProbingEnded&) {
            break;
        } catch (const ProbeError&) {  // it is recorded
        }
    }
    Recording again = recorder.recording();
    Capabilities can = recording.capabilities;  // tests go by what is offered: they are to ask the same
    can.cache_events = again.capabilities.cache_events;
    can.tlb_events = again.capabilities.tlb_events;
    can.write_events = again.capabilities.write_events;
    can.exact_events = again.capabilities.exact_events;
    can.no_events = again.capabilities.no_events;
    can.latencies = can.latencies && again.capabilities.latencies;
    again.capabilities = std::move(can);
    return again;
}

}  // namespace cachetally

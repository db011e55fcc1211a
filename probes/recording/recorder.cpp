// SPDX-License-Identifier: BSD-3-Clause
#include "probes/recording/recorder.hpp"

#include <algorithm>

namespace cachetally {

Recorder::Recorder(ProbeTarget& target, std::string name) : target_(target), cost_(target.cost()) {
    recording_.target = std::move(name);
    recording_.capabilities = target.capabilities();
}

Arena Recorder::make_arena(std::uint64_t bytes, std::uint64_t page) {
    RecordedArena made{{0, bytes, page}};
    try {
        made.arena = target_.make_arena(bytes, page);
        made.physical_pages = target_.physical_pages(made.arena);
        recording_.arenas.push_back(made);
    } catch (const ProbeError& error) {
        made.refusal = error.what();
        recording_.arenas.push_back(made);
        throw;
    }
    return made.arena;
}

std::uint32_t Recorder::number_of(const Arena& arena) const {
    const auto place = std::ranges::find_if(recording_.arenas, [&](const RecordedArena& made) {
        return made.refusal.empty() && made.arena.id == arena.id;
    });
    return static_cast<std::uint32_t>(place - recording_.arenas.begin());
}

RecordedRun Recorder::of_chase(RecordedRun run, const Chase& chase) {
    run.string = recording_.strings.find_or_add(chase);
    run.floating_point = chase.floating_point;
    run.chains = chase.chains;
    run.stores = chase.stores;
    return run;
}

/// However the target answers, it is kept.
template <class Ask>
void Recorder::record(RecordedRun run, const Arena& arena, Ask ask) {
    run.arena = number_of(arena);
    const auto keep = [&](RecordedRun::End end) {
        run.end = end;
        run.cost = cost_ = target_.cost();
        recording_.runs.push_back(run);
    };
    try {
        ask(run);
        keep(RecordedRun::End::complete);
    } catch (const BudgetSpent&) {
        keep(RecordedRun::End::budget_spent);
        throw;
    } catch (const ProbingEnded&) {
        keep(RecordedRun::End::ended);
        throw;
    } catch (const ProbeError& error) {
        run.refusal = error.what();
        keep(RecordedRun::End::refused);
        throw;
    }
}

Measurement Recorder::run(const Arena& arena, const Chase& chase, const Effort& effort) {
    Measurement found;
    record(of_chase({.kind = RecordedRun::Kind::run, .effort = effort}, chase), arena,
           [&](RecordedRun& run) { found = run.measurement = target_.run(arena, chase, effort); });
    return found;
}

Measurement Recorder::stream(const Arena& arena, const Streaming& stream, const Effort& effort) {
    Measurement found;
    record({.kind = RecordedRun::Kind::stream, .stream = stream, .effort = effort}, arena,
           [&](RecordedRun& run) { found = run.measurement = target_.stream(arena, stream, effort); });
    return found;
}

std::vector<double> Recorder::latencies(const Arena& arena, const Chase& chase, unsigned warm_up, unsigned samples) {
    std::vector<double> found;
    record(of_chase({.kind = RecordedRun::Kind::latencies, .effort = {warm_up, samples, 0}}, chase), arena,
           [&](RecordedRun& run) { found = run.latencies = target_.latencies(arena, chase, warm_up, samples); });
    return found;
}

Measurement Recorder::prime_and_probe(const Arena& arena, const PrimeProbe& both, const Effort& effort) {
    Measurement found;
    RecordedRun asked{.kind = RecordedRun::Kind::prime_and_probe, .effort = effort};
    asked.other_string = recording_.strings.find_or_add(both.probe);
    asked.parts = both.parts;
    asked.used = both.used;
    asked.renewed = both.renewed;
    asked.touched = both.touched;
    record(of_chase(std::move(asked), both.prime), arena,
           [&](RecordedRun& run) { found = run.measurement = target_.prime_and_probe(arena, both, effort); });
    return found;
}

Measurement Recorder::transfer(const Arena& arena, unsigned from, const ChaseOn& to, unsigned rounds) {
    Measurement found;
    record(of_chase({.kind = RecordedRun::Kind::transfer,
                     .effort = {1, rounds, 0},
                     .processor = to.processor,
                     .other_processor = from},
                    to.chase),
           arena, [&](RecordedRun& run) { found = run.measurement = target_.transfer(arena, from, to, rounds); });
    return found;
}

Measurement Recorder::run_after(const Arena& arena, const ChaseOn& one, const ChaseOn& other, unsigned rounds) {
    Measurement found;
    const std::uint32_t other_string = recording_.strings.find_or_add(other.chase);
    record(of_chase({.kind = RecordedRun::Kind::run_after,
                     .effort = {1, rounds, 0},
                     .processor = one.processor,
                     .other_processor = other.processor,
                     .other_string = other_string},
                    one.chase),
           arena, [&](RecordedRun& run) { found = run.measurement = target_.run_after(arena, one, other, rounds); });
    return found;
}

}  // namespace cachetally

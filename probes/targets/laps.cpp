// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/laps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace cachetally {

std::vector<std::string> noise_names() { return {"none", "quiet", "realistic", "heavy"}; }

NoiseModel noise_named(const std::string& name) {
    NoiseModel noise;
    if (name == "none") return noise;
    noise.timer_quantum = 20;
    noise.jitter = 0.001;
    if (name == "quiet") return noise;
    noise.jitter = 0.003;
    noise.interrupt_period = 3e6;
    noise.interrupt_cycles = 5000;
    noise.interrupt_lines = 128;
    noise.interrupt_pages = 8;
    if (name == "realistic") return noise;
    noise.timer_quantum = 100;
    noise.jitter = 0.01;
    noise.interrupt_period = 1e6;
    noise.hog_loads = 8;
    noise.hog_bytes = 1ULL << 20;
    if (name == "heavy") return noise;
    throw std::invalid_argument(fmt::format("there is no noise '{}'; there are none, quiet, realistic, heavy", name));
}

namespace {

constexpr Address hog_base = Address{1} << 45;
constexpr std::size_t hog_every = 64;                  ///< loads of the chase
constexpr std::size_t at_once = std::size_t{1} << 18;  ///< loads between looks

/// Changes all amounts of a lap by those of another.
template <class Change>
void combine(Lap& lap, const Lap& other, Change change) {
    const auto each = [&](std::vector<double>& misses, const std::vector<double>& others) {
        misses.resize(others.size());
        std::ranges::transform(misses, others, misses.begin(), change);
    };
    lap.cycles = change(lap.cycles, other.cycles);
    each(lap.cache_misses, other.cache_misses);
    each(lap.tlb_misses, other.tlb_misses);
    each(lap.writes, other.writes);
    each(lap.write_misses, other.write_misses);
    each(lap.write_backs, other.write_backs);
}

/// How much a count has grown.
double growth(std::uint64_t now, std::uint64_t before) { return static_cast<double>(now - before); }

/// What was written since `before`.
void add_writes(Lap& lap, const HierarchyCounts& now, const HierarchyCounts& before) {
    for (std::size_t i = 0; i < now.caches.size(); ++i) {
        const CacheCounts &cache = now.caches[i], &old = before.caches[i];
        lap.writes.push_back(growth(cache.stores + cache.writebacks_in, old.stores + old.writebacks_in));
        lap.write_misses.push_back(
            growth(cache.store_misses + cache.writeback_misses, old.store_misses + old.writeback_misses));
        lap.write_backs.push_back(growth(cache.writebacks_out, old.writebacks_out));
    }
    double of_memories = 0;
    for (std::size_t i = 0; i < now.memories.size(); ++i)
        of_memories += growth(now.memories[i].writes, before.memories[i].writes);
    lap.writes.push_back(of_memories);
}

}  // namespace

Lap& Lap::operator+=(const Lap& other) {
    combine(*this, other, std::plus());
    return *this;
}

Lap& Lap::operator*=(double times) {
    combine(*this, *this, [&](double amount, double) { return amount * times; });
    return *this;
}

void Lap::less(const Lap& other) {
    combine(*this, other, [](double from, double amount) { return std::max(0.0, from - amount); });
}

bool Lap::hits_only() const {
    const auto none = [](double misses) { return misses == 0; };
    return std::ranges::all_of(cache_misses, none) && std::ranges::all_of(tlb_misses, none);
}

Laps::Laps(Hierarchy& hierarchy, std::span<const Reference> references, double period, bool repeats, unsigned chains)
    : hierarchy_(hierarchy),
      references_(references),
      tick_(1 / period),
      repeats_(repeats && chains == 1),
      ready_(chains == 1 ? 0 : chains) {
    counts_ = hierarchy.counts();
}

void Laps::disturb_by(const NoiseModel& noise, std::uint64_t seed) {
    noise_ = noise;
    if (noise.hog_loads == 0) return;
    hog_position_ = seed % noise.hog_bytes / 64 * 64;
    repeats_ = false;
}

void Laps::expect(std::uint64_t laps, double digest_loads) {
    expected_loads_ = static_cast<double>(laps) * static_cast<double>(references_.size());
    digest_loads_ = digest_loads;
}

const Lap& Laps::lap(std::size_t number) {
    if (periodic() && number >= first_) return laps_[first_ + (number - first_) % period_];
    while (laps_.size() <= number) {
        laps_.push_back(simulate(references_));
        if (repeats_) look_for_repetition();
        if (periodic()) return lap(number);
    }
    return laps_[number];
}

void Laps::keep_to(double cycles, std::function<void()> look) {
    const double ticks = cycles / tick_;
    until_ = ticks < static_cast<double>(~Tick{0} / 2) ? static_cast<Tick>(std::max(0.0, ticks)) : ~Tick{0};
    look_ = std::move(look);
}

/// Makes these loads, unless they take too long.
void Laps::load(std::span<const Reference> references) {
    while (!references.empty()) {
        const auto some = references.first(std::min(references.size(), at_once));
        const Progress made = hierarchy_.run(0, some, now_, until_);
        now_ = made.time;
        simulated_ += made.done;
        if (made.done < some.size()) throw BudgetSpent();
        references = references.subspan(some.size());
        since_look_ += some.size();
        if (!look_ || since_look_ < at_once) continue;
        since_look_ = 0;
        look_();
    }
}

/// With loads of a second core, so many for every few of the chase.
void Laps::load_disturbed(std::span<const Reference> references) {
    for (std::size_t done = 0; done < references.size();) {
        const std::size_t count = std::min<std::size_t>(hog_every - since_hog_, references.size() - done);
        load(references.subspan(done, count));
        done += count;
        since_hog_ += count;
        if (since_hog_ < hog_every) break;
        since_hog_ = 0;
        Tick at = now_;
        for (unsigned i = 0; i < noise_.hog_loads; ++i) {
            hog_position_ = (hog_position_ + 64) % noise_.hog_bytes;
            const Reference load{hog_base + hog_position_, 0, 8, ReferenceKind::load, 0};
            at = hierarchy_.run(1, {&load, 1}, at, ~Tick{0}).time;
        }
    }
}

/// As soon as it may: when `ready`, at most one per cycle.
void Laps::make(const Reference& reference, Tick& ready) {
    const Tick begin = std::max(ready, next_begin_);
    if (begin >= until_) throw BudgetSpent();
    ready = hierarchy_.access(0, reference, begin);
    next_begin_ = begin + static_cast<Tick>(std::llround(1 / tick_));
    now_ = std::max(now_, ready);
    ++simulated_;
    if (!look_ || ++since_look_ < at_once) return;
    since_look_ = 0;
    look_();
}

/// Of each chain its part of the lap. What is under way at the end of a lap goes on in the next one.
void Laps::load_chains(std::span<const Reference> references) {
    const std::size_t each = references.size() / ready_.size();
    std::vector<std::size_t> done(ready_.size());
    for (std::size_t made = 0; made < references.size(); ++made) {
        std::size_t first = 0;
        for (std::size_t chain = 1; chain < ready_.size(); ++chain)
            if (done[first] == each || (done[chain] < each && ready_[chain] < ready_[first])) first = chain;
        make(references[first * each + done[first]++], ready_[first]);
    }
}

void Laps::load_independent(std::span<const Reference> references) {
    for (std::size_t i = 0; i < references.size(); ++i) make(references[i], ready_[i % ready_.size()]);
}

void Laps::overlap(std::size_t window) {
    ready_.assign(window, 0);
    independent_ = true;
    repeats_ = false;
}

Lap Laps::simulate(std::span<const Reference> references) {
    const Tick begin = now_;
    if (independent_)
        load_independent(references);
    else if (!ready_.empty())
        load_chains(references);
    else if (noise_.hog_loads == 0)
        load(references);
    else
        load_disturbed(references);
    Lap lap;
    lap.cycles = static_cast<double>(now_ - begin) * tick_;
    if (noise_.hog_loads > 0) return lap;  // events of both cores are not distinguished
    HierarchyCounts counts = hierarchy_.counts();
    for (std::size_t i = 0; i < counts.caches.size(); ++i)
        lap.cache_misses.push_back(growth(counts.caches[i].load_misses, counts_.caches[i].load_misses));
    for (std::size_t i = 0; i < counts.tlbs.size(); ++i)
        lap.tlb_misses.push_back(growth(counts.tlbs[i].misses, counts_.tlbs[i].misses));
    add_writes(lap, counts, counts_);
    counts_ = std::move(counts);
    return lap;
}

void Laps::look_for_repetition() {
    const std::size_t count = laps_.size();
    if (laps_.back().hits_only()) {  // nothing comes or goes: every lap from now on is like this one
        first_ = count - 1;
        period_ = 1;
        return;
    }
    const double left = expected_loads_ - static_cast<double>(count * references_.size());
    if (left < 4 * digest_loads_) return;  // making the laps costs less
    // Two laps after each other say most; then with longer and longer rests, so that digests do not add up.
    const bool second = count == next_digest_ + 1;
    if (count < next_digest_ || (count < 8 && !second && !(laps_[count - 1] == laps_[count - 2]))) return;
    if (second) next_digest_ = count + (count + 1) / 2;
    const auto [place, fresh] = seen_.try_emplace(hierarchy_.digest(), count);
    if (fresh) {
        if (!second) next_digest_ = count;
        return;
    }
    first_ = place->second;
    period_ = count - first_;
}

Lap LapSum::mean() const {
    Lap mean = sum;
    return mean *= 1 / static_cast<double>(laps);
}

LapSum sum_of(Laps& laps, const Effort& effort, std::uint64_t most_loads) {
    LapSum total;
    const auto add_one = [&] { total.sum += laps.lap(effort.warm_up + total.laps++); };
    do {
        add_one();
    } while (total.laps < effort.laps && !(laps.periodic() && effort.warm_up + total.laps > laps.first_repeated()));
    // Where loads take no time, no number of laps fills least_cycles.
    constexpr double longest = 1e15;  // days of any machine: no more laps than can be counted
    const double least_cycles = total.sum.cycles > 0 ? std::min(effort.least_cycles, longest) : 0;
    const auto enough = [&] { return total.laps >= effort.laps && total.sum.cycles >= least_cycles; };
    // Whole periods at once, then single laps to the end.
    while (!enough()) {
        if (!laps.periodic()) {
            if (laps.simulated() > most_loads) break;
            add_one();
            continue;
        }
        Lap round;
        for (std::size_t i = 0; i < laps.lap_period(); ++i) round += laps.lap(effort.warm_up + total.laps + i);
        const double by_time = round.cycles > 0 ? (least_cycles - total.sum.cycles) / round.cycles : 0;
        const double by_laps = (static_cast<double>(effort.laps) - static_cast<double>(total.laps)) /
                               static_cast<double>(laps.lap_period());
        const auto rounds = static_cast<std::uint64_t>(std::max({by_time, by_laps, 0.0}));
        total.sum += round *= static_cast<double>(rounds);
        total.laps += rounds * laps.lap_period();
        if (!enough()) add_one();
    }
    return total;
}

}  // namespace cachetally

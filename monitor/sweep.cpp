// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace cachetally {
namespace {

constexpr std::size_t most_sizes = 64;    // bits of a residency cell
constexpr std::size_t batch_size = 4096;  // runs

[[noreturn]] void reject(const std::string& message) { throw SpecError("sweep: ", message, {}); }

/// Checks every cell as a monitor of its own.
const SweepSpec& checked(const SweepSpec& spec) {
    if (spec.counters.empty() || spec.granularities.empty() || spec.evictions.empty())
        reject("give at least one number of counters, one granularity and one eviction policy");
    if (spec.counters.size() > most_sizes)
        reject("at most 64 numbers of counters fit into one pass; give fewer, as in 16,32,64");
    if (spec.base.line == 0) reject("the line size is not known; give 'line' in bytes");
    MonitorSpec cell = spec.base;
    for (const Eviction eviction : spec.evictions)
        for (const Granularity& granularity : spec.granularities)
            for (const std::uint32_t counters : spec.counters) {
                cell.eviction = eviction;
                cell.granularity = granularity;
                cell.counters = counters;
                validate(cell);
                if (const std::string why = why_incomparable(cell); !why.empty()) reject(why);
            }
    return spec;
}

}  // namespace

std::string why_incomparable(const MonitorSpec& cell) {
    if (cell.unit() == cell.line) return "";
    return fmt::format(
        "a mask finer than the line of {} bytes cannot be compared with cells of lines; give the monitor 'line={}'",
        cell.line, cell.unit());
}

Sweep::Sweep(const SweepSpec& spec, unsigned copy)
    : spec_(checked(spec)),
      units_(spec.base.line, 1),
      control_(spec.base),
      filter_(spec.base),
      exact_(spec.base.line),
      recent_(spec.evictions.size() * spec.granularities.size()),
      window_(std::ranges::min(spec.counters)) {
    for (const Eviction eviction : spec.evictions)
        for (const Granularity& granularity : spec.granularities) make_group(eviction, granularity, copy);
}

void Sweep::make_group(Eviction eviction, const Granularity& granularity, unsigned copy) {
    MonitorSpec cell = spec_.base;
    cell.eviction = eviction;
    cell.granularity = granularity;
    const std::size_t number = groups_.size();
    CellGroup& group = *groups_.emplace_back(std::make_unique<CellGroup>(KeyMap(cell)));
    const bool unlimited = cell.width >= 32 && cell.ways == 0 && !cell.is_dynamic();
    if (unlimited && eviction == Eviction::lru) {
        recency_.push_back({number, &group.recency.emplace(spec_.counters)});
    } else if (unlimited && eviction == Eviction::fifo) {
        residency_.push_back({number, &group.residency.emplace(spec_.counters)});
    } else {
        arrays_.push_back(&group.arrays.emplace(cell, spec_.counters, copy));
    }
}

inline void Sweep::add(std::uint64_t unit, std::uint64_t count) {
    const std::size_t place = find(unit);
    *recent_.entry(place).count += count;
    if (!arrays_.empty()) collect(unit, count);
    if (unit == last_unit_ && last_valid_) return;
    last_unit_ = unit;
    last_valid_ = true;
    for (const auto& [number, pass] : residency_) pass->use(*recent_.cells(place)[number]);
    if (!recency_.empty() && !window_.keep(unit))
        window_.enter(unit, [this](std::uint64_t used) { use_by_recency(used); });
}

inline void Sweep::use_by_recency(std::uint64_t unit) {
    PassCell** const cells = recent_.cells(find(unit));
    for (const auto& [number, pass] : recency_) pass->use(*cells[number]);
}

/// The place of a unit among the recent ones, which it is from now on.
inline std::size_t Sweep::find(std::uint64_t unit) {
    const std::size_t place = RecentUnits::place(unit);
    const RecentUnits::Entry& entry = recent_.entry(place);
    if (entry.unit != unit || entry.count == nullptr) [[unlikely]]
        look_up(unit, place);
    return place;
}

[[gnu::noinline]] void Sweep::look_up(std::uint64_t unit, std::size_t place) {
    recent_.entry(place) = {unit, &counts_.count(unit)};
    const auto find_cell = [&](std::size_t number) {
        CellGroup& group = *groups_[number];
        recent_.cells(place)[number] = &group.cells[group.keys.key_of_unit(unit)];
    };
    for (const auto& [number, pass] : residency_) find_cell(number);
    for (const auto& [number, pass] : recency_) find_cell(number);
}

inline void Sweep::collect(std::uint64_t unit, std::uint64_t count) {
    if (!batch_.empty() && batch_.back().unit == unit) {
        batch_.back().count += count;
        return;
    }
    if (batch_.size() == batch_size) feed();
    batch_.push_back({unit, count});
}

void Sweep::feed() {
    for (ArrayPass* arrays : arrays_) arrays->add(batch_);
    batch_.clear();
}

void Sweep::swap_out() {
    feed();
    for (const auto& group : groups_) group->flush();
    last_valid_ = false;
    window_.forget();
}

void Sweep::close_phase() {
    std::vector<HistogramRow> rows;
    counts_.take(rows, units_.unit_bytes(), 1, control_.phase());
    exact_.append(std::move(rows));
}

void Sweep::on_event(const LinkEvent& event, Injector&) {
    if (control_.enabled() && filter_.passes(event.address, event.core)) add(units_.unit(event.address), event.count);
}

void Sweep::on_blocks(std::span<const BlockEvent> events, std::uint8_t core, Injector&) {
    if (!control_.enabled()) return;
    for (const BlockEvent& event : events)
        if (filter_.passes(event.block(), core)) add(units_.unit(event.block()), 1);
}

void Sweep::on_control(const Control& control, Tick, Injector&) {
    const bool swaps_out = control_.follow(control, [&](bool phase_ends) {
        swap_out();
        if (phase_ends) close_phase();
    });
    exact_.set_phases(control_.phase() + 1);
    if (!swaps_out) return;
    counts_.select(control_.function());
    recent_.forget();
}

void Sweep::finish() {
    swap_out();
    close_phase();
    for (const auto& group : groups_)
        for (std::size_t size = 0; size < spec_.counters.size(); ++size)
            windows_.push_back(group->arrays ? group->arrays->take_histogram(size) : Histogram(units_.unit_bytes()));
}

std::vector<std::uint64_t> Sweep::swapouts() const {
    std::vector<std::uint64_t> all;
    for (const auto& group : groups_) {
        const std::vector<std::uint64_t> some = group->swapouts();
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

Histogram Sweep::measured(std::size_t granularity, std::size_t cell) const {
    MonitorSpec spec = spec_.base;
    spec.granularity = spec_.granularities[granularity];
    return spec.is_dynamic() ? windows_[cell] : exact_.aggregated(spec.units_per_key());
}

namespace {

/// The error of one cell of all copies together.
double cell_error(std::span<const Sweep* const> copies, const Histogram& exact, std::size_t granularity,
                  std::size_t cell, std::span<const AddressRange> data, const AddressMap& map) {
    std::vector<Histogram> measured;
    for (const Sweep* copy : copies) measured.push_back(copy->measured(granularity, cell));
    return histogram_error(exact, merged(measured), data, map);
}

}  // namespace

std::vector<SweepRow> sweep_rows(std::span<const Sweep* const> copies, std::span<const AddressRange> data,
                                 const AddressMap& map) {
    const SweepSpec& spec = copies.front()->spec();
    std::vector<Histogram> exacts;
    std::vector<std::uint64_t> swapouts(spec.evictions.size() * spec.granularities.size() * spec.counters.size());
    for (const Sweep* copy : copies) {
        exacts.push_back(copy->exact());
        const std::vector<std::uint64_t> own = copy->swapouts();
        std::ranges::transform(swapouts, own, swapouts.begin(), std::plus<>());
    }
    const Histogram exact = merged(exacts);
    std::vector<SweepRow> rows;
    // With fixed keys the error is the same for all policies and numbers of counters.
    std::vector<std::optional<double>> errors(spec.granularities.size());
    for (const Eviction eviction : spec.evictions)
        for (std::size_t g = 0; g < spec.granularities.size(); ++g)
            for (const std::uint32_t counters : spec.counters) {
                const std::size_t cell = rows.size();
                const bool dynamic = spec.granularities[g].mode == Granularity::Mode::dynamic;
                if (dynamic || !errors[g]) errors[g] = cell_error(copies, exact, g, cell, data, map);
                rows.push_back({counters, spec.granularities[g], eviction, swapouts[cell], *errors[g],
                                bytes_for_each(exact.total(), swapouts[cell] * spec.base.ring.record)});
            }
    return rows;
}

}  // namespace cachetally

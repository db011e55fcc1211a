// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/sweep.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "monitor/control.hpp"
#include "monitor/paged_counts.hpp"
#include "monitor/sweep_passes.hpp"

namespace cachetally {
namespace {

constexpr std::size_t most_sizes = 64;    // bits of a residency cell
constexpr std::size_t batch_size = 4096;  // runs

[[noreturn]] void reject(const std::string& message) { throw SpecError("sweep: ", message, {}); }

/// Checks every cell as a monitor of its own.
const SweepSpec& checked(const SweepSpec& spec) {
    if (spec.counters.empty() || spec.granularities.empty() || spec.evictions.empty())
        reject("give at least one number of counters, one granularity and one eviction policy");
    if (spec.counters.size() > most_sizes) reject("at most 64 numbers of counters fit into one pass; give fewer");
    if (spec.base.line == 0) reject("the line size is not known; give 'line' in bytes");
    MonitorSpec cell = spec.base;
    for (const Eviction eviction : spec.evictions)
        for (const Granularity& granularity : spec.granularities)
            for (const std::uint32_t counters : spec.counters) {
                cell.eviction = eviction;
                cell.granularity = granularity;
                cell.counters = counters;
                validate(cell);
                if (cell.unit() != spec.base.line)
                    reject("a mask finer than the line of " + std::to_string(spec.base.line) +
                           " bytes cannot be compared with cells of lines; give the monitor 'line=" +
                           std::to_string(cell.unit()) + "'");
            }
    return spec;
}

/// A pass over cells: the cells of one granularity, one eviction policy and all numbers of counters.
struct CellGroup {
    explicit CellGroup(KeyMap map) : keys(map) {}

    KeyMap keys;
    PagedArray<SweepCell> cells;
    std::optional<RecencyPass> recency;
    std::optional<ResidencyPass> residency;
    std::optional<ArrayPass> arrays;

    void flush() {
        if (recency) recency->flush();
        if (residency) residency->flush();
        if (arrays) arrays->flush();
    }
    std::vector<std::uint64_t> swapouts() const {
        return recency ? recency->swapouts() : residency ? residency->swapouts() : arrays->swapouts();
    }
};

std::unique_ptr<CellGroup> make_group(const SweepSpec& spec, Eviction eviction, const Granularity& granularity,
                                      unsigned copy) {
    MonitorSpec cell = spec.base;
    cell.eviction = eviction;
    cell.granularity = granularity;
    auto group = std::make_unique<CellGroup>(KeyMap(cell));
    const bool unlimited = cell.width >= 32 && cell.ways == 0 && !cell.is_dynamic();
    if (unlimited && eviction == Eviction::lru) {
        group->recency.emplace(spec.counters);
    } else if (unlimited && eviction == Eviction::fifo) {
        group->residency.emplace(spec.counters);
    } else {
        group->arrays.emplace(cell, spec.counters, copy);
    }
    return group;
}

/// The units used lately, with their counts and cells found: consecutive references alternate between few lines.
class RecentUnits {
public:
    explicit RecentUnits(std::size_t cells) : cells_per_unit_(cells), cells_(units * cells) { forget(); }

    struct Entry {
        std::uint64_t unit = 0;
        std::uint64_t* count = nullptr;  ///< null: unused
    };
    static std::size_t place(std::uint64_t unit) { return (unit * 0x9e3779b97f4a7c15U) >> (64 - unit_bits); }
    Entry& entry(std::size_t place) { return entries_[place]; }
    SweepCell** cells(std::size_t place) { return cells_.data() + place * cells_per_unit_; }
    void forget() { entries_.fill({}); }

private:
    static constexpr unsigned unit_bits = 10;
    static constexpr std::size_t units = std::size_t{1} << unit_bits;
    std::size_t cells_per_unit_;
    std::array<Entry, units> entries_;
    std::vector<SweepCell*> cells_;
};

}  // namespace

struct Sweep::Parts {
    Parts(const SweepSpec& sweep, unsigned copy)
        : spec(checked(sweep)),
          units(sweep.base.line, 1),
          control(sweep.base),
          filter(sweep.base),
          exact(sweep.base.line),
          groups(make_groups(sweep, copy)),
          recent(groups.size()),
          window(std::ranges::min(sweep.counters)) {
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (groups[i]->recency) recency_groups.push_back({i, &*groups[i]->recency});
            if (groups[i]->residency) residency_groups.push_back({i, &*groups[i]->residency});
            if (groups[i]->arrays) array_groups.push_back(&*groups[i]->arrays);
        }
    }

    template <class Pass>
    struct Numbered {
        std::size_t number;
        Pass* pass;
    };

    static std::vector<std::unique_ptr<CellGroup>> make_groups(const SweepSpec& spec, unsigned copy) {
        std::vector<std::unique_ptr<CellGroup>> groups;
        for (const Eviction eviction : spec.evictions)
            for (const Granularity& granularity : spec.granularities)
                groups.push_back(make_group(spec, eviction, granularity, copy));
        return groups;
    }

    void add(std::uint64_t unit, std::uint64_t count) {
        const std::size_t place = find(unit);
        *recent.entry(place).count += count;
        if (!array_groups.empty()) collect(unit, count);
        if (unit == last_unit && last_valid) return;
        last_unit = unit;
        last_valid = true;
        for (const auto& [number, pass] : residency_groups) pass->use(*recent.cells(place)[number]);
        if (!recency_groups.empty() && !window.keep(unit))
            window.enter(unit, [this](std::uint64_t used) { use_by_recency(used); });
    }

    void use_by_recency(std::uint64_t unit) {
        SweepCell** const cells = recent.cells(find(unit));
        for (const auto& [number, pass] : recency_groups) pass->use(*cells[number]);
    }

    /// The place of a unit among the recent ones, which it is from now on.
    std::size_t find(std::uint64_t unit) {
        const std::size_t place = RecentUnits::place(unit);
        const RecentUnits::Entry& entry = recent.entry(place);
        if (entry.unit != unit || entry.count == nullptr) [[unlikely]]
            look_up(unit, place);
        return place;
    }

    [[gnu::noinline]] void look_up(std::uint64_t unit, std::size_t place) {
        recent.entry(place) = {unit, &counts.count(unit)};
        for (const auto& [number, pass] : residency_groups) find_cell(number, unit, place);
        for (const auto& [number, pass] : recency_groups) find_cell(number, unit, place);
    }
    void find_cell(std::size_t number, std::uint64_t unit, std::size_t place) {
        CellGroup& group = *groups[number];
        recent.cells(place)[number] = &group.cells[group.keys.key_of_unit(unit)];
    }

    void collect(std::uint64_t unit, std::uint64_t count) {
        if (!batch.empty() && batch.back().unit == unit) {
            batch.back().count += count;
            return;
        }
        if (batch.size() == batch_size) feed();
        batch.push_back({unit, count});
    }
    void feed() {
        for (ArrayPass* arrays : array_groups) arrays->add(batch);
        batch.clear();
    }

    void swap_out() {
        feed();
        for (const auto& group : groups) group->flush();
        last_valid = false;
        window.forget();
    }
    void close_phase() {
        std::vector<HistogramRow> rows;
        counts.take(rows, units.unit_bytes(), 1, control.phase());
        exact.append(std::move(rows));
    }

    SweepSpec spec;
    KeyMap units;
    MonitorControl control;
    EventFilter filter;
    FunctionCounts counts;
    Histogram exact;
    std::vector<std::unique_ptr<CellGroup>> groups;  ///< by eviction, then granularity
    std::vector<Numbered<RecencyPass>> recency_groups;
    std::vector<Numbered<ResidencyPass>> residency_groups;
    std::vector<ArrayPass*> array_groups;
    RecentUnits recent;
    UseWindow window;
    std::vector<UnitRun> batch;
    std::uint64_t last_unit = 0;
    bool last_valid = false;
    std::vector<Histogram> windows;  ///< per cell of dynamic granularity; else empty
};

Sweep::Sweep(const SweepSpec& spec, unsigned copy) : parts_(std::make_unique<Parts>(spec, copy)) {}
Sweep::~Sweep() = default;

const SweepSpec& Sweep::spec() const { return parts_->spec; }
std::uint32_t Sweep::kinds() const { return parts_->spec.base.kinds; }

bool Sweep::accepts_merged(std::uint32_t line_bytes) const {
    return parts_->units.keeps_block_whole(line_bytes) && parts_->filter.keeps_blocks_whole(line_bytes);
}

void Sweep::on_event(const LinkEvent& event, Injector&) {
    if (!parts_->control.enabled() || !parts_->filter.passes(event.address, event.core)) return;
    parts_->add(parts_->units.unit(event.address), event.count);
}

void Sweep::on_blocks(std::span<const BlockEvent> events, std::uint8_t core, Injector&) {
    Parts& parts = *parts_;
    if (!parts.control.enabled()) return;
    const bool passes_all = parts.filter.passes_all();
    for (const BlockEvent& event : events)
        if (passes_all || parts.filter.passes(event.block(), core)) parts.add(parts.units.unit(event.block()), 1);
}

void Sweep::on_control(const Control& control, Tick, Injector&) {
    Parts& parts = *parts_;
    const bool swaps_out = parts.control.follow(control, [&](bool phase_ends) {
        parts.swap_out();
        if (phase_ends) parts.close_phase();
    });
    parts.exact.set_phases(parts.control.phase() + 1);
    if (!swaps_out) return;
    parts.counts.select(parts.control.function());
    parts.recent.forget();
}

void Sweep::finish() {
    Parts& parts = *parts_;
    parts.swap_out();
    parts.close_phase();
    for (const auto& group : parts.groups)
        for (std::size_t size = 0; size < parts.spec.counters.size(); ++size)
            parts.windows.push_back(group->arrays ? group->arrays->take_histogram(size)
                                                  : Histogram(parts.units.unit_bytes()));
}

const Histogram& Sweep::exact() const { return parts_->exact; }

std::vector<std::uint64_t> Sweep::swapouts() const {
    std::vector<std::uint64_t> all;
    for (const auto& group : parts_->groups) {
        const std::vector<std::uint64_t> some = group->swapouts();
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

Histogram Sweep::measured(std::size_t granularity, std::size_t cell) const {
    MonitorSpec spec = parts_->spec.base;
    spec.granularity = parts_->spec.granularities[granularity];
    return spec.is_dynamic() ? parts_->windows[cell] : parts_->exact.aggregated(spec.units_per_key());
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

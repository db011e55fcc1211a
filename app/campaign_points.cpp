// SPDX-License-Identifier: BSD-3-Clause
// Points of campaigns, computed as sweeps compute their cells: those that share references and hierarchy in one pass.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "app/campaign_job.hpp"
#include "app/report.hpp"
#include "app/swept.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "campaign/point_file.hpp"
#include "storage/columns.hpp"
#include "storage/hash.hpp"
#include "storage/provenance.hpp"

namespace cachetally::app {
namespace {

/// The monitor of a point, and its place among the cells of the sweep.
struct Wanted {
    std::uint64_t point;
    MonitorSpec spec;
    std::string variant;  ///< SweepVariant::settings
};

template <class T>
void add_once(std::vector<T>& values, const T& value) {
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
}

/// Monitors that are equal but for counters, granularity and eviction become one variant where these are all
/// combinations, else one for each granularity and eviction policy.
SweepPlan plan_of_points(std::vector<Wanted>& wanted, bool slowdown) {
    const auto group = [&](auto key_of) {
        std::vector<std::pair<MonitorSpec, SweepVariant>> groups;
        for (Wanted& each : wanted) {
            const MonitorSpec key = key_of(each.spec);
            auto found = std::ranges::find(groups, key, [](const auto& entry) { return entry.first; });
            if (found == groups.end()) {
                SweepVariant variant{each.spec, std::to_string(groups.size()), {}, {}, {}};
                found = groups.insert(groups.end(), {key, variant});
            }
            add_once(found->second.counters, each.spec.counters);
            add_once(found->second.granularities, each.spec.granularity);
            add_once(found->second.evictions, each.spec.eviction);
            each.variant = found->second.settings;
        }
        return groups;
    };
    const auto cells = [](const auto& groups) {
        std::size_t sum = 0;
        for (const auto& [key, variant] : groups)
            sum += variant.counters.size() * variant.granularities.size() * variant.evictions.size();
        return sum;
    };
    auto groups = group([](MonitorSpec spec) {
        spec.counters = 1;
        spec.granularity = {};
        spec.eviction = Eviction::fifo;
        return spec;
    });
    if (cells(groups) > wanted.size())
        groups = group([](MonitorSpec spec) {
            spec.counters = 1;
            return spec;
        });
    SweepPlan plan;
    plan.slowdown = slowdown;
    for (auto& [key, variant] : groups) plan.variants.push_back(std::move(variant));
    return plan;
}

class PointRunner {
public:
    explicit PointRunner(std::shared_ptr<const Grid> grid) : grid_(std::move(grid)), measures_(measures_of(*grid_)) {}

    const std::vector<Measure>& measures() const { return measures_; }

    /// All points from `first` to `end`, which share references and hierarchy.
    std::vector<PointRow> run(std::uint64_t first, std::uint64_t end) const {
        const Grid::Place place = grid_->place(first);
        const Topology topology(grid_->machine(place));
        std::vector<Wanted> wanted;
        std::vector<PointRow> rows;
        for (std::uint64_t point = first; point < end; ++point) {
            rows.push_back(empty(point));
            if (!grid_->has_monitor(grid_->place(point))) continue;
            try {
                wanted.push_back({point, grid_->monitor_on(topology, grid_->place(point)), {}});
            } catch (const std::invalid_argument& error) {  // of this machine
                rows.back().error = error.what();
            }
        }
        const SweepPlan plan = plan_of_points(wanted, grid_->file().slowdown);
        const SweptWorkload swept = sweep(place, plan, topology);
        for (PointRow& row : rows) {
            if (!row.error.empty()) continue;
            set_run(row, swept.run, topology.machine());
            if (grid_->has_monitor(grid_->place(row.point)))
                set_cell(row, *std::ranges::find(wanted, row.point, &Wanted::point), swept);
        }
        return rows;
    }

    PointRow empty(std::uint64_t point, std::string error = {}) const {
        return {point, grid_->hash(point), std::vector<double>(measures_.size(), std::nan("")), std::move(error)};
    }

private:
    SweptWorkload sweep(const Grid::Place& place, const SweepPlan& plan, const Topology& topology) const {
        const WorkloadPoint workload = grid_->workload(place);
        WorkloadOptions options;
        options.simulation.max_references = grid_->file().count;
        options.simulation.warmup = grid_->file().warmup;
        SweepSource source{workload.name, workload.settings, workload.name};
        if (workload.is_trace) source.name = grid_->inputs().traces.at(workload.name).path;
        const Input input = open_input(source.name, source.settings, options.choice);
        if (input.source->cores() > topology.machine().cores)
            throw CampaignError("it has {}, and the machine {}; give the machine more, as in 'set: {{cores: {}}}'",
                                numbered(input.source->cores(), "stream"), numbered(topology.machine().cores, "core"),
                                input.source->cores());
        SweptWorkload swept = sweep_workload(source, input, plan, options, topology);
        if (!swept.run.complete && swept.run.failure.empty()) throw BundleInterrupted();
        if (!swept.run.complete) throw CampaignError("{}", swept.run.failure);
        if (interrupted()) throw BundleInterrupted();
        return swept;
    }

    void set(PointRow& row, const std::string& name, double value) const {
        const auto found = std::ranges::find(measures_, name, &Measure::name);
        if (found != measures_.end()) row.values[static_cast<std::size_t>(found - measures_.begin())] = value;
    }
    void set(PointRow& row, const std::string& name, std::uint64_t value) const {
        set(row, name, static_cast<double>(value));
    }

    void set_run(PointRow& row, const RunResult& run, const MachineDescription& machine) const {
        set(row, "references", run.counts.references);
        set(row, "cycles", run.end() / machine.period);
        for (std::size_t i = 0; i < machine.caches.size(); ++i) {
            const CacheCounts& counts = run.counts.caches[i];
            set(row, "accesses_" + machine.caches[i].name, counts.loads + counts.stores + counts.fetches);
            set(row, "misses_" + machine.caches[i].name,
                counts.load_misses + counts.store_misses + counts.fetch_misses);
        }
        for (std::size_t i = 0; i < machine.tlbs.size(); ++i) {
            set(row, "accesses_" + machine.tlbs[i].name, run.counts.tlbs[i].accesses);
            set(row, "misses_" + machine.tlbs[i].name, run.counts.tlbs[i].misses);
        }
        for (std::size_t i = 0; i < machine.memories.size(); ++i) {
            set(row, "reads_" + machine.memories[i].name, run.counts.memories[i].reads);
            set(row, "writes_" + machine.memories[i].name, run.counts.memories[i].writes);
        }
    }

    void set_cell(PointRow& row, const Wanted& wanted, const SweptWorkload& swept) const {
        const auto is_it = [&](const SweepCell& cell) {
            return cell.settings == wanted.variant && cell.counters == wanted.spec.counters &&
                   cell.granularity == to_string(wanted.spec.granularity) &&
                   cell.eviction == to_string(wanted.spec.eviction);
        };
        const auto cell = std::ranges::find_if(swept.cells, is_it);
        if (cell == swept.cells.end()) {
            row = empty(row.point, swept.missing.empty() ? "it was not counted" : swept.missing);
            return;
        }
        set(row, "events", cell->events);
        set(row, "swapouts", cell->swapouts);
        set(row, "error", cell->error);
        set(row, "bytes_per_event", cell->bytes_per_event);
        set(row, "bits", cell->cost->bits);
        set(row, "comparators", cell->cost->comparators);
        set(row, "area", cell->cost->area);
        set(row, "energy", cell->cost->energy);
        if (cell->slowdown) set(row, "slowdown", *cell->slowdown);
    }

    std::shared_ptr<const Grid> grid_;
    std::vector<Measure> measures_;
};

/// A group of points; what goes wrong there is said of each of them.
std::vector<PointRow> run_group(const PointRunner& runner, Steps& steps, std::uint64_t first, std::uint64_t end) {
    std::string error = ended_twice;
    if (steps.enter(first)) try {
            return runner.run(first, end);
        } catch (const std::bad_alloc&) {
            error = "there is not enough memory";
        } catch (const std::exception& failure) {
            error = failure.what();
        }
    std::vector<PointRow> rows;
    for (std::uint64_t point = first; point < end; ++point) rows.push_back(runner.empty(point, error));
    return rows;
}

std::vector<PointFailure> compute_points(const Grid& grid, const PointRunner& runner, const Manifest& manifest,
                                         Group& root, std::uint64_t bundle, Steps& steps, const InputFile* before) {
    std::vector<PointRow> rows, old;
    std::vector<std::uint64_t> failed_before;
    if (before != nullptr) {
        old = read_points(before->root(), runner.measures());
        for (const PointFailure& failure : read_failures(before->root())) failed_before.push_back(failure.item);
    }
    const std::uint64_t begin = manifest.first(bundle);
    for (std::uint64_t first = begin; first < manifest.end(bundle);) {
        const std::uint64_t end = grid.group_end(first);
        if (steps.interrupted()) throw BundleInterrupted();
        const bool again = before == nullptr || std::ranges::any_of(failed_before, [&](std::uint64_t point) {
                               return point >= first && point < end;
                           });
        if (again) {
            for (PointRow& row : run_group(runner, steps, first, end)) rows.push_back(std::move(row));
        } else {
            rows.insert(rows.end(), old.begin() + static_cast<std::ptrdiff_t>(first - begin),
                        old.begin() + static_cast<std::ptrdiff_t>(end - begin));
        }
        first = end;
    }
    steps.end();
    write_points(root, runner.measures(), rows);
    std::vector<PointFailure> failures;
    for (const PointRow& row : rows)
        if (!row.error.empty()) failures.push_back({row.point, row.error});
    return failures;
}

}  // namespace

CampaignJob points_job(const Manifest& manifest, Inputs inputs) {
    const std::shared_ptr<const Grid> grid = grid_of(manifest, inputs);
    const auto runner = std::make_shared<PointRunner>(grid);
    auto hashes = std::make_shared<std::vector<std::string>>(manifest.count());
    CampaignJob job;
    job.work.hash = [grid, hashes, manifest](std::uint64_t bundle) {
        std::string& hash = (*hashes)[bundle];
        if (hash.empty()) {
            std::string all;
            for (std::uint64_t point = manifest.first(bundle); point < manifest.end(bundle); ++point)
                all += grid->hash(point) + "\n";
            hash = hash_text(all);
        }
        return hash;
    };
    job.work.compute = [grid, runner, manifest](Group& root, std::uint64_t bundle, Steps& steps,
                                                const InputFile* before) {
        return compute_points(*grid, *runner, manifest, root, bundle, steps, before);
    };
    job.merge = [grid, hash = job.work.hash](const CampaignFolder& folder, ResultFile& file) {
        Group& root = file.root();
        set_nexus_class(root, "NXroot");
        root.set_attribute("format", result_format);
        root.set_attribute("format_version", result_format_version);
        root.set_attribute("kind", std::string("campaign"));
        Group input = root.create_group("input");
        set_nexus_class(input, "NXcollection");
        input.set_attribute("name", grid->file().name);
        input.write_texts("yaml", std::vector<std::string>{grid->file().text});
        std::vector<std::string> bundle_hashes;
        for (std::uint64_t bundle = 0; bundle < folder.manifest().count(); ++bundle)
            bundle_hashes.push_back(hash(bundle));
        const Merged merged = merge_points(folder, *grid, bundle_hashes, root);
        root.set_attribute("default", "campaign");
        write_provenance(root, make_provenance(command_line()));
        if (merged.missing != 0)
            return fmt::format("{} of {} points are not done{}", merged.missing, folder.manifest().items,
                               merged.damaged.empty() ? ""
                                                      : fmt::format(" (bundles {} are damaged, or of other points)",
                                                                    fmt::join(merged.damaged, ", ")));
        return merged.failed == 0 ? "" : fmt::format("{} of {} points failed", merged.failed, merged.points);
    };
    return job;
}

CampaignJob job_of(const CampaignFolder& folder, Inputs inputs) {
    const Manifest& manifest = folder.manifest();
    if (manifest.program != campaign_program())
        throw CampaignError(
            "'{}' was begun by cachetally {}, and this is {}: results would be mixed; use that program, "
            "or begin another campaign",
            shown(folder.path()), manifest.program, campaign_program());
    if (manifest.kind == "points") return points_job(manifest, inputs);
    if (manifest.kind == "validate") return validation_job(manifest, inputs);
    if (manifest.kind == "sweep") return sweep_job(manifest, inputs);
    throw CampaignError("'{}' holds a campaign of another kind ('{}')", shown(folder.path()), shown(manifest.kind));
}

}  // namespace cachetally::app

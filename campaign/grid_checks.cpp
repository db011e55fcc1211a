// SPDX-License-Identifier: BSD-3-Clause
// What of a campaign file cannot be, said before anything runs.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "campaign/grid.hpp"
#include "storage/hash.hpp"
#include "workloads/kernels/workload.hpp"

namespace cachetally {

/// Entries that are equal in other words: their points would be computed and counted twice.
class Grid::Twins {
public:
    Twins(const Grid& grid, const std::vector<Variant>& all) : grid_(grid), all_(all) {}

    /// `content`: all that determines what entry `number` is.
    void refuse(std::size_t number, const std::string& content) {
        const auto [first, is_new] = seen_.try_emplace(hash_text(content), number);
        if (!is_new)
            Grid::refuse(grid_.file_.path, all_[number].entry->mark,
                         fmt::format("'{}' is '{}' in other words; keep one", name_of(number), name_of(first->second)));
    }

private:
    std::string name_of(std::size_t number) const {
        const Variant& variant = all_[number];
        std::string name = variant.entry->name;
        for (std::size_t i = 0; i < variant.values.size(); ++i)
            name += fmt::format("{}{}={}", name.empty() ? "" : " ", variant.entry->set[i].key, variant.values[i]);
        return shown(name);
    }

    const Grid& grid_;
    const std::vector<Variant>& all_;
    std::map<std::string, std::size_t> seen_;
};

/// Of workloads and monitors; machines were compared when they were read.
void Grid::refuse_twins() const {
    Twins kernels(*this, workloads_), monitors(*this, monitors_);
    for (std::size_t i = 0; i < workloads_.size(); ++i) {
        const WorkloadPoint point = workload({0, i, 0, 0});
        kernels.refuse(i, point.is_trace ? "trace " + inputs_.traces.at(point.name).hash
                                         : settled_options(point.name, point.settings));
    }
    for (std::size_t i = 0; i < monitors_.size(); ++i) {
        const Place place{0, 0, 0, i};
        if (!has_monitor(place)) continue;
        MonitorSpec spec = parse_common(monitor_settings(place), {});
        spec.link = one_core_link_.empty() ? stated_link(place) : monitor_link(place);
        monitors.refuse(i, to_string(spec));
    }
}

void Grid::check_machines() {
    const auto add = [](std::vector<std::string>& names, const std::string& name) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    };
    Twins twins(*this, machines_);
    for (std::size_t i = 0; i < machines_.size(); ++i) {
        const MachineDescription machine = [&] {
            try {
                return Topology(this->machine({i, 0, 0, 0})).machine();
            } catch (const FileError& error) {
                refuse(file_.path, machines_[i].entry->mark, error.what());
            }
        }();
        twins.refuse(i, machine_text(i));
        most_cores_ = std::max(most_cores_, machine.cores);
        for (const CacheConfig& cache : machine.caches) add(levels_, cache.name);
        for (const TlbConfig& tlb : machine.tlbs) add(levels_, tlb.name);
        for (const MemoryConfig& memory : machine.memories) add(memories_, memory.name);
    }
}

void Grid::check_workloads() const {
    for (const Variant& variant : workloads_) {
        const CampaignEntry& entry = *variant.entry;
        if (entry.is_trace) {
            if (!entry.set.empty())
                refuse(file_.path, entry.mark, "a trace has no options; 'set' is for kernels, as in {run: lu, ...}");
            continue;
        }
        const WorkloadInfo* kernel = find_workload(entry.name);
        if (kernel == nullptr) {
            std::vector<std::string_view> known;
            for (const WorkloadInfo& info : workload_list()) known.push_back(info.name);
            refuse(file_.path, entry.mark,
                   fmt::format("there is no kernel '{}'{}; a trace is {{trace: FILE}}", shown(entry.name),
                               advice(entry.name, known)));
        }
        try {
            const auto place = static_cast<std::size_t>(&variant - workloads_.data());
            OptionValues(entry.name, kernel->options, workload({0, place, 0, 0}).settings);
        } catch (const OptionError& error) {
            refuse(file_.path, entry.mark, error.what());
        }
    }
}

/// Of the workloads that conditions leave.
void Grid::check_combined_options() const {
    std::vector<bool> used(workloads_.size(), all_);
    for (const std::uint64_t each : chosen_) used[place_of(each).workload] = true;
    for (std::size_t i = 0; i < workloads_.size(); ++i)
        if (used[i] && !workloads_[i].entry->is_trace) try {
                check_options(workloads_[i].entry->name, workload({0, i, 0, 0}).settings);
            } catch (const OptionError& error) {
                refuse(file_.path, workloads_[i].entry->mark,
                       fmt::format("{}; or leave it out by a condition, as in 'where: [a <= b]'", error.what()));
            }
}

std::string Grid::too_many_streams(const std::string& workload, std::uint64_t streams) const {
    if (streams <= most_cores_) return "";
    return fmt::format(
        "'{}' runs on {}, and no machine has more than {}; give machines more, as in 'set: {{cores: {}}}'",
        shown(workload), numbered(streams, "processor"), numbered(most_cores_, "core"), streams);
}

/// As with links: what no machine has is a mistake; on some of them, points of the others fail.
void Grid::check_processors() const {
    for (const Variant& variant : workloads_)
        for (std::size_t i = 0; i < variant.values.size(); ++i) {
            if (variant.entry->is_trace || variant.entry->set[i].key != "processors") continue;
            const std::string error = too_many_streams(variant.entry->name, parse_whole(variant.values[i]).value_or(1));
            if (!error.empty()) refuse(file_.path, variant.entry->mark, error);
        }
}

void Grid::check_monitors() const {
    for (std::size_t i = 0; i < monitors_.size(); ++i) {
        try {
            if (has_monitor({0, 0, 0, i})) validate(parse_common(monitor_settings({0, 0, 0, i}), {}));
        } catch (const SpecError& error) {
            refuse(file_.path, monitors_[i].entry->mark, error.what());
        }
    }
}

/// A monitor that is possible on none of the machines is a mistake; on some of them, points of the others fail, which
/// is remarked.
void Grid::check_links() {
    std::vector<Topology> topologies;
    for (std::size_t i = 0; i < machines_.size(); ++i)
        if (i == 0 || machines_[i].entry != machines_[i - 1].entry)
            topologies.emplace_back(this->machine({i, 0, 0, 0}));
    one_core_link_ = core_link_of(topologies.front());
    for (const Topology& topology : topologies)
        if (core_link_of(topology) != one_core_link_) one_core_link_.clear();
    for (std::size_t i = 0; i < monitors_.size(); ++i) {
        const Place place{0, 0, 0, i};
        if (!has_monitor(place)) continue;
        std::string error;
        const auto is_possible = [&](const Topology& topology) {
            try {
                monitor_on(topology, place);
                return true;
            } catch (const std::invalid_argument& failure) {
                error = failure.what();
                return false;
            }
        };
        const auto possible = std::ranges::count_if(topologies, is_possible);
        if (possible == 0) refuse(file_.path, monitors_[i].entry->mark, error);
        if (possible != std::ssize(topologies))
            remarks_.push_back(
                fmt::format("{}:{}:{}: {} of {} cannot have this monitor, and their points will fail: {}", file_.path,
                            monitors_[i].entry->mark.line, monitors_[i].entry->mark.column,
                            std::ssize(topologies) - possible, numbered(topologies.size(), "machine"), error));
    }
}

}  // namespace cachetally

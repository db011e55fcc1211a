// SPDX-License-Identifier: BSD-3-Clause
#include "campaign/grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "monitor/spec_placement.hpp"
#include "storage/hash.hpp"
#include "storage/provenance.hpp"
#include "workloads/kernels/workload.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t most_variants = 1'000'000;
constexpr const char* every_point_has[] = {"machine", "workload", "seed", "monitor"};
/// Other columns of the result.
constexpr const char* measured[] = {"point", "failed",          "hash", "references",  "cycles", "events", "swapouts",
                                    "error", "bytes_per_event", "bits", "comparators", "area",   "energy", "slowdown"};

bool has_option(const WorkloadInfo& info, const std::string& name) {
    return std::ranges::any_of(info.options, [&](const WorkloadOption& option) { return option.name == name; });
}

}  // namespace

void Grid::refuse(const std::string& path, const Mark& mark, std::string message) {
    throw FileError(path, {{mark, std::move(message)}});
}

std::vector<Grid::Variant> Grid::variants_of(const std::vector<CampaignEntry>& entries, const std::string& path) {
    std::vector<Variant> all;
    for (const CampaignEntry& entry : entries) {
        std::vector<Variant> own{{&entry, {}}};
        for (const Varied& varied : entry.set) {
            if (own.size() * varied.values.size() > most_variants)
                refuse(path, varied.mark,
                       fmt::format("these are more than {} combinations; set fewer values", most_variants));
            std::vector<Variant> longer;
            for (const Variant& begun : own)
                for (const std::string& value : varied.values) {
                    longer.push_back(begun);
                    longer.back().values.push_back(value);
                }
            own = std::move(longer);
        }
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

Grid::Grid(CampaignFile file, CampaignInputs inputs) : file_(std::move(file)), inputs_(std::move(inputs)) {
    machines_ = variants_of(file_.machines, file_.path);
    workloads_ = variants_of(file_.workloads, file_.path);
    monitors_ = variants_of(file_.monitors, file_.path);
    check_workloads();
    check_monitors();
    check_machines();
    check_processors();
    check_links();
    refuse_twins();
    find_parameters();
    choose();
    check_combined_options();
    if (points() == 0) refuse(file_.path, file_.where.front().mark, "the conditions leave no point; take some away");
}

MonitorSpec Grid::monitor_on(const Topology& topology, const Place& place) const {
    MonitorSpec spec = parse_common(monitor_settings(place), {});
    spec.link = stated_link(place);
    if (spec.link.empty()) spec.link = core_link_of(topology);
    return completed(placed({spec}, topology).front(), topology);
}

void Grid::find_parameters() {
    std::vector<std::string> names(std::begin(every_point_has), std::end(every_point_has));
    names.insert(names.end(), std::begin(measured), std::end(measured));
    const std::size_t reserved = names.size();
    const auto add = [&](const std::vector<CampaignEntry>& entries, const std::string& kind) {
        const std::size_t before = names.size();
        for (const CampaignEntry& entry : entries)
            for (const Varied& varied : entry.set) {
                const auto found = std::ranges::find(names, varied.key);
                const bool taken = found < names.begin() + static_cast<std::ptrdiff_t>(before);
                const std::string name = taken ? kind + "." + varied.key : varied.key;
                if (std::ranges::find(names, name) == names.end()) names.push_back(name);
            }
    };
    add(file_.machines, "machine");
    for (std::size_t i = reserved; i < names.size(); ++i)
        for (const auto& [name, input] : inputs_.machines)
            stated_[{name, names[i]}] =
                setting_in(input.text, names[i].starts_with("machine.") ? names[i].substr(8) : names[i]);
    add(file_.workloads, "workload");
    add(file_.monitors, "monitor");
    for (std::size_t i = reserved; i < names.size(); ++i) parameters_.push_back({names[i], true});
    for (const Condition& condition : file_.where)
        for (const auto* factors : {&condition.left, &condition.right})
            for (const std::string& factor : *factors)
                if (!has_parameter(factor) && !campaign_number(factor))
                    for (const auto& [name, input] : inputs_.machines)
                        if (std::string stated = setting_in(input.text, factor); !stated.empty())
                            stated_[{name, factor}] = std::move(stated);
    for (Parameter& parameter : parameters_) {
        const auto see = [&](const Place& place) {
            const std::string text = value(parameter.name, place);
            if (!text.empty() && !campaign_number(text)) parameter.is_number = false;
        };
        for (std::size_t i = 0; i < machines_.size() && parameter.is_number; ++i) see({i, 0, 0, 0});
        for (std::size_t i = 0; i < workloads_.size() && parameter.is_number; ++i) see({0, i, 0, 0});
        for (std::size_t i = 0; i < monitors_.size() && parameter.is_number; ++i) see({0, 0, 0, i});
    }
}

std::uint64_t Grid::combinations() const {
    return machines_.size() * workloads_.size() * std::max<std::size_t>(1, file_.seeds.size()) * monitors_.size();
}

Grid::Place Grid::place_of(std::uint64_t combination) const {
    const std::uint64_t seeds = std::max<std::size_t>(1, file_.seeds.size());
    Place place;
    place.monitor = combination % monitors_.size();
    combination /= monitors_.size();
    place.seed = combination % seeds;
    combination /= seeds;
    place.workload = combination % workloads_.size();
    place.machine = combination / workloads_.size();
    return place;
}

Grid::Place Grid::place(std::uint64_t point) const { return place_of(combination(point)); }

std::uint64_t Grid::group_end(std::uint64_t point) const {
    const std::uint64_t group = combination(point) / monitors_.size();
    while (++point < points() && combination(point) / monitors_.size() == group) {
    }
    return point;
}

/// Of a parameter, or of what every point has; empty where the point does not have it.
std::string Grid::value(const std::string& name, const Place& place) const {
    if (name == "machine") return machine_name(place);
    if (name == "workload") return workload_name(place);
    if (name == "seed") return std::to_string(seed(place));
    const auto in = [&](const Variant& variant, const std::string& kind) -> const std::string* {
        for (std::size_t i = 0; i < variant.values.size(); ++i)
            if (const std::string& key = variant.entry->set[i].key; key == name || kind + key == name)
                return &variant.values[i];
        return nullptr;
    };
    const Variant& machine = machines_[place.machine];
    const auto varied = [&](const std::vector<CampaignEntry>& entries, const std::string& kind) {
        return std::ranges::any_of(entries, [&](const CampaignEntry& entry) {
            return std::ranges::any_of(entry.set,
                                       [&](const Varied& each) { return each.key == name || kind + each.key == name; });
        });
    };
    if (varied(file_.machines, "machine.")) {
        if (const auto* found = in(machine, "machine.")) return *found;
        return stated_.at({machine.entry->name, name});
    }
    if (const auto* found = in(workloads_[place.workload], "workload.");
        found != nullptr && varied(file_.workloads, "workload."))
        return *found;
    if (const auto* found = in(monitors_[place.monitor], "monitor."); found != nullptr) return *found;
    if ((name == "link" || name == "monitor.link") && has_monitor(place)) return monitor_link(place);
    return "";
}

std::vector<std::string> Grid::values(const Place& place) const {
    std::vector<std::string> all;
    for (const Parameter& parameter : parameters_) all.push_back(value(parameter.name, place));
    return all;
}

/// Whether points differ by it, or all have it.
bool Grid::has_parameter(const std::string& name) const {
    return std::ranges::find(every_point_has, name) != std::end(every_point_has) ||
           std::ranges::find(parameters_, name, &Parameter::name) != parameters_.end();
}

MachineDescription Grid::machine(const Place& place) const {
    MachineDescription machine = unseeded(place.machine);
    add_seed(machine, seed(place));
    return machine;
}

WorkloadPoint Grid::workload(const Place& place) const {
    const Variant& variant = workloads_[place.workload];
    WorkloadPoint point{variant.entry->name, variant.entry->is_trace, {}};
    bool has_seed = false;
    for (std::size_t i = 0; i < variant.values.size(); ++i) {
        point.settings.push_back(fmt::format("{}={}", variant.entry->set[i].key, variant.values[i]));
        has_seed = has_seed || variant.entry->set[i].key == "seed";
    }
    const WorkloadInfo* kernel = point.is_trace ? nullptr : find_workload(point.name);
    if (!file_.seeds.empty() && !has_seed && kernel != nullptr && has_option(*kernel, "seed"))
        point.settings.push_back(fmt::format("seed={}", seed(place)));
    return point;
}

std::string Grid::monitor_settings(const Place& place) const {
    const Variant& variant = monitors_[place.monitor];
    std::vector<std::string> settings;
    bool has_seed = false;
    for (std::size_t i = 0; i < variant.values.size(); ++i) {
        const std::string& key = variant.entry->set[i].key;
        if (key == "link") continue;
        settings.push_back(varied_setting(key, variant.values[i]));
        has_seed = has_seed || key == "seed";
    }
    if (!file_.seeds.empty() && !has_seed) settings.push_back(fmt::format("seed={}", seed(place)));
    return fmt::format("{}", fmt::join(settings, ","));
}

std::string Grid::core_link_of(const Topology& topology) { return topology.links()[topology.core_link(false)].name; }

std::string Grid::stated_link(const Place& place) const {
    const Variant& variant = monitors_[place.monitor];
    for (std::size_t i = 0; i < variant.values.size(); ++i)
        if (variant.entry->set[i].key == "link") return variant.values[i];
    return "";
}

std::string Grid::monitor_link(const Place& place) const {
    std::string stated = stated_link(place);
    if (!stated.empty()) return stated;
    const MachineDescription& machine = unseeded(place.machine);
    if (last_machine_.core_link.empty()) last_machine_.core_link = core_link_of(Topology(machine));
    return last_machine_.core_link;
}

std::string Grid::monitor_text(const Place& place) const {
    if (!has_monitor(place)) return "none";
    const std::string settings = monitor_settings(place);
    return fmt::format("link={}{}{}", monitor_link(place), settings.empty() ? "" : ",", settings);
}

const std::string& Grid::machine_text(std::size_t number) const {
    const MachineDescription& machine = unseeded(number);
    if (last_machine_.text.empty()) last_machine_.text = write_machine(machine);
    return last_machine_.text;
}

std::string Grid::hash(std::uint64_t point) const {
    const Place place = this->place(point);
    const WorkloadPoint work = workload(place);
    const auto trace = inputs_.traces.find(work.name);
    return hash_text(fmt::format("{}\n{}\n{} {}\n{}\n{} {} {}\n{}\n{}", program_version(), machine_text(place.machine),
                                 work.name, fmt::join(work.settings, " "),
                                 work.is_trace && trace != inputs_.traces.end() ? trace->second.hash : "", file_.count,
                                 file_.warmup, file_.slowdown, monitor_text(place), seed(place)));
}

}  // namespace cachetally

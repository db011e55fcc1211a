// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/attribution/level_cores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "monitor/attribution/attribution_file.hpp"
#include "monitor/line_structures.hpp"
#include "monitor/spec_placement.hpp"
#include "storage/columns.hpp"

namespace cachetally {

class HierarchyCores::Events final : public LinkListener {
public:
    Events(std::uint32_t kinds, unsigned cores, std::function<bool(Address)> holds,
           std::optional<LineStructures> structures)
        : kinds_(kinds), holds_(std::move(holds)), structures_(std::move(structures)), counts_(cores) {}
    std::uint32_t kinds() const override { return kinds_; }
    bool accepts_merged(std::uint32_t block) const override {
        return !structures_ || block <= 1U << structures_->line_bits();
    }
    bool accepts_untimed() const override { return true; }
    void on_event(const LinkEvent& event, Injector&) override {
        if (holds_ && !holds_(event.address)) return;
        counts_.add(structures_ ? structures_->of(event.address) : 0, event.count, event.core);
    }
    void on_control(const Control& control, Tick, Injector&) override { counts_.follow(control); }
    const SiteCounts& counts() const { return counts_; }

private:
    std::uint32_t kinds_;
    std::function<bool(Address)> holds_;
    std::optional<LineStructures> structures_;
    SiteCounts counts_;  ///< by structure
};

namespace {

/// As level_lines() has them.
std::uint32_t line_bytes(const LevelLinks& level, const Topology& topology) {
    if (level.line_bytes != 0) return level.line_bytes;
    std::uint32_t bytes = 1;
    for (const auto& side : {level.above, level.below})
        for (const LinkKinds& place : side) {
            MonitorSpec spec;
            spec.link = topology.links()[place.link].name;
            spec.line = shorter_line(topology, topology.links()[place.link]);
            bytes = std::max(bytes, completed(spec, topology).unit());
        }
    return bytes;
}

}  // namespace

HierarchyCores::HierarchyCores(const Topology& topology, Hierarchy& hierarchy,
                               std::optional<std::span<const Region>> regions, const AddressMap& map) {
    if (regions) finder_.emplace(*regions);
    const auto listen = [&](const LevelLinks& level, const std::vector<LinkKinds>& places,
                            std::vector<std::unique_ptr<Events>>& events) {
        for (const LinkKinds& place : places)
            for (unsigned copy = 0; copy < hierarchy.copies(place.link); ++copy) {
                std::optional<LineStructures> structures;
                if (finder_) structures.emplace(*finder_, level.tlb ? AddressMap() : map, line_bytes(level, topology));
                events.push_back(std::make_unique<Events>(place.kinds, topology.machine().cores, level.holds,
                                                          std::move(structures)));
                hierarchy.listen(place.link, copy, *events.back());
            }
    };
    for (const LevelLinks& level : level_links(topology)) {
        Level& added = levels_.emplace_back();
        added.name = level.name;
        listen(level, level.above, added.accesses);
        listen(level, level.below, added.misses);
    }
}

HierarchyCores::~HierarchyCores() = default;

LevelCores HierarchyCores::found() const {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, LevelCores::Row> rows;
    const auto add = [&](std::uint32_t level, const std::vector<std::unique_ptr<Events>>& events,
                         std::uint64_t LevelCores::Row::*count) {
        for (const auto& link : events)
            for (const SiteCounts::Row& row : link->counts().rows())
                rows[{level, row.core, row.phase, row.site}].*count += row.count;
    };
    LevelCores found;
    found.by_structure = finder_.has_value() && !levels_.empty();  // of none nothing is stored
    for (std::uint32_t level = 0; level < levels_.size(); ++level) {
        found.levels.push_back(levels_[level].name);
        add(level, levels_[level].accesses, &LevelCores::Row::accesses);
        add(level, levels_[level].misses, &LevelCores::Row::misses);
    }
    for (auto& [place, row] : rows) {
        std::tie(row.level, row.core, row.phase, row.structure) = place;
        found.rows.push_back(row);
    }
    return found;
}

void write_level_cores(Group& root, const LevelCores& cores) {
    if (cores.empty()) return;
    Group group = root.create_group("cores");
    group.set_attribute("levels", cores.levels);
    group.write("level", column_of(cores.rows, &LevelCores::Row::level));
    group.write("core", column_of(cores.rows, &LevelCores::Row::core));
    group.write("phase", column_of(cores.rows, &LevelCores::Row::phase));
    if (cores.by_structure) group.write("structure", column_of(cores.rows, &LevelCores::Row::structure));
    group.write("accesses", column_of(cores.rows, &LevelCores::Row::accesses));
    group.write("misses", column_of(cores.rows, &LevelCores::Row::misses));
    group.write("row", numbers_to(cores.rows.size()));
    set_axes(group, "accesses", {"row"}, {"misses"});
}

LevelCores read_level_cores(const Group& root, std::size_t structures) {
    LevelCores cores;
    if (!root.has("cores")) return cores;
    const Group group = root.open_group("cores");
    cores.levels = group.texts_attribute("levels");
    const auto level = group.read<std::uint32_t>("level");
    const auto core = read_column<std::uint32_t>(group, "core", level.size());
    const auto phase = read_column<std::uint32_t>(group, "phase", level.size());
    cores.by_structure = group.has("structure");
    std::vector<std::uint32_t> structure(level.size());
    if (cores.by_structure) structure = read_column<std::uint32_t>(group, "structure", level.size());
    const auto accesses = read_column<std::uint64_t>(group, "accesses", level.size());
    const auto misses = read_column<std::uint64_t>(group, "misses", level.size());
    for (std::size_t i = 0; i < level.size(); ++i) {
        if (level[i] >= cores.levels.size())
            throw StorageError(fmt::format("{}: there is no level {}; the file is damaged", group.where(), level[i]));
        require_core(group, core[i]);
        if (structure[i] > structures)
            throw StorageError("{}: there is no data structure {}; the file is damaged", group.where(), structure[i]);
        cores.rows.push_back({level[i], core[i], phase[i], structure[i], accesses[i], misses[i]});
    }
    return cores;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/reuse/hierarchy_reuse.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "monitor/line_structures.hpp"
#include "monitor/stack_distances.hpp"

namespace cachetally {

/// Of one copy of a link, by lines of one size.
class HierarchyReuse::Watch final : public LinkListener {
public:
    Watch(std::uint32_t line_bytes, const RegionFinder& finder, AddressMap map, const SiteTable* sites)
        : structures_(finder, std::move(map), line_bytes), sites_(sites) {}

    std::uint32_t kinds() const override {
        return bit(EventKind::load) | bit(EventKind::store) | bit(EventKind::fetch);
    }
    bool accepts_merged(std::uint32_t block) const override {
        return sites_ == nullptr && block <= 1U << structures_.line_bits();
    }

    void on_event(const LinkEvent& event, Injector&) override {
        const std::uint64_t distance = distances_.use(event.address >> structures_.line_bits());
        if (!counting_.is_on()) return;
        std::vector<std::uint64_t>& counts = counts_of(structure_of(event));
        if (distance == StackDistances::first_use) {
            ++counts[0];
        } else {
            ++at(counts, 1 + ReuseBins::bin_of(distance));
        }
        if (event.count > 1) at(counts, 1) += event.count - 1;  // the same line again
    }

    void on_control(const Control& control, Tick, Injector&) override {
        counting_.follow(control);
        if (control.kind == Control::Kind::barrier) end_phase();
    }

    /// Of the phase at hand, too.
    const std::vector<ReuseDistances::Row>& rows() {
        end_phase();
        return rows_;
    }

private:
    static std::uint64_t& at(std::vector<std::uint64_t>& counts, std::size_t place) {
        if (place >= counts.size()) counts.resize(place + 1);
        return counts[place];
    }

    std::uint32_t structure_of(const LinkEvent& event) {
        return sites_ != nullptr ? (*sites_)[event.site].object : structures_.of(event.address);
    }

    std::vector<std::uint64_t>& counts_of(std::uint32_t structure) {
        if (structure >= counts_.size()) counts_.resize(structure + std::size_t{1});
        std::vector<std::uint64_t>& counts = counts_[structure];
        if (counts.empty()) {
            counts.resize(2);
            used_.push_back(structure);
        }
        return counts;
    }

    void end_phase() {
        for (const std::uint32_t structure : used_) {
            std::vector<std::uint64_t>& counts = counts_[structure];
            for (unsigned place = 0; place < counts.size(); ++place)
                if (counts[place] != 0)
                    rows_.push_back({structure, phase_,
                                     place == 0 ? ReuseDistances::first_use : ReuseBins::least(place - 1),
                                     counts[place]});
            counts.clear();
        }
        used_.clear();
        ++phase_;
    }

    LineStructures structures_;
    const SiteTable* sites_;
    StackDistances distances_;
    std::uint32_t phase_ = 0;
    Counting counting_;
    /// Of the phase at hand, by structure: first uses, then a number for each bin; empty where there were no uses.
    std::vector<std::vector<std::uint64_t>> counts_;
    std::vector<std::uint32_t> used_;
    std::vector<ReuseDistances::Row> rows_;  ///< of the phases before
};

namespace {

/// The links by which data and fetches leave cores; one, where they take the same.
std::vector<std::size_t> core_links(const Topology& topology) {
    std::vector<std::size_t> links;
    for (const bool fetch : {false, true}) try {
            const std::size_t link = topology.core_link(fetch);
            if (std::ranges::find(links, link) == links.end()) links.push_back(link);
        } catch (const std::invalid_argument&) {  // nothing serves them
        }
    return links;
}

/// Sizes of the lines of the caches behind a link, from the core on; none smaller than the first, as an event is of one
/// line of that.
std::vector<std::uint32_t> line_sizes(const Topology& topology, std::size_t link) {
    std::vector<std::uint32_t> sizes;
    const auto& caches = topology.machine().caches;
    std::string next = topology.components()[topology.links()[link].to].name;
    for (auto cache = caches.begin(); cache != caches.end(); next = cache->next) {
        cache = std::ranges::find(caches, next, &CacheConfig::name);
        if (cache == caches.end()) break;
        const bool is_new = std::ranges::find(sizes, cache->line) == sizes.end();
        if (is_new && (sizes.empty() || cache->line > sizes.front())) sizes.push_back(cache->line);
    }
    return sizes;
}

}  // namespace

HierarchyReuse::HierarchyReuse(const Topology& topology, Hierarchy& hierarchy, std::span<const Region> regions,
                               const AddressMap& map, const SiteTable* sites)
    : finder_(regions), by_site_(sites != nullptr) {
    for (const Region& region : regions) regions_.push_back(region.name);
    regions_.emplace_back("(elsewhere)");
    for (const std::size_t link : core_links(topology))
        for (const std::uint32_t line : line_sizes(topology, link)) {
            Place& place = places_.emplace_back();
            place.link = topology.links()[link].name;
            place.line_bytes = line;
            for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy) {
                place.copies.push_back(std::make_unique<Watch>(line, finder_, map, sites));
                hierarchy.listen(link, copy, *place.copies.back());
            }
        }
}

HierarchyReuse::~HierarchyReuse() = default;

std::vector<ReuseDistances> HierarchyReuse::found(const std::vector<std::string>& objects) const {
    const auto name_of = [&](std::uint32_t structure) -> std::string {
        if (!by_site_) return regions_[structure];
        return structure == 0 || structure >= objects.size() ? "(code)" : objects[structure];
    };
    std::vector<ReuseDistances> all;
    for (const Place& place : places_) {
        ReuseDistances& reuse = all.emplace_back();
        reuse.link = place.link;
        reuse.line_bytes = place.line_bytes;
        std::map<std::uint32_t, std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t>> counts;
        for (const auto& copy : place.copies)
            for (const ReuseDistances::Row& row : copy->rows())
                counts[row.structure][{row.phase, row.distance}] += row.count;
        std::map<std::string, std::uint32_t> numbers;
        std::vector<std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t>> sums;
        for (const auto& [structure, rows] : counts) {
            const auto [number, is_new] = numbers.try_emplace(name_of(structure), sums.size());
            if (is_new) {
                reuse.structures.push_back(number->first);
                sums.emplace_back();
            }
            for (const auto& [key, count] : rows) sums[number->second][key] += count;
        }
        for (std::uint32_t structure = 0; structure < sums.size(); ++structure)
            for (const auto& [key, count] : sums[structure])
                reuse.rows.push_back({structure, key.first, key.second, count});
    }
    return all;
}

}  // namespace cachetally

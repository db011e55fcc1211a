// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/causes/sharing_watch.hpp"

#include <algorithm>

#include "monitor/attribution/used_bytes.hpp"

namespace cachetally {

SharingWatch::SharingWatch(const Topology& topology, const CoherentPart& part, AddressMap map)
    : nodes_(part.nodes),
      cores_per_node_(topology.machine().cores / part.nodes),
      line_bytes_(topology.machine().caches[part.caches.front()].line),
      map_(std::move(map)) {}

/// Of a line of several nodes.
SharingWatch::Node& SharingWatch::node_of(Line& line, unsigned node) {
    if (line.nodes.empty()) line.nodes.resize(nodes_);
    return line.nodes[node];
}

/// Of misses by references before one.
void SharingWatch::judge(Node& node, bool is_true, std::uint64_t before) {
    std::erase_if(node.misses, [&](const Pending& miss) {
        if (miss.reference >= before) return false;
        auto& [true_sharing, false_sharing] = counts_[miss.key];
        (is_true ? true_sharing : false_sharing) += miss.times;
        return true;
    });
}

void SharingWatch::invalidated(unsigned node, Address physical) {
    Node& loser = node_of(line_of(physical), node);
    const Address line = map_ ? map_(physical) : physical;
    judge(loser, false, number_ + 1);
    loser.by_store = reference_.kind == ReferenceKind::store && core_ / cores_per_node_ != node &&
                     last_byte(reference_) >= line && reference_.address <= line + (line_bytes_ - 1);
    loser.used = false;
    loser.by_core = core_;
    loser.by_site = reference_.site;
}

void SharingWatch::missed(const Miss& miss, Address physical) {
    Line& line = line_of(physical);
    if (line.nodes.empty()) return;
    Node& node = line.nodes[miss.node];
    if (miss.cause != MissCause::invalidated || !node.by_store) {
        if (miss.leaves_node) {
            judge(node, false, number_);
            if (node.misses.empty()) node.foreign = 0;  // else a level above lost the line to a store just now
        }
        return;
    }
    const Address address = map_ ? map_(physical) : physical;
    node.misses.push_back(
        {Key(miss.level, miss.phase, address, miss.core, miss.site, node.by_core, node.by_site), miss.times, number_});
    if (node.used) judge(node, true, number_ + 1);
}

void SharingWatch::before(unsigned core, const Reference& reference) {
    ++number_;
    core_ = core;
    reference_ = reference;
}

void SharingWatch::after(unsigned core, const Reference& reference, Tick) {
    if (reference.kind == ReferenceKind::fetch) return;
    const Address last = last_byte(reference);
    for (Address address = reference.address;; address = align_down(address, line_bytes_) + line_bytes_) {
        const Address line = align_down(address, line_bytes_), end = std::min(last, line + (line_bytes_ - 1));
        use(core / cores_per_node_, line, line_mask(address - line, end - address + 1, line_bytes_),
            reference.kind == ReferenceKind::store);
        if (end == last) break;
    }
}

void SharingWatch::use(unsigned number, Address address, std::uint64_t mask, bool store) {
    Line& line = lines_[address];
    if (line.nodes.empty() && (line.owner == none || line.owner == number)) {
        line.owner = number;
        return;
    }
    Node& node = node_of(line, number);
    if ((node.foreign & mask) != 0) {
        judge(node, true, number_ + 1);
        node.used = true;
        node.foreign = 0;
    }
    for (unsigned other = 0; store && other < nodes_; ++other)
        if (other != number) line.nodes[other].foreign |= mask;
}

Sharing SharingWatch::found(std::vector<std::string> levels) const {
    Counts counts = counts_;
    for (const auto& [address, line] : lines_)
        for (const Node& node : line.nodes)
            for (const Pending& miss : node.misses) counts[miss.key].second += miss.times;
    Sharing sharing{std::move(levels), line_bytes_, {}};
    for (const auto& [key, count] : counts) {
        const auto& [level, phase, line, core, site, by_core, by_site] = key;
        sharing.rows.push_back({level, phase, line, core, site, by_core, by_site, count.first, count.second});
    }
    return sharing;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/coherent_nodes.hpp"

#include <algorithm>
#include <sstream>

namespace cachetally {

/// Follows the write-backs of a node to the level below.
class CoherentNodes::Listener final : public LinkListener {
public:
    Listener(CoherentNodes& nodes, unsigned node) : nodes_(nodes), node_(node) {}
    std::uint32_t kinds() const override { return bit(EventKind::write_back); }
    bool accepts_merged(std::uint32_t) const override { return false; }
    void on_event(const LinkEvent& event, Injector&) override {
        nodes_.below_[event.address] = nodes_.copies_[node_][event.address];
    }
    void on_control(const Control&, Tick, Injector&) override {}

private:
    CoherentNodes& nodes_;
    unsigned node_;
};

CoherentNodes::CoherentNodes(const NodesConfig& config)
    : config_(config),
      memory_(MemoryConfig{}, 1000),
      coherence_(config.coherence, config.nodes, config.levels.front().line, 1000),
      copies_(config.nodes) {
    if (config.point.size != 0) {
        point_ = std::make_unique<Cache>(config.point, 0, 1000, false);
        point_->below().connect(memory_);
        if (config.point.inclusion == Inclusion::inclusive) point_->take_from_nodes(coherence_);
    }
    for (unsigned node = 0; node < config.nodes; ++node) {
        auto& levels = caches_.emplace_back();
        for (const CacheConfig& level : config.levels) {
            levels.push_back(std::make_unique<Cache>(level, node, 1000, levels.empty()));
            levels.back()->join(coherence_, node);
        }
        for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
            levels[i]->below().connect(*levels[i + 1]);
            levels[i + 1]->add_above(*levels[i]);
            if (config.levels[i + 1].inclusion == Inclusion::exclusive) levels[i]->below().take_clean_victims();
            if (config.levels[i + 1].inclusion == Inclusion::inclusive) levels[i]->expect_loss_of_lines(false);
        }
        RequestPort& outer = levels.back()->below();
        if (point_) {
            outer.connect(*point_);
            point_->add_above(*levels.back());
            if (config.point.inclusion == Inclusion::inclusive)
                for (auto& level : levels) level->expect_loss_of_lines(false);
        } else {
            outer.connect(memory_);
        }
        outer.ask(coherence_, node);
        outer.listen(*listeners_.emplace_back(std::make_unique<Listener>(*this, node)), &pending_);
        for (auto& level : levels) coherence_.add(node, *level);
    }
    if (point_) point_->prepare();
    for (auto& levels : caches_)
        for (auto& level : levels) level->prepare();
}

CoherentNodes::~CoherentNodes() = default;

std::uint64_t CoherentNodes::digest() const {
    std::uint64_t digest = coherence_.digest();
    for (const auto& levels : caches_)
        for (const auto& level : levels) digest = digest_of(digest, level->digest());
    return point_ ? digest_of(digest, point_->digest()) : digest;
}

Entry CoherentNodes::held_by(unsigned node, Address line) const {
    Entry bits = 0;
    for (const auto& level : caches_[node]) bits |= level->find(line) & (entry_bit::valid | entry_bit::dirty);
    return bits;
}

/// That of the node which has the line dirty, or 0.
std::uint64_t CoherentNodes::dirty_version(Address line) const {
    for (unsigned node = 0; node < config_.nodes; ++node)
        if (is_dirty(held_by(node, line))) return copies_[node].at(line);
    return 0;
}

/// A node that does not hold the line gets what the dirty node had, where that supplied it, or else what lies below.
std::string CoherentNodes::access(unsigned node, Address line, EventKind kind) {
    const bool held = held_by(node, line) != 0;
    const std::uint64_t supplies = counts().supplies, dirty = dirty_version(line);
    std::map<Address, std::uint64_t> dirty_before;
    for (const auto& [each, version] : latest_) dirty_before[each] = dirty_version(each);
    caches_[node].front()->request(line, RequestInfo(0, kind, static_cast<std::uint8_t>(node)), 0);
    std::uint64_t seen = held ? copies_[node][line] : counts().supplies != supplies ? dirty : below_[line];
    // An inclusive level takes dirty lines away without a write-back of their own.
    if (config_.point.inclusion == Inclusion::inclusive)
        for (const auto& [each, version] : dirty_before)
            if (each != line && version != 0 && dirty_version(each) == 0) below_[each] = version;
    std::ostringstream text;
    if (seen != latest_[line])
        text << "node " << node << " got version " << seen << " of line " << line << ", not " << latest_[line];
    if (kind == EventKind::store) seen = ++latest_[line];
    copies_[node][line] = seen;
    for (const auto& [each, version] : latest_) text << check_line(each);
    return text.str();
}

/// One writer or many readers; states say what the caches hold; what is dirty nowhere is below.
std::string CoherentNodes::check_line(Address line) const {
    unsigned holders = 0, owners = 0, alone = 0;
    for (unsigned node = 0; node < config_.nodes; ++node) {
        const LineState state = coherence_.state(node, line);
        const Entry held = held_by(node, line);
        if ((held != 0) != (state != LineState::invalid)) return " a state that the caches do not have;";
        if (is_dirty(held) != CoherenceProtocol::is_dirty_state(state))
            return " dirtiness that the state does not have;";
        holders += held != 0 ? 1 : 0;
        owners += is_dirty(held) ? 1 : 0;
        alone += CoherenceProtocol::may_write(state) ? 1 : 0;
        if (state == LineState::owned && config_.coherence.protocol == Protocol::mesi) return " owned in MESI;";
        if (held != 0 && copies_[node].at(line) != latest_.at(line)) return " a copy of an old version;";
    }
    if (alone > 1 || (alone == 1 && holders > 1)) return " a node may write what others hold;";
    if (owners > 1) return " two owners;";
    const auto below = below_.find(line);
    const std::uint64_t version = below != below_.end() ? below->second : 0;
    return owners == 0 && version != latest_.at(line) ? " the last version is lost;" : "";
}

}  // namespace cachetally

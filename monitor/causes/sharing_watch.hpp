// SPDX-License-Identifier: BSD-3-Clause
// SharingWatch: tells true from false sharing, reference by reference.
#pragma once

#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cachetally/listener.hpp"
#include "cachetally/topology.hpp"
#include "monitor/causes/miss_causes.hpp"
#include "monitor/causes/sharing.hpp"
#include "monitor/histogram.hpp"
#include "sim/topology/validate.hpp"

namespace cachetally {

/// CauseWatches of the nodes' caches report what becomes of lines; references say which bytes are used. Bytes are told
/// apart as UsedBytes does. With Dubois et al., misses that are first uses, replacements or true sharing are essential:
/// the node knows all that was stored until then. A miss is judged by what the node does until its next request for the
/// line, or until the line is invalidated.
class SharingWatch final : public ReferenceListener {
public:
    /// `map` gives the program's addresses.
    SharingWatch(const Topology& topology, const CoherentPart& part, AddressMap map);

    /// A copy of a level in a node lost a line.
    void invalidated(unsigned node, Address line);
    struct Miss {
        std::uint32_t level, node, phase, site, core;
        MissCause cause;
        std::uint64_t times;
        bool leaves_node;  ///< the request, for another node or what is below
    };
    void missed(const Miss& miss, Address line);

    Sharing found(std::vector<std::string> levels) const;

    bool one_by_one() const override { return true; }
    void on_references(unsigned, std::span<const Reference>) override {}
    void on_accesses(unsigned, std::span<const std::uint32_t>) override {}
    void before(unsigned core, const Reference& reference) override;
    void after(unsigned core, const Reference& reference, Tick taken) override;
    void on_control(const Control&) override {}

private:
    using Key = std::tuple<std::uint32_t, std::uint32_t, Address, std::uint32_t, std::uint32_t, std::uint32_t,
                           std::uint32_t>;  // as in SharingRow
    struct Pending {
        Key key;
        std::uint64_t times, reference;
    };
    /// What a line is to a node.
    struct Node {
        std::uint64_t foreign = 0;  ///< bytes that others stored since the node's last miss that was essential
        std::uint32_t by_core = 0, by_site = 0;
        bool by_store = false;        ///< it was a store of another node that took the line
        bool used = false;            ///< and the node has used what others stored since
        std::vector<Pending> misses;  ///< that are not judged yet
    };
    struct Line {
        unsigned owner = none;    ///< the only node so far
        std::vector<Node> nodes;  ///< once there are several: what it stored until then is new to none of these
    };
    static constexpr unsigned none = ~0U;
    using Counts = std::map<Key, std::pair<std::uint64_t, std::uint64_t>>;  // true, false sharing

    Line& line_of(Address physical) { return lines_[map_ ? map_(physical) : physical]; }
    Node& node_of(Line& line, unsigned node);
    void judge(Node& node, bool is_true, std::uint64_t before);
    void use(unsigned node, Address line, std::uint64_t mask, bool store);

    unsigned nodes_, cores_per_node_;
    std::uint32_t line_bytes_;
    AddressMap map_;
    std::unordered_map<Address, Line> lines_;
    Reference reference_;  ///< that is made
    unsigned core_ = 0;
    std::uint64_t number_ = 0;  ///< of it
    Counts counts_;
};

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Numa: nodes with memories of their own: where addresses are at home, and the way there. docs/numa.md is its
// specification.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "cachetally/counts.hpp"
#include "cachetally/machine.hpp"
#include "sim/model/link/link_timing.hpp"
#include "sim/model/link/request_port.hpp"
#include "sim/model/memory/memory.hpp"

namespace cachetally {

/// Where physical addresses are at home: memories by their number in the machine description.
class HomeMap {
public:
    explicit HomeMap(const MachineDescription& machine);

    /// By first touch, `node` is the one that touches: a page that nobody has touched yet is at home there from now on.
    std::size_t home(Address address, unsigned node);

    /// The first address behind this one that may be at home elsewhere; 0: none is.
    Address end(Address address) const;

private:
    struct Range {
        Address from, to;
        std::size_t memory;
    };
    std::size_t home_by_range(Address address) const;

    HomePolicy policy_;
    unsigned granule_bits_;  ///< of a page, by first touch
    std::size_t memories_;
    std::vector<std::size_t> memory_of_node_;           ///< by first touch
    std::unordered_map<Address, std::size_t> home_of_;  ///< by number of the page
    std::vector<Range> ranges_;                         ///< ascending
    std::size_t otherwise_ = 0;
};

/// All nodes of a machine, the interconnect between them, and the links to their memories.
class Numa {
public:
    /// The memories by their number in the machine description; they must live as long.
    Numa(const MachineDescription& machine, std::span<const std::unique_ptr<Memory>> memories);

    /// What asks from `from`: a component next above, or a monitor on a link of the node.
    using From = RequestPort::Node;

    /// A demand request, walk, prefetch or a store that is passed on. `at_home`: it has been sent on from there by a
    /// directory, so that the way there is behind it. Returns when the answer is there.
    Tick request(From from, Address address, RequestInfo info, Tick time, bool at_home);

    /// A victim, or a record that a cache passes on.
    void send(From from, Address address, RequestInfo info, Tick time);

    /// A monitor's record on its way past caches: no event.
    void write_record(From from, Address address, std::uint32_t bytes, RequestInfo info, Tick time);

    /// Time that the way from a node to the home of an address takes a request.
    Tick distance(unsigned node, Address address) { return is_remote(homes_.home(address, node), node) ? latency_ : 0; }

    HomeMap& homes() { return homes_; }
    RequestPort& to_interconnect(unsigned node) { return *to_interconnect_[node]; }
    RequestPort& to_memory(std::size_t memory) { return *to_memory_[memory]; }

    /// By memory.
    const std::vector<NumaCounts>& counts() const { return counts_; }
    BusCounts traffic() const;

private:
    bool is_remote(std::size_t memory, unsigned node) const { return node_of_memory_[memory] != node; }
    Bus& bus_of(unsigned node) { return *buses_[node]; }

    HomeMap homes_;
    std::vector<unsigned> node_of_memory_;
    std::span<const std::unique_ptr<Memory>> memories_;
    Tick latency_;
    std::vector<std::shared_ptr<Bus>> buses_;                    ///< by node
    std::vector<std::unique_ptr<RequestPort>> to_interconnect_;  ///< by node; for listeners
    std::vector<std::unique_ptr<RequestPort>> to_memory_;
    std::vector<NumaCounts> counts_;
};

}  // namespace cachetally

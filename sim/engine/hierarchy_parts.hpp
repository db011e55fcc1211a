// SPDX-License-Identifier: BSD-3-Clause
// The components of a Hierarchy, and the copies of every link. Internal to Hierarchy.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "sim/engine/core_path.hpp"
#include "sim/engine/hierarchy.hpp"
#include "sim/model/background.hpp"
#include "sim/model/coherence.hpp"
#include "sim/model/link_timing.hpp"
#include "sim/model/memory.hpp"
#include "sim/model/numa.hpp"

namespace cachetally {

template <class Part>
using Copies = std::vector<std::unique_ptr<Part>>;

/// Which copy of a component serves a core.
inline unsigned copy_for(const Component& component, unsigned core) { return core / component.cores_per_copy; }

/// Elaboration goes through the topology once.
struct Hierarchy::Parts {
    Parts(const Topology& topology, bool sieved);

    const Component& component(std::size_t id) const { return components[id]; }
    bool next_to_core(const Component& part) const;
    void make_components(bool sieved);
    void connect(std::size_t id, const LinkInfo& link);
    void connect_core(std::size_t id, const LinkInfo& link);
    void connect_walker(std::size_t id, const LinkInfo& link);
    void connect_cache(std::size_t id, const LinkInfo& link);
    void connect_tlb(std::size_t id, const LinkInfo& link);
    void connect_nodes(std::size_t id, const LinkInfo& link);
    unsigned node_of(unsigned core) const { return core / machine.cores_per_node(); }
    void lead(Downlink& from, const Component& to, unsigned core, std::uint32_t line = LinkTiming::store_bytes);
    void lead_past_caches(Downlink& from, unsigned core, std::uint32_t line);
    void make_coherent();
    void expect_loss_above(Cache& inclusive);
    void make_paths();
    void path_for(unsigned core, bool fetch, Downlink& way, Tlb* tlb, Downlink* tlb_way);
    void settle();
    Progress post(CorePath& path, std::span<const Reference> some, std::span<const Stretch> stretches, Tick now);
    void stop_posting();

    MachineDescription machine;
    Tick reference_at_most;
    std::vector<Component> components;
    std::vector<LinkInfo> links;
    PageTable pages;
    std::vector<Copies<Cache>> caches;
    std::vector<Copies<Tlb>> tlbs;
    Copies<PageWalker> walkers;
    Copies<Memory> memories;
    std::unique_ptr<Numa> numa;                            ///< null where memories belong to no nodes
    std::vector<std::vector<std::shared_ptr<Bus>>> buses;  ///< by cache; empty where nothing takes time of its own
    std::unique_ptr<Coherence> coherence;                  ///< null where caches are not kept coherent
    std::vector<std::vector<Downlink*>> downlinks;         ///< by link id and copy
    Copies<Downlink> core_links;                           ///< those that no component owns: from the cores
    Copies<CorePath> paths;
    std::vector<std::array<CorePath*, 2>> paths_of;  ///< by core: data, fetch (null: not simulated)
    std::vector<Downlink*> upper_links;              ///< of cores, TLBs and walkers
    Injections injections;
    std::uint64_t references = 0;
    bool settled = false, only_latencies = false;
    CorePath* posting = nullptr;  ///< the path that ran last, where something may be posted
    std::unique_ptr<Background> background;
    Tick owed = 0;  ///< for which somebody waited in what was posted
};

}  // namespace cachetally

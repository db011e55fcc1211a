// SPDX-License-Identifier: BSD-3-Clause
// The components of a Hierarchy, and the copies of every link. Internal to Hierarchy.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "cachetally/execution_plan.hpp"
#include "cachetally/hierarchy.hpp"
#include "sim/engine/block_path.hpp"
#include "sim/engine/core_path.hpp"
#include "sim/model/batching/background.hpp"
#include "sim/model/coherence/coherence.hpp"
#include "sim/model/link/link_timing.hpp"
#include "sim/model/memory/memory.hpp"
#include "sim/model/memory/numa.hpp"

namespace cachetally {

template <class Part>
using Copies = std::vector<std::unique_ptr<Part>>;

/// Which copy of a component serves a core.
inline unsigned copy_for(const Component& component, unsigned core) { return core / component.cores_per_copy; }

/// Elaboration goes through the topology once.
struct Hierarchy::Parts {
    explicit Parts(const Topology& topology);

    const Component& component(std::size_t id) const { return components[id]; }
    bool next_to_core(const Component& part) const;
    void make_components();
    void connect(std::size_t id, const LinkInfo& link);
    void connect_core(std::size_t id, const LinkInfo& link);
    void connect_walker(std::size_t id, const LinkInfo& link);
    void connect_cache(std::size_t id, const LinkInfo& link);
    void connect_tlb(std::size_t id, const LinkInfo& link);
    void connect_nodes(std::size_t id, const LinkInfo& link);
    unsigned node_of(unsigned core) const { return core / machine.cores_per_node(); }
    void lead(RequestPort& from, const Component& to, unsigned core, std::uint32_t line = LinkTiming::store_bytes);
    void connect_bypass(RequestPort& from, unsigned core, std::uint32_t line);
    void make_coherent();
    void expect_loss_above(Cache& inclusive, bool logged);
    void make_paths();
    void path_for(unsigned core, bool fetch, RequestPort& way, Tlb* tlb, RequestPort* tlb_way);
    void prepare();
    std::string why_one_by_one(const CorePath& path) const;
    std::string why_one_by_one(unsigned core) const;
    bool wants_sites(unsigned core) const;
    std::string why_in_steps(Cache& cache) const;
    static Cache* first_in_steps(const CorePath& path);
    std::string why_walks_are_not_batched(unsigned core) const;
    std::string why_not_batched(const CorePath& path) const;
    std::string why_not_batched(unsigned core) const;
    ExecutionPlan::Core plan_of(unsigned core) const;
    BlockPath& start_batching(unsigned core);
    void stop_batching();

    MachineDescription machine;
    Tick reference_at_most;
    std::vector<Component> components;
    std::vector<LinkInfo> links;
    PageTable pages;
    std::vector<Copies<Cache>> caches;
    std::vector<ReferenceListener*> reference_listeners;
    bool one_by_one = false;  ///< as some of these want references
    std::vector<Copies<Tlb>> tlbs;
    Copies<PageWalker> walkers;
    Copies<Memory> memories;
    std::unique_ptr<Numa> numa;                            ///< null where memories belong to no nodes
    std::vector<std::vector<std::shared_ptr<Bus>>> buses;  ///< by cache; empty where nothing takes time of its own
    std::unique_ptr<Coherence> coherence;                  ///< null where caches are not kept coherent
    std::vector<std::vector<RequestPort*>> ports;          ///< by link id and copy
    Copies<RequestPort> core_links;                        ///< those that no component owns: from the cores
    Copies<CorePath> paths;
    std::vector<std::array<CorePath*, 2>> paths_of;  ///< by core: data, fetch (null: not simulated)
    std::vector<RequestPort*> upper_links;           ///< of cores, TLBs and walkers
    Injections injections;
    std::uint64_t references = 0;
    bool prepared = false, only_latencies = false;
    bool timed = false, all_merge = false;  ///< nobody wants single events
    bool filterable =
        false;  ///< as far as listeners are concerned: no event but those below first levels is wanted by itself
    Execution fastest = Execution::batched;  ///< that was asked for
    ExecutionPlan plan;
    Copies<BlockPath> block_paths;     ///< by core; null where references are carried out one by one
    Copies<RedundancyFilter> filters;  ///< by core; for references that come unfiltered
    BlockPath* batching = nullptr;     ///< the one that ran last, where something may be kept back
    std::unique_ptr<Background> background;
    Tick owed = 0;  ///< for which somebody waited in batches
};

}  // namespace cachetally

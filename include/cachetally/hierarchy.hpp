// SPDX-License-Identifier: BSD-3-Clause
// A machine's memory hierarchy, elaborated from its topology and ready to take references.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cachetally/counts.hpp"
#include "cachetally/execution_plan.hpp"
#include "cachetally/listener.hpp"
#include "cachetally/reference.hpp"
#include "cachetally/sites.hpp"
#include "cachetally/topology.hpp"

namespace cachetally {

class MemoryDevice;

/// How far a stretch of references was made.
struct Progress {
    std::size_t done = 0;  ///< references made
    Tick time = 0;         ///< when the last of them was complete
};

class Hierarchy {
public:
    explicit Hierarchy(const Topology& topology);
    ~Hierarchy();
    Hierarchy(Hierarchy&&) noexcept;
    Hierarchy& operator=(Hierarchy&&) noexcept;

    unsigned cores() const;

    /// Of its machine (reference_at_most()).
    Tick reference_at_most() const;

    /// True where nobody ever waits for somebody else: no reference takes longer than reference_at_most().
    bool only_latencies();

    /// Number of copies of a link (LinkInfo).
    unsigned copies(std::size_t link) const;

    /// Puts a listener on one copy of a link. The listener must live as long as the hierarchy is used. Call before the
    /// first access.
    void listen(std::size_t link, unsigned copy, LinkListener& listener);

    /// Must live as long as the hierarchy is used. Call before the first access.
    void listen(ReferenceListener& listener);

    /// From now on the accesses of a memory (by its number in the machine description) are made by `device`, which must
    /// live as long as the hierarchy is used; null: by the hierarchy's own. Call before the first access.
    void lead_out(std::size_t memory, MemoryDevice* device);

    /// What the sites of references stand for: prefetchers tell program counters apart, and not objects. The table must
    /// live as long as the hierarchy is used. Call before the first access.
    void know_sites(const SiteTable* sites);

    /// Makes one reference of a core at `now`; returns when it is complete.
    Tick access(unsigned core, const Reference& reference, Tick now);

    /// Makes references in order, each when the one before it is complete, while the time is less than `until`. At most
    /// 2^32 - 1 references at once.
    Progress run(unsigned core, std::span<const Reference> references, Tick now, Tick until);

    /// Makes the references of blocks that were filtered as plan() has it for the core, unless its references are made
    /// one by one. Returns when the last is complete. Between these and others of the same core, what filtered them
    /// must have seen all. Throws std::logic_error if they are.
    Tick run_filtered(unsigned core, std::span<const FilteredBlock> blocks, Tick now);

    /// From now on run() may leave the levels below the first and the listeners to a thread of its own, where no time
    /// is looked at: Progress::time then lacks what only complete() knows, and what listeners and counts() say is valid
    /// after it.
    void work_in_background();

    /// Finishes what a core's run() has left undone at `now`; returns the time that this takes the core in addition.
    /// To be called before the results of a listener are used; all other members see to it themselves.
    Tick complete(unsigned core, Tick now);

    /// No way that is faster is taken from now on; to the last count all are the same. To be called before the first
    /// reference.
    void limit_execution(Execution fastest);

    /// How references are carried out. Not to be called before all listeners are attached.
    const ExecutionPlan& plan();

    /// Notifies the listeners of a control of the program that `core` made; returns the time that they make the core
    /// lose. Functions concern the links that serve the core, all else concerns all links.
    Tick control(const Control& control, unsigned core, Tick time);

    HierarchyCounts counts() const;

    /// Equal digests before two stretches of equal references mean that these are answered alike, where no prefetcher
    /// remembers more and all pages are mapped already.
    std::uint64_t digest() const;

    /// The memory that a physical address is at home in, and the first address behind it that may be at home elsewhere
    /// (0: none is), where memories belong to nodes (docs/numa.md). By first touch this is a touch by `core`.
    std::size_t home(unsigned core, Address physical);
    Address end_of_home(Address physical) const;

    /// The virtual address that a physical one was mapped from (itself where nothing is translated).
    Address virtual_address(Address physical) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace cachetally

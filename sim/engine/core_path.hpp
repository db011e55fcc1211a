// SPDX-License-Identifier: BSD-3-Clause
// CorePath: the way of one core's data references or instruction fetches into the hierarchy.
#pragma once

#include <span>

#include "cachetally/hierarchy.hpp"
#include "cachetally/reference.hpp"
#include "sim/engine/core_port.hpp"
#include "sim/model/cache/cache.hpp"
#include "sim/model/link/request_port.hpp"
#include "sim/model/tlb/page_table.hpp"
#include "sim/model/tlb/tlb.hpp"

namespace cachetally {

class CorePath {
public:
    /// `link` leads to the first cache or the memory; `tlb` and its link may be absent (null).
    CorePath(unsigned core, RequestPort& link, Tlb* tlb, RequestPort* tlb_link, PageTable& pages);

    const RequestPort& link() const { return link_; }
    const Tlb* tlb() const { return tlb_; }

    /// Kinds of references that go this way, or-ed 1 << ReferenceKind.
    void take(ReferenceKind kind);
    bool takes(ReferenceKind kind) const { return (kinds_ >> static_cast<unsigned>(kind) & 1U) != 0; }

    std::uint32_t line_bytes() const { return static_cast<std::uint32_t>(line_bytes_); }
    Cache* cache() const { return cache_; }
    CorePort port() const { return {&link_, tlb_, tlb_link_}; }
    bool has(const RequestPort& link) const { return &link == &link_ || &link == tlb_link_; }

    /// To be called when all listeners are attached. Events may be merged within blocks of `block_bytes`, the longest
    /// line of the paths that share a link with this one. `timed`: links or memories are busy for a time with what they
    /// carry.
    void prepare(std::uint32_t block_bytes, bool timed);

    /// Makes references in order while they go this way and the time is less than `until`, up to one after which
    /// something is pending. Between the lines of a reference that straddles them, this is carried out.
    Progress run(std::span<const Reference> references, Tick now, Tick until, Injections& injections);

private:
    /// How listeners are notified of events on the core's links.
    enum class Watch : std::uint8_t { nobody, merged, each };
    class EventRun;

    template <class Translation>
    Progress run_translated(Translation translation, std::span<const Reference> references, Tick now, Tick until,
                            Injections& injections);
    template <class Translation, class Sets>
    Progress run_watched(Translation translation, Sets set_of, std::span<const Reference> references, Tick now,
                         Tick until, Injections& injections);
    template <bool watched, class Translation, class Sets>
    Progress run_on(Translation translation, Sets set_of, std::span<const Reference> references, Tick now, Tick until,
                    Injections& injections);
    const Reference* stop_at(const Reference* next, const Reference* end, Tick now, Tick until) const;
    Progress run_steps(std::span<const Reference> references, Tick now, Tick until, Injections& injections);
    Tick access_lines(const Reference& reference, Tick time, Injections& between);
    Tick access_line(Address address, EventKind kind, std::uint32_t site, Tick time);
    void notify(const LinkEvent& event, Address virtual_address);

    RequestPort& link_;
    Tlb* tlb_;
    RequestPort* tlb_link_;
    PageTable& pages_;
    Cache* cache_;
    std::uint64_t line_bytes_;
    Tick quick_latency_ = 0;  ///< of an access that hits in the first TLB and cache
    unsigned kinds_ = 0;
    unsigned plain_kinds_ = 0;  ///< those whose hits have no consequence beyond the set
    std::uint8_t core_;
    bool quick_ = false;  ///< accesses that change nothing may be recognised
    bool virtually_indexed_ = false;
    Watch watch_ = Watch::nobody;
};

}  // namespace cachetally

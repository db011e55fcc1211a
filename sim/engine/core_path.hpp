// CorePath: the way of one core's data references or instruction fetches into the hierarchy.
#pragma once

#include <span>

#include "sim/engine/hierarchy.hpp"
#include "sim/model/cache.hpp"
#include "sim/model/downlink.hpp"
#include "sim/model/page_table.hpp"
#include "sim/model/reference.hpp"
#include "sim/model/tlb.hpp"

namespace cachetally {

class CorePath {
public:
    /// `link` leads to the first cache or the memory; `tlb` and its link may be absent (null).
    CorePath(unsigned core, Downlink& link, Tlb* tlb, Downlink* tlb_link, PageTable& pages);

    const Downlink& link() const { return link_; }
    const Tlb* tlb() const { return tlb_; }

    /// Kinds of references that go this way, or-ed 1 << ReferenceKind.
    void take(ReferenceKind kind);
    bool takes(ReferenceKind kind) const { return (kinds_ >> static_cast<unsigned>(kind) & 1U) != 0; }

    std::uint32_t line_bytes() const { return static_cast<std::uint32_t>(line_bytes_); }

    /// To be called when all listeners are attached. Events may be merged within blocks of `block_bytes`, the longest
    /// line of the paths that share a link with this one. `timeless`: no listener anywhere looks at the time or sends
    /// anything into caches.
    void settle(std::uint32_t block_bytes, bool timeless);

    /// Declares that page walks do not enter the hierarchy below the first cache of this path.
    void walks_enter_here() { walks_enter_here_ = true; }

    /// True when requests of the first cache may be posted while no other core runs.
    bool posts() const { return posts_; }

    /// Makes references in order while they go this way, the time is less than `until` and nothing is `pending`.
    Progress run(std::span<const Reference> references, Tick now, Tick until, const bool& pending);

    /// The same without regard to time, level by level: where posts(). Nobody else may use the hierarchy meanwhile.
    Progress run_posting(std::span<const Reference> references, Tick now);

private:
    /// How listeners are told of events on the core's links.
    enum class Watch : std::uint8_t { nobody, merged, each };
    class EventRun;
    class EventRuns;

    static constexpr std::ptrdiff_t most_ahead = 512;  ///< references that are translated before they are made

    template <class Translation>
    Progress run_translated(Translation translation, std::span<const Reference> references, Tick now, Tick until,
                            const bool& pending);
    template <class Array, class Translation, class Sets>
    Progress run_watched(Array& array, Translation translation, Sets set_of, std::span<const Reference> references,
                         Tick now, Tick until, const bool& pending);
    template <bool watched, class Array, class Translation, class Sets>
    Progress run_on(Array& array, Translation translation, Sets set_of, std::span<const Reference> references, Tick now,
                    Tick until, const bool& pending);
    const Reference* stop_at(const Reference* next, const Reference* end, Tick now, Tick until) const;
    Progress run_steps(std::span<const Reference> references, Tick now, Tick until, const bool& pending);
    bool chain_takes_posts() const;
    template <class Lookup, class Sets>
    Progress post_translated(Lookup lookup, Sets set_of, std::span<const Reference> references, Tick now);
    template <bool watched, class Lookup, class Translation, class Sets>
    Progress post_on(Lookup lookup, Translation translation, Sets set_of, std::span<const Reference> references,
                     Tick now);
    template <bool watched, class Lookup, class TlbLookup, class Sets>
    Progress post_by_tlb(Lookup lookup, TlbLookup tlb_lookup, Sets set_of, std::span<const Reference> references,
                         Tick now);
    template <class TlbLookup>
    const Reference* translate_ahead(TlbLookup lookup, const Reference* next, const Reference* end,
                                     std::span<Address, most_ahead> physical_of);
    template <bool watched, class Lookup, class Translation, class Sets>
    const Reference* post_stretch(Lookup lookup, Translation translation, Sets set_of, const Reference* next,
                                  const Reference* end, Tick now, EventRuns& events);
    void post(bool on);
    Tick access_lines(const Reference& reference, Tick time);
    Tick access_line(Address address, EventKind kind, std::uint32_t site, Tick time);
    void tell(const LinkEvent& event, Address virtual_address);
    void tell(std::span<LinkEvent> events, std::span<const Address> virtual_addresses);

    Downlink& link_;
    Tlb* tlb_;
    Downlink* tlb_link_;
    PageTable& pages_;
    Cache* cache_;
    std::uint64_t line_bytes_;
    Tick quick_latency_ = 0;  ///< of an access that hits in the first TLB and cache
    unsigned kinds_ = 0;
    unsigned plain_kinds_ = 0;  ///< those whose hits have no consequence beyond the set
    std::uint8_t core_;
    bool quick_ = false;  ///< accesses that change nothing may be recognised
    bool virtually_indexed_ = false;
    bool walks_enter_here_ = false;
    bool posts_ = false;
    Watch watch_ = Watch::nobody;
};

}  // namespace cachetally

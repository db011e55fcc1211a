// CorePath: the way of one core's data references or instruction fetches into the hierarchy.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "sim/model/cache.hpp"
#include "sim/model/downlink.hpp"
#include "sim/model/page_table.hpp"
#include "sim/model/reference.hpp"
#include "sim/model/tlb.hpp"

namespace cachetally {

constexpr EventKind event_kind(ReferenceKind kind) { return static_cast<EventKind>(kind); }

class CorePath {
public:
    /// `link` leads to the first cache or the memory; `tlb` and its link may be absent (null).
    CorePath(unsigned core, Downlink& link, Tlb* tlb, Downlink* tlb_link, PageTable& pages);

    /// A path that shares its first cache or TLB with this one.
    void add_sibling(CorePath& other) { siblings_.push_back(&other); }
    LastAccess& last_access() { return last_; }
    Tlb* tlb() const { return tlb_; }
    Downlink& link() const { return link_; }

    /// To be called when all listeners are attached.
    void settle();

    /// One reference; split where it straddles lines.
    Tick access(const Reference& reference, Tick time);

    /// How many of the references, from the first, repeat the last access; makes these, at most `limit`, and adds to
    /// `time`.
    std::size_t repeat(std::span<const Reference> references, std::size_t limit, Tick& time);

    /// True where nothing but counts comes of a repetition, so that it need not be made singly.
    bool repeats(const Reference& reference) const {
        const std::uint64_t offset = reference.address - last_.line;
        return offset < line_bytes_ && offset + reference.size <= line_bytes_ &&
               (reference.kind != ReferenceKind::store || last_.store_repeats);
    }

    Tick repeat_latency() const { return repeat_latency_; }

private:
    Tick access_line(Address address, EventKind kind, std::uint32_t site, Tick time);
    void remember(Address address, Address physical, EventKind kind, bool hit);
    void tell_repeats(const Reference& first, const std::array<std::uint32_t, 3>& counts, Tick time);

    Downlink& link_;
    Tlb* tlb_;
    Downlink* tlb_link_;
    PageTable& pages_;
    LastAccess last_;
    std::uint64_t line_bytes_;
    Tick repeat_latency_ = 0;
    std::uint8_t core_;
    bool remembers_ = false;  ///< repetitions may be recognised at all
    bool watched_ = false;    ///< somebody listens on the link or the TLB link
    std::vector<CorePath*> siblings_;
};

}  // namespace cachetally

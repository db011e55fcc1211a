// SPDX-License-Identifier: BSD-3-Clause
// CorePath: the way of one core's data references or instruction fetches into the hierarchy.
#pragma once

#include <array>
#include <span>
#include <utility>

#include "sim/engine/hierarchy.hpp"
#include "sim/model/cache.hpp"
#include "sim/model/downlink.hpp"
#include "sim/model/page_table.hpp"
#include "sim/model/reference.hpp"
#include "sim/model/sieve.hpp"
#include "sim/model/stretch.hpp"
#include "sim/model/tlb.hpp"

namespace cachetally {

class Background;

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
    /// line of the paths that share a link with this one. `timed`: links or memories are busy for a time with what they
    /// carry; `all_merge`: all listeners anywhere accept merged events.
    void settle(std::uint32_t block_bytes, bool timed, bool all_merge);

    /// Declares that page walks do not enter the hierarchy below the first cache of this path.
    void walks_enter_here() { walks_enter_here_ = true; }

    /// True when requests of the first cache may be posted while no other core runs.
    bool posts() const { return posts_; }

    /// Makes references in order while they go this way and the time is less than `until`, up to one after which
    /// something is pending. Between the lines of a reference that straddles them, this is carried out.
    Progress run(std::span<const Reference> references, Tick now, Tick until, Injections& injections);

    /// The same without regard to time, where posts(): what goes below the first level is posted and, but for the last
    /// posts, handed over. Nobody else may use the hierarchy before hand_over(), nor, where there is
    /// a `background`, before its completion. Between post(true) and post(false). `stretches`: all those of the
    /// references by lines_wished(), or none; or, without references, sieved ones, where sieves(). Time does not tell
    /// for what somebody waits below the first level.
    Progress run_posting(std::span<const Reference> references, std::span<const Stretch> stretches, Tick now,
                         Background* background);

    /// What is posted goes to the levels below, now or in the background.
    void hand_over(Background* background);

    /// Whether what the caches ask for below them is posted.
    void post(bool on);

    /// The time for which somebody waited in what was handed over and done at once, since the last call.
    Tick waited() { return std::exchange(waited_, 0); }

    LineWish lines_wished() const { return {static_cast<std::uint32_t>(line_bytes_), plain_kinds_, sieves_}; }

    /// True when settled references (Sieve) of sieved stretches need not be made.
    bool sieves() const { return sieves_; }

private:
    /// How listeners are told of events on the core's links.
    enum class Watch : std::uint8_t { nobody, merged, each };
    class EventRun;

    template <class Translation>
    Progress run_translated(Translation translation, std::span<const Reference> references, Tick now, Tick until,
                            Injections& injections);
    template <class Array, class Translation, class Sets>
    Progress run_watched(Array& array, Translation translation, Sets set_of, std::span<const Reference> references,
                         Tick now, Tick until, Injections& injections);
    template <bool watched, class Array, class Translation, class Sets>
    Progress run_on(Array& array, Translation translation, Sets set_of, std::span<const Reference> references, Tick now,
                    Tick until, Injections& injections);
    const Reference* stop_at(const Reference* next, const Reference* end, Tick now, Tick until) const;
    Progress run_steps(std::span<const Reference> references, Tick now, Tick until, Injections& injections);
    bool chain_takes_posts() const;
    struct Work;
    template <class Lookup, class Sets>
    Progress post_translated(Lookup lookup, Sets set_of, const Work& work);
    template <class Lookup, class Sets, class Translation>
    Progress post_by(Lookup lookup, Sets set_of, Translation translation, const Work& work);
    template <class Lookup, class Sets, class Translation>
    class Poster;
    bool fits_sieve() const;
    Tick access_kept(BlockEvent line, Tick now);
    Tick access_straddling(const Reference& reference, Tick now);
    bool is_unsettled(unsigned slot) const { return (unsettled_ >> slot & 1) != 0; }
    void unsettle(unsigned slot, Entry front);
    void settle_slot(unsigned slot) { unsettled_ &= ~(std::uint64_t{1} << slot); }
    Tick access_lines(const Reference& reference, Tick time, Injections* between = nullptr);
    Tick access_line(Address address, EventKind kind, std::uint32_t site, Tick time);
    void tell(const LinkEvent& event, Address virtual_address);

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
    bool posts_ = false, sieves_ = false;
    std::uint64_t unsettled_ = 0;  ///< by slot of lines: something else came into the set of the settled line
    std::array<Entry, Sieve::lines> settled_{};  ///< those, as the front had them
    Tick waited_ = 0;
    Background* background_ = nullptr;  ///< while run_posting() runs
    Watch watch_ = Watch::nobody;
};

}  // namespace cachetally

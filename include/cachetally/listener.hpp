// SPDX-License-Identifier: BSD-3-Clause
// Links between components and the one small interface by which monitors and other listeners watch them.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cachetally/event.hpp"
#include "cachetally/filtered.hpp"
#include "cachetally/reference_source.hpp"
#include "cachetally/types.hpp"

namespace cachetally {

/// What a listener sends back: writes into the watched hierarchy, and time that the watched core loses. There is one
/// per copy of a link; the hierarchy carries out what it holds when the access to the line that caused it is complete.
class Injector {
public:
    struct Write {
        Address address = 0;  ///< physical
        std::uint32_t bytes = 0;
        bool bypass = false;  ///< straight to memory, past all caches; else into the component below the link
    };

    /// `pending`, where given, is set to true by whatever is sent.
    explicit Injector(bool* pending = nullptr) : pending_(pending) {}

    void write(Write write) {
        sent_.writes.push_back(write);
        announce();
    }
    /// So many records that bypass caches, of which nobody needs to know more.
    void write_past(std::uint64_t records) {
        sent_.past += records;
        announce();
    }
    void stall(Tick duration) {
        sent_.stall = time_sum(sent_.stall, duration);
        announce();
    }

    bool empty() const { return sent_.writes.empty() && sent_.past == 0 && sent_.stall == 0; }
    const std::vector<Write>& writes() const { return sent_.writes; }
    Tick stall() const { return sent_.stall; }

    struct Sent {
        std::vector<Write> writes;
        std::uint64_t past = 0;  ///< records by write_past()
        Tick stall = 0;
    };

    /// Hands over what was sent and forgets it.
    Sent take() { return std::exchange(sent_, {}); }

private:
    void announce() {
        if (pending_ != nullptr) *pending_ = true;
    }

    Sent sent_;
    bool* pending_;
};

/// Whether what happens is counted (Control::Kind::count_off), for listeners of which monitors' switch is not.
class Counting {
public:
    void follow(const Control& control) {
        if (control.kind == Control::Kind::count_off) is_on_ = false;
        if (control.kind == Control::Kind::count_on) is_on_ = true;
    }
    bool is_on() const { return is_on_; }

private:
    bool is_on_ = true;
};

/// Watches one link: what an author of a listener provides. Called by one thread at a time. One that counts by phase
/// begins with PhasedListener (monitor/control.hpp).
class LinkListener {
public:
    virtual ~LinkListener() = default;

    /// The kinds of events it wants, or-ed bit(EventKind); others are not delivered. Asked once, when attached.
    virtual std::uint32_t kinds() const = 0;

    /// True when consecutive events of a kind within one aligned block of `line_bytes` may come as one with count = n,
    /// at the address of the block: it does not distinguish addresses within the block, does not look at times or
    /// sites, and sends nothing into caches. Runs are much faster then. Asked once, when attached.
    virtual bool accepts_merged(std::uint32_t /*line_bytes*/) const { return false; }

    /// True when it looks neither at times nor at addresses within a line, and sends nothing, so that on a link that is
    /// not next to a core it may be notified of each event by itself at any time, before or after those of other
    /// links. Runs are faster then. Asked once, when attached.
    virtual bool accepts_untimed() const { return false; }

    virtual void on_event(const LinkEvent& event, Injector& injector) = 0;

    /// A control of the program at `time`: a barrier once for all cores; functions only from the cores behind the link.
    virtual void on_control(const Control& /*control*/, Tick /*time*/, Injector& /*injector*/) {}
};

/// Sees a hierarchy's references as they are made, before anything is made of them: cheaper than the links of cores.
class ReferenceListener {
public:
    virtual ~ReferenceListener() = default;
    /// Of a core, in order.
    virtual void on_references(unsigned core, std::span<const Reference> references) = 0;
    /// The same where references are filtered: the site of each access of a first level, one for each line that a
    /// reference touches; data and fetches may come apart.
    virtual void on_accesses(unsigned core, std::span<const std::uint32_t> sites) = 0;

    /// True where it wants each reference by itself, before and after it is made, between the events on links that it
    /// causes; runs are slower then. Asked once, when attached.
    virtual bool one_by_one() const { return false; }
    virtual void before(unsigned /*core*/, const Reference&) {}
    /// `taken`: until it was complete.
    virtual void after(unsigned /*core*/, const Reference&, Tick /*taken*/) {}
    /// As LinkListener's; a barrier once for all cores.
    virtual void on_control(const Control& control) = 0;
};

/// Calls on_event() for each run of equal events.
void in_runs(LinkListener& listener, std::span<const BlockEvent> events, std::uint8_t core, Injector& injector);

/// A listener whose own speed matters, or which has records sent: it takes many events at a time, where
/// accepts_merged().
class BatchListener : public LinkListener {
public:
    /// Events in order, by one core and of kinds() only. Records which go past all caches may be sent as a number.
    virtual void on_blocks(std::span<const BlockEvent> events, std::uint8_t core, Injector& injector) {
        in_runs(*this, events, core, injector);
    }

    /// Whether it has records sent. Where these take time, on links or in memory, it is notified of events one by one,
    /// when they happen, accepts_merged() or not. Asked once, when attached.
    virtual bool sends() const { return false; }

    /// Whether it takes on_filtered(). Asked once, when attached.
    virtual bool takes_filtered() const { return false; }

    /// Loads, stores and fetches in order, filtered: a redundant one is of the line that the last retained one of its
    /// slot (FilterShape::slot_of()) was for, in this call or an earlier one. Where kinds() has all of data's.
    virtual void on_filtered(const FilteredEvents&, std::uint8_t, Injector&) {}
};

}  // namespace cachetally

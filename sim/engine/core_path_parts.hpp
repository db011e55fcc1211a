// What the loops over references have in common. Internal to CorePath.
#pragma once

#include "sim/engine/core_path.hpp"

namespace cachetally {

constexpr EventKind event_kind(ReferenceKind kind) { return static_cast<EventKind>(kind); }

/// Events on a core's links that are alike and follow each other, kept back to be told as one.
class CorePath::EventRun {
public:
    explicit EventRun(CorePath& path) : path_(path) {}

    void add(const Reference& reference, Address physical, Tick time) {
        const EventKind kind = event_kind(reference.kind);
        const Address line = align_down(physical, path_.line_bytes_);
        if (path_.watch_ == Watch::merged && run_.count != 0 && kind == run_.kind && line == line_) {
            ++run_.count;
            return;
        }
        flush();
        run_ = {physical, 1, reference.site, kind, path_.core_, time};
        virtual_address_ = reference.address;
        line_ = line;
        if (path_.watch_ == Watch::each) flush();
    }

    void flush() {
        if (run_.count == 0) return;
        path_.tell(run_, virtual_address_);
        run_.count = 0;
    }

private:
    CorePath& path_;
    LinkEvent run_{.count = 0};
    Address virtual_address_ = 0;
    Address line_ = 0;
};

/// As EventRun where events are merged and nobody looks at their time: many runs are told at once.
class CorePath::EventRuns {
public:
    explicit EventRuns(CorePath& path) : path_(path), line_mask_(~(path.line_bytes_ - 1)), core_(path.core_) {}

    void add(const Reference& reference, Address physical, Tick time) {
        const Address run = (physical & line_mask_) | static_cast<Address>(reference.kind);
        if (run == run_) {
            ++events_[size_ - 1].count;
            return;
        }
        if (size_ == most) flush();
        run_ = run;
        virtual_addresses_[size_] = reference.address;
        events_[size_++] = {physical, 1, reference.site, event_kind(reference.kind), core_, time};
    }

    void flush() {
        if (size_ == 0) return;
        path_.tell(std::span(events_.data(), size_), std::span(virtual_addresses_.data(), size_));
        size_ = 0;
        run_ = none;
    }

private:
    static constexpr std::size_t most = 128;
    static constexpr Address none = ~Address{0};

    CorePath& path_;
    Address line_mask_;
    std::uint8_t core_;
    Address run_ = none;  ///< line and kind
    std::size_t size_ = 0;
    std::array<LinkEvent, most> events_;
    std::array<Address, most> virtual_addresses_;
};

/// How the loop over references finds physical addresses without changing anything; false where that cannot be.
struct SameAddress {
    bool operator()(Address address, Address& physical) const {
        physical = address;
        return true;
    }
};
struct ByTable {
    PageTable& pages;
    bool operator()(Address address, Address& physical) const { return pages.knows(address, physical); }
};
struct ByFront {
    Tlb::Front front;
    bool operator()(Address address, Address& physical) const { return front.changes_nothing(address, physical); }
};

/// Which set of the first cache a reference belongs to.
template <class Index>
struct SetOf {
    Index index;
    bool by_virtual;
    std::uint64_t operator()(Address address, Address physical) const {
        return index.set_of(by_virtual ? address : physical);
    }
};
template <>
struct SetOf<IndexingPolicy::Field> {
    IndexingPolicy::Field index;
    std::uint64_t operator()(Address, Address physical) const { return index.set_of(physical); }
};

}  // namespace cachetally

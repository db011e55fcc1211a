// SPDX-License-Identifier: BSD-3-Clause
// What the loops over references have in common. Internal to CorePath.
#pragma once

#include "sim/engine/core_path.hpp"

namespace cachetally {

constexpr EventKind event_kind(ReferenceKind kind) { return static_cast<EventKind>(kind); }

/// Events on a core's links that are alike and follow each other, held back to be reported as one.
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
        path_.notify(run_, virtual_address_);
        run_.count = 0;
    }

private:
    CorePath& path_;
    LinkEvent run_{.count = 0};
    Address virtual_address_ = 0;
    Address line_ = 0;
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
    bool operator()(Address address, Address& physical) const {
        const Tlb::LastPage& last = front.last(address);
        physical = address + last.offset;
        return front.changes_nothing(last, address);
    }
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

// FullLru: the lines of a fully associative cache that replaces the least recently used.
#pragma once

#include <list>
#include <unordered_map>

#include "sim/model/types.hpp"

namespace cachetally {

class FullLru {
public:
    explicit FullLru(std::uint64_t lines) : most_(lines) {}

    bool holds(Address line) const { return places_.contains(line); }

    /// A use, if the line is here.
    void use(Address line) {
        const auto found = places_.find(line);
        if (found != places_.end()) order_.splice(order_.begin(), order_, found->second);
    }

    /// A use, of a line that comes if it is not here.
    void insert(Address line) {
        if (holds(line)) return use(line);
        if (order_.size() == most_) {
            places_.erase(order_.back());
            order_.pop_back();
        }
        order_.push_front(line);
        places_.emplace(line, order_.begin());
    }

    void remove(Address line) {
        const auto found = places_.find(line);
        if (found == places_.end()) return;
        order_.erase(found->second);
        places_.erase(found);
    }

private:
    std::uint64_t most_;
    std::list<Address> order_;  ///< used last first
    std::unordered_map<Address, std::list<Address>::iterator> places_;
};

}  // namespace cachetally

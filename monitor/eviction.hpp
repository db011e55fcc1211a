// EvictionPolicy: which place of a set of counters is given up. Each policy is told of allocations and uses and asked
// for a victim.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/model/random.hpp"

namespace cachetally {

/// Places 0 .. ways - 1 of each set are filled in order; a victim is asked for when all are taken. `counts` are the
/// counters by place. reset() forgets everything but the state of generators.

class FifoEviction {
public:
    FifoEviction(std::uint32_t sets, std::uint32_t ways, std::uint64_t) : ways_(ways), next_(sets, 0) {}
    void allocated(std::uint32_t, std::uint32_t) {}
    void used(std::uint32_t, std::uint32_t) {}
    std::uint32_t victim(std::uint32_t set, const std::uint64_t*) {
        const std::uint32_t place = next_[set];
        next_[set] = place + 1 == ways_ ? 0 : place + 1;
        return place;
    }
    void reset() { next_.assign(next_.size(), 0); }

private:
    std::uint32_t ways_;
    std::vector<std::uint32_t> next_;
};

/// Uses are appended to a log; the victim is the first entry of the log that is still its place's last use. The log is
/// cleaned of outdated entries when it has grown to a multiple of the places: constant time on average, no list to
/// relink.
class LruEviction {
public:
    LruEviction(std::uint32_t sets, std::uint32_t ways, std::uint64_t)
        : ways_(ways), stamps_(std::size_t{sets} * ways, 0), logs_(sets) {}
    void allocated(std::uint32_t set, std::uint32_t place) { used(set, place); }
    void used(std::uint32_t set, std::uint32_t place) {
        stamps_[std::size_t{set} * ways_ + place] = ++now_;
        Log& log = logs_[set];
        if (log.uses.size() >= std::size_t{8} * ways_ + 64) clean(set);
        log.uses.push_back({now_, place});
    }
    std::uint32_t victim(std::uint32_t set, const std::uint64_t*) {
        Log& log = logs_[set];
        while (!is_current(set, log.uses[log.first])) ++log.first;
        return log.uses[log.first++].place;
    }
    void reset() {
        for (Log& log : logs_) log = {};
        stamps_.assign(stamps_.size(), 0);
    }

private:
    struct Use {
        std::uint64_t stamp;
        std::uint32_t place;
    };
    struct Log {
        std::vector<Use> uses;
        std::size_t first = 0;
    };
    bool is_current(std::uint32_t set, const Use& use) const {
        return stamps_[std::size_t{set} * ways_ + use.place] == use.stamp;
    }
    void clean(std::uint32_t set) {
        Log& log = logs_[set];
        std::size_t kept = 0;
        for (std::size_t i = log.first; i < log.uses.size(); ++i)
            if (is_current(set, log.uses[i])) log.uses[kept++] = log.uses[i];
        log.uses.resize(kept);
        log.first = 0;
    }

    std::uint32_t ways_;
    std::uint64_t now_ = 0;
    std::vector<std::uint64_t> stamps_;
    std::vector<Log> logs_;
};

class RandomEviction {
public:
    RandomEviction(std::uint32_t, std::uint32_t ways, std::uint64_t seed) : ways_(ways), random_(seed) {}
    void allocated(std::uint32_t, std::uint32_t) {}
    void used(std::uint32_t, std::uint32_t) {}
    std::uint32_t victim(std::uint32_t, const std::uint64_t*) {
        return static_cast<std::uint32_t>(random_.below(ways_));
    }
    void reset() {}

private:
    std::uint32_t ways_;
    Random random_;
};

class ClockEviction {
public:
    ClockEviction(std::uint32_t sets, std::uint32_t ways, std::uint64_t)
        : ways_(ways), hands_(sets, 0), used_(std::size_t{sets} * ways, false) {}
    void allocated(std::uint32_t set, std::uint32_t place) { used(set, place); }
    void used(std::uint32_t set, std::uint32_t place) { used_[std::size_t{set} * ways_ + place] = true; }
    std::uint32_t victim(std::uint32_t set, const std::uint64_t*) {
        for (std::uint32_t& hand = hands_[set];; hand = next(hand)) {
            auto bit = used_[std::size_t{set} * ways_ + hand];
            if (!bit) {
                const std::uint32_t place = hand;
                hand = next(hand);
                return place;
            }
            bit = false;
        }
    }
    void reset() {
        hands_.assign(hands_.size(), 0);
        used_.assign(used_.size(), false);
    }

private:
    std::uint32_t next(std::uint32_t hand) const { return hand + 1 == ways_ ? 0 : hand + 1; }

    std::uint32_t ways_;
    std::vector<std::uint32_t> hands_;
    std::vector<bool> used_;
};

class LfuEviction {
public:
    LfuEviction(std::uint32_t sets, std::uint32_t ways, std::uint64_t)
        : ways_(ways), allocated_(std::size_t{sets} * ways, 0) {}
    void allocated(std::uint32_t set, std::uint32_t place) { allocated_[std::size_t{set} * ways_ + place] = ++now_; }
    void used(std::uint32_t, std::uint32_t) {}
    std::uint32_t victim(std::uint32_t set, const std::uint64_t* counts) {
        const std::uint64_t* allocated = &allocated_[std::size_t{set} * ways_];
        std::uint32_t least = 0;
        for (std::uint32_t place = 1; place < ways_; ++place)
            if (counts[place] < counts[least] ||
                (counts[place] == counts[least] && allocated[place] < allocated[least]))
                least = place;
        return least;
    }
    void reset() {}

private:
    std::uint32_t ways_;
    std::uint64_t now_ = 0;
    std::vector<std::uint64_t> allocated_;
};

}  // namespace cachetally

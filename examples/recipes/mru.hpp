// SPDX-License-Identifier: BSD-3-Clause
// A replacement policy: mru replaces the line that was used last. Belongs into sim/model/replacement/; its row is
// ROW(mru, Mru).
#pragma once

#include <vector>

#include "sim/model/replacement/policy.hpp"

namespace cachetally {

class Mru {
public:
    static constexpr Repetition repetition{};  // used() twice is used() once
    Mru(std::uint64_t sets, unsigned /*ways*/, std::uint64_t /*seed*/) : last_(sets, 0) {}
    void used(std::uint64_t set, unsigned way) { last_[set] = way; }
    void inserted(std::uint64_t set, unsigned way) { last_[set] = way; }
    unsigned victim(std::uint64_t set) { return last_[set]; }
    std::uint64_t digest(std::uint64_t set) const { return last_[set]; }

private:
    std::vector<unsigned> last_;
};

}  // namespace cachetally

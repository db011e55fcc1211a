// SPDX-License-Identifier: BSD-3-Clause
// random: a way drawn by a seeded generator.
#pragma once

#include "base/random.hpp"
#include "sim/model/replacement/policy.hpp"

namespace cachetally {

/// random: no state but the generator.
class RandomReplacement {
public:
    static constexpr Repetition repetition{};
    RandomReplacement(std::uint64_t, unsigned ways, std::uint64_t seed) : ways_(ways), random_(seed) {}
    void used(std::uint64_t, unsigned) {}
    void inserted(std::uint64_t, unsigned) {}
    unsigned victim(std::uint64_t) { return static_cast<unsigned>(random_.below(ways_)); }
    std::uint64_t digest(std::uint64_t) const { return random_.state(); }

private:
    unsigned ways_;
    Random random_;
};

}  // namespace cachetally

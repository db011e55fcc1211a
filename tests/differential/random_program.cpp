// SPDX-License-Identifier: BSD-3-Clause
// Random programs: bursts, expanded by a generator of fixed algorithm.
#include "tests/differential/random_program.hpp"

#include <array>
#include <sstream>

#include "tests/differential/slow_set.hpp"

namespace cachetally::differential {
namespace {

/// In ranges of several page sizes, and one that is not aligned to anything large.
constexpr std::array<Address, 6> bases{0x1000, 0x0, 0x40000000, 0x100000ff8, 0x7ffff3c0, 0x7fff00000fc0};

ReferenceKind kind_of(unsigned mix, std::uint64_t draw) {
    switch (mix % 5) {
        case 0: return ReferenceKind::load;
        case 1: return draw % 2 == 0 ? ReferenceKind::load : ReferenceKind::store;
        case 2: return ReferenceKind::store;
        case 3: return ReferenceKind::fetch;
        default: return static_cast<ReferenceKind>(draw % 3);
    }
}

Address offset_of(const Burst& burst, unsigned i, SlowRandom& random, std::uint64_t way_bytes) {
    switch (burst.pattern) {
        case 0: return random.draw(8) * 64 + random.draw(64);
        case 1: return std::uint64_t{i} * burst.stride;
        case 2: return random.draw(7) * way_bytes + random.draw(2) * 8;
        case 3: return (random.draw(6) + 1) * 64 - 1 - random.draw(8);
        case 4: return random.draw(12) * 4096 + random.draw(3) * 64;
        case 5: return random.draw(32);
        case 6: return std::uint64_t{burst.count - i} * burst.stride;
        default: return random.draw(2048);
    }
}

}  // namespace

std::string to_text(const Burst& burst) {
    std::ostringstream text;
    text << "burst: pattern " << burst.pattern << " base " << burst.base << " count " << burst.count << " stride "
         << burst.stride << " seed " << burst.seed << " kinds " << burst.kinds << (burst.barrier ? " barrier" : "");
    return text.str();
}

CoreProgram expand(const std::vector<Burst>& bursts, std::uint64_t way_bytes) {
    CoreProgram program(1);
    for (const Burst& burst : bursts) {
        SlowRandom random(burst.seed);
        for (unsigned i = 0; i < burst.count; ++i) {
            Reference reference;
            reference.address = bases[burst.base % bases.size()] + offset_of(burst, i, random, way_bytes);
            reference.kind = kind_of(burst.kinds, random.draw(6));
            reference.site = burst.pattern == 1 ? burst.seed % 4 : static_cast<std::uint32_t>(random.draw(4));
            const bool large = random.draw(40) == 0;
            reference.size = static_cast<std::uint16_t>(1 + random.draw(large ? 300 : 16));
            program.back().references.push_back(reference);
        }
        if (!burst.barrier) continue;
        program.back().control = {burst.seed % 4 == 3 ? Control::Kind::meet : Control::Kind::barrier, 0};
        program.emplace_back();
    }
    return program;
}

}  // namespace cachetally::differential

// SPDX-License-Identifier: BSD-3-Clause
// The replacement policies: a row here and a file beside this one are all that a policy needs (CONTRIBUTING.md).
#pragma once

#include "cachetally/machine.hpp"
#include "sim/model/replacement/bit_plru.hpp"
#include "sim/model/replacement/drrip.hpp"
#include "sim/model/replacement/in_order.hpp"
#include "sim/model/replacement/qlru.hpp"
#include "sim/model/replacement/random.hpp"
#include "sim/model/replacement/srrip.hpp"
#include "sim/model/replacement/tree_plru.hpp"

// The name in machine files, and the class. Enumerators follow this order.
#define CACHETALLY_REPLACEMENTS(ROW)      \
    ROW(lru, Lru)                         \
    ROW(tree_plru, TreePlru)              \
    ROW(bit_plru, BitPlru)                \
    ROW(fifo, Fifo)                       \
    ROW(random, RandomReplacement)        \
    ROW(nru, Nru)                         \
    ROW(srrip, Srrip)                     \
    ROW(qlru_h11_m1_r0_u0, QlruH11M1R0U0) \
    ROW(drrip, Drrip)

/// Values of Replacement, as replacements::tree_plru.
namespace cachetally::replacements {
#define CACHETALLY_ENUMERATOR(name, ...) name,
#define CACHETALLY_VALUE(name, ...) inline constexpr Replacement name{row::name};
namespace row {
enum Number : std::uint8_t { CACHETALLY_REPLACEMENTS(CACHETALLY_ENUMERATOR) };
}
CACHETALLY_REPLACEMENTS(CACHETALLY_VALUE)
#undef CACHETALLY_ENUMERATOR
#undef CACHETALLY_VALUE
}  // namespace cachetally::replacements

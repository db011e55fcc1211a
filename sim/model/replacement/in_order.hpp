// SPDX-License-Identifier: BSD-3-Clause
// lru and fifo: the tags of a set are kept in the order of replacement (OrderedArray), which is all their state.
#pragma once

#include "sim/model/replacement/policy.hpp"

namespace cachetally {

/// The first entry is the one used last; a hit moves its line there.
struct Lru {
    static constexpr bool in_order = true;
    static constexpr Repetition repetition{};
};

/// The first entry is the one inserted last.
struct Fifo {
    static constexpr bool in_order = true;
    static constexpr Repetition repetition{};
};

}  // namespace cachetally

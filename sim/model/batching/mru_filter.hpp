// SPDX-License-Identifier: BSD-3-Clause
// MRU filter: one word per set (or slot) that finds accesses that repeat the set's latest one, and so change nothing.
#pragma once

#include "cachetally/event.hpp"

namespace cachetally {

/// Flags of a word, or-ed with the line that its set was asked for last. Chosen so that one comparison decides.
namespace mru_bit {
inline constexpr Address all = 0;       ///< any access may be repeated
inline constexpr Address no_store = 2;  ///< loads and fetches only
inline constexpr Address nothing = 4;
}  // namespace mru_bit

/// True where an access hits and, but for counts and time, changes nothing. Exact for every policy that is idle when a
/// set's latest line is used again.
inline bool mru_is_redundant(Address word, BlockEvent access) {
    // all: 0 ^ {0, 1, 2}; no_store: 2 ^ {0, 2}, but 3 for a store; nothing: at least 4; another line: at least 8.
    return (word ^ access.bits()) <= 2;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// ReplacementPolicy: what a file of this folder provides, and when which of its functions is called.
#pragma once

#include <concepts>
#include <cstdint>

#include "base/random.hpp"

namespace cachetally {

/// Whether used() for the way that its set has used last changes nothing, so that the call may be skipped.
struct Repetition {
    bool idle_after_use = true;        ///< used() after used()
    bool idle_after_insertion = true;  ///< used() after inserted()
};

/// The state of all sets of a cache or TLB, whose lines stay in their ways. docs/counting.md defines each policy.
/// Constructed with sets, ways and a seed of its own for each copy of the level; all ways are empty then.
/// - used(set, way): a hit that counts as a use. Hits that repeat the last use of the set are skipped where
///   `repetition` says that they change nothing: a policy that counts hits must deny both.
/// - inserted(set, way): a line was put into the way.
/// - victim(set): the way to be replaced; called once for each insertion into a set whose ways are all valid, or, with
///   EmptyWay::policy, for each insertion. It may change the state (the clock's hand, a draw). inserted() follows,
///   though other sets may be used between.
/// - digest(set): equal for equal states, different for different ones.
/// Lines that are invalidated are not announced: their ways are filled first, or found by victim().
template <class Policy>
concept ReplacementPolicy = std::constructible_from<Policy, std::uint64_t, unsigned, std::uint64_t> &&
    requires(Policy policy, const Policy constant, std::uint64_t set, unsigned way) {
    { Policy::repetition } -> std::convertible_to<Repetition>;
    policy.used(set, way);
    policy.inserted(set, way);
    { policy.victim(set) } -> std::same_as<unsigned>;
    { constant.digest(set) } -> std::same_as<std::uint64_t>;
};

/// A policy whose sets keep their tags in order of replacement, in an array of its own.
template <class Policy>
concept InOrderPolicy = Policy::in_order;

/// A policy whose victim() changes nothing and to which an insertion is a use: before they know of a miss, loops ask a
/// View<ways> for the victim, a copy of what they need of the policy.
template <class Policy>
concept PurePolicy = Policy::pure;

inline std::uint64_t digest_of_bytes(const std::uint8_t* bytes, unsigned count) {
    std::uint64_t digest = 0;
    for (unsigned i = 0; i < count; ++i) digest = splitmix64(digest ^ bytes[i]);
    return digest;
}

}  // namespace cachetally

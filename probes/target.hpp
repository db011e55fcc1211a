// SPDX-License-Identifier: BSD-3-Clause
// What targets have in common: the questions that every one of them refuses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cachetally/probe_target.hpp"

namespace cachetally {

/// What every target refuses, by ProbeError: pages that are not offered, and more bytes than may be had.
void check_arena(const Capabilities& capabilities, std::uint64_t bytes, std::uint64_t page);

/// Chases without loads, loads of a kind that is not offered, more chains than are offered or parts that are not equal,
/// and offsets outside of the arena.
void check_chase(const Capabilities& capabilities, const Arena& arena, const Chase& chase);

/// Sweeps where there are none, of no bytes or parts of 2048, and of more than the arena has.
void check_stream(const Capabilities& capabilities, const Arena& arena, const Streaming& stream);

/// Several chains, which every question but run() refuses.
void check_single(const Chase& chase);

/// Processors that are not offered, a single one, lines that do not move, and what check_chase() and check_single()
/// refuse.
void check_transfer(const Capabilities& capabilities, const Arena& arena, unsigned from, const ChaseOn& to);

/// Processors that are not offered, and what check_chase() and check_single() refuse.
void check_run_after(const Capabilities& capabilities, const Arena& arena, const ChaseOn& one, const ChaseOn& other);

/// The pieces of the string of `both.probe` that are used. Throws what check_chase() and check_single() throw for both
/// chases, and ProbeError where there are fewer loads than parts, or chases of different kinds.
std::vector<std::span<const std::uint64_t>> parts_of(const Capabilities& capabilities, const Arena& arena,
                                                     const PrimeProbe& both);

}  // namespace cachetally

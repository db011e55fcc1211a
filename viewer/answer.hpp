// SPDX-License-Identifier: BSD-3-Clause
// The answer that reports of a run begin with: how much a level misses, where, why and when.
#pragma once

#include <string>

#include "viewer/run_view.hpp"

namespace cachetally {

/// The level that it is about: of the caches that cores ask the one with most misses.
std::string answered_level(const RunView& view);

/// "L1 misses 5.74 % of 3,020,896 accesses; A causes 99.65 % of them, 61.82 % of those are conflicts, worst in phase
/// 4.", as far as it is known; the phases of the misses of that cause; empty where nothing was asked of the level. A
/// sentence of the page, too (viewer/web/src/answer.ts): words and numbers are the same.
std::string answer(const RunView& view, const std::string& level);

/// The same of one data structure: "L1 misses 5.74 % of 2,168,992 accesses to A, 99.65 % of all misses of L1; 61.82 %
/// of those are conflicts, worst in phase 4."
std::string answer_of_structure(const RunView& view, const std::string& level, const std::string& structure);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Instruction sets: arrays of tags are compiled for several, and use the best that the processor has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachetally {

/// Those that this processor has, best first: "avx512", "avx2", "sse4", "scalar" on x86-64, "neon" on arm64.
std::vector<std::string> instruction_sets();

/// Arrays that are made from now on use this one; empty: the best. Throws std::invalid_argument, and says what there
/// is, if the processor has no such.
void use_instruction_set(std::string_view name);

}  // namespace cachetally

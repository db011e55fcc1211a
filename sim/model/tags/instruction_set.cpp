// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/tags/instruction_set.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace cachetally {
namespace {

constexpr std::int64_t all = HWY_TARGETS;

std::string name_of(std::int64_t target) {
    if (target == HWY_AVX3) return "avx512";
    std::string name = hwy::TargetName(target);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name;
}

std::vector<std::int64_t> targets() {
    std::vector<std::int64_t> found;
    // The baseline is what every processor has; better ones have lower bits.
    for (std::int64_t left = all & (hwy::SupportedTargets() | HWY_STATIC_TARGET); left != 0; left &= left - 1)
        found.push_back(left & -left);
    return found;
}

}  // namespace

std::vector<std::string> instruction_sets() {
    std::vector<std::string> names;
    for (const std::int64_t target : targets()) names.push_back(name_of(target));
    return names;
}

void use_instruction_set(std::string_view name) {
    std::string there;
    for (const std::int64_t target : targets()) {
        if (name.empty() || name == name_of(target)) {
            hwy::GetChosenTarget().Update(target);
            return;
        }
        there += (there.empty() ? "" : ", ") + name_of(target);
    }
    throw std::invalid_argument("there is no instruction set '" + std::string(name) + "' here; there are " + there);
}

}  // namespace cachetally

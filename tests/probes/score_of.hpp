// SPDX-License-Identifier: BSD-3-Clause
// What a campaign gave for one parameter of one test.
#pragma once

#include <string>

#include "probes/validation/validation.hpp"

namespace cachetally {

/// The first such score; null where there is none.
inline const Score* score_of(const ValidationResult& result, const std::string& test, const std::string& parameter) {
    for (const Score& score : result.scores)
        if (score.test == test && score.parameter == parameter) return &score;
    return nullptr;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Advice as text and JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "advice/advice.hpp"

namespace cachetally {

/// What was asked, for the heads of both.
struct AdviceTitle {
    std::string source, machine;
    std::string incomplete;    ///< why the recording is; empty if it is not
    std::uint64_t count = 0;   ///< references that were asked for; 0: all
    std::uint64_t warmup = 0;  ///< references before these
};

std::string to_text(const Advice& advice, const AdviceTitle& title);
nlohmann::ordered_json to_json(const Advice& advice, const AdviceTitle& title);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Tests of machine files that are refused: each with the exact words, in the order of the file.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "tests/sim/machine_text.hpp"

namespace cachetally {

struct Refusal {
    const char* name;
    const char* text;      ///< of the file "m"
    std::string messages;  ///< a line per error

    friend void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.text; }
};

inline std::string case_name(const testing::TestParamInfo<Refusal>& info) { return info.param.name; }

}  // namespace cachetally

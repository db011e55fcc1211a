// SPDX-License-Identifier: BSD-3-Clause
// The warnings that SystemC's report handler was given in this process: "TYPE: message".
#pragma once

#include <string>
#include <vector>

namespace cachetally::testing {

inline std::vector<std::string>& warnings() {
    static std::vector<std::string> all;
    return all;
}

}  // namespace cachetally::testing

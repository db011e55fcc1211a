// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/spread.hpp"

#include <algorithm>

namespace cachetally {

bool is_uneven(std::span<const double> values) {
    constexpr double far = 50;
    if (values.empty()) return false;
    const double most = std::ranges::max(values);
    const auto all = std::ranges::count_if(values, [](double value) { return value > 0; });
    const auto low = std::ranges::count_if(values, [&](double value) { return value > 0 && value * far < most; });
    return 2 * low > all;
}

}  // namespace cachetally

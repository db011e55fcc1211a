// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/native_timing.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "probes/target.hpp"

namespace cachetally {

#if defined(__x86_64__)
double time_stamp_rate() {
    constexpr double interval_ns = 5e5;
    constexpr std::size_t intervals = 9;
    std::vector<double> rates;
    while (rates.size() < intervals) {
        const std::uint64_t begin = now_ns(), ticks = time_stamp();
        while (static_cast<double>(now_ns() - begin) < interval_ns) {
        }
        const std::uint64_t end_ticks = time_stamp();
        rates.push_back(static_cast<double>(end_ticks - ticks) / static_cast<double>(now_ns() - begin));
    }
    return quantiles_of(std::move(rates)).median;
}
#endif

}  // namespace cachetally

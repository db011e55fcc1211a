// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/counter_array.hpp"

#include "monitor/keyed_array.hpp"

namespace cachetally {

std::span<const EvictionRow> built_in_evictions() {
#define CACHETALLY_ROW(name, Order) eviction_row<Order>(#name),
    static constexpr EvictionRow rows[] = {CACHETALLY_EVICTIONS(CACHETALLY_ROW)};
#undef CACHETALLY_ROW
    return rows;
}

void CounterArray::overflow(std::vector<SwapOut>& out) {
    out.push_back({last_first_, last_span_, *last_count_ / full_, full_});
    *last_count_ %= full_;
}

std::unique_ptr<CounterArray> make_counter_array(const MonitorSpec& spec, unsigned copy) {
    return row_of(spec.eviction).make(spec, spec.seed + copy);
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// The tables of the program, each with the row of an example more: the linker takes these instead.
#include "examples/recipes/fibonacci.hpp"
#include "examples/recipes/mru.hpp"
#include "examples/recipes/newest.hpp"
#include "monitor/keyed_array.hpp"
#include "monitor/listeners/listener.hpp"
#include "sim/model/indexing/indexing.hpp"
#include "sim/model/prefetch/prefetcher.hpp"
#include "sim/model/tags/placed_array-inl.hpp"
#include "workloads/kernels/kernels.hpp"
#include "workloads/traces/text_parser.hpp"

namespace cachetally {

std::unique_ptr<Prefetcher> make_next_but_one_prefetcher(const PrefetchConfig& config, unsigned line_bytes);
TextFormat rw_format();
Kernel sum_kernel();
ListenerRow phases_listener();

namespace {

template <class Rows, class Row>
std::vector<Row> with(const Rows& built_in, const Row& own) {
    std::vector<Row> rows(std::begin(built_in), std::end(built_in));
    rows.push_back(own);
    return rows;
}

}  // namespace

std::span<const ReplacementRow> replacement_rows() {
    static const auto rows =
        with(built_in_replacements(), ReplacementRow{"mru", true, Mru::repetition, HWY_NAMESPACE::make_placed<Mru>});
    return rows;
}
std::span<const PrefetcherRow> prefetcher_rows() {
    static const auto rows =
        with(built_in_prefetchers, PrefetcherRow{"next_but_one", false, false, make_next_but_one_prefetcher});
    return rows;
}
std::span<const IndexingRow> indexing_rows() {
    static const auto rows = with(built_in_indexings, IndexingRow{"fibonacci", fibonacci});
    return rows;
}
std::span<const TextFormatRow> text_format_rows() {
    static const auto rows = with(built_in_text_formats, TextFormatRow{rw_format});
    return rows;
}
std::span<const KernelRow> kernel_rows() {
    static const auto rows = with(built_in_kernels, KernelRow{sum_kernel});
    return rows;
}
std::span<const EvictionRow> eviction_rows() {
    static const auto rows = with(built_in_evictions(), eviction_row<NewestOrder>("newest"));
    return rows;
}
std::span<const ListenerMaker> listener_rows() {
    static const auto rows = with(built_in_listeners, ListenerMaker{phases_listener});
    return rows;
}

}  // namespace cachetally

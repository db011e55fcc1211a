// SPDX-License-Identifier: BSD-3-Clause
// The words of machine files that follow from tables of the model.
#include "sim/model/prefetch/prefetcher.hpp"
#include "sim/model/tags/cache_array.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

template <class Row>
std::vector<std::string_view> names_in(std::span<const Row> rows) {
    std::vector<std::string_view> names;
    for (const Row& row : rows) names.push_back(row.name);
    return names;
}

}  // namespace

template <>
std::span<const std::string_view> names_of<Replacement>() {
    static const auto names = names_in(replacement_rows());
    return names;
}
template <>
std::span<const std::string_view> names_of<Indexing>() {
    static const auto names = names_in(indexing_rows());
    return names;
}
template <>
std::span<const std::string_view> names_of<PrefetchKind>() {
    static const auto names = names_in(prefetcher_rows());
    return names;
}

}  // namespace cachetally

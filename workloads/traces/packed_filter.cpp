// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/traces/packed_filter.hpp"

#include <algorithm>
#include <utility>

namespace cachetally {

bool PackedFilter::is_redundant(const Reference& reference) {
    const bool stores = reference.kind == ReferenceKind::store, straddling = straddles(reference);
    const Address number = reference.address / line_bytes, page = reference.address / page_bytes;
    Line& line = lines_[number % lines];
    const bool redundant =
        line.number == number && (line.stored || !stores) && pages_[page % pages] == page && !straddling;
    if (!redundant) line = {number, stores};
    pages_[page % pages] = page;
    if (straddling) [[unlikely]]
        pass_straddling(reference);
    return redundant;
}

/// A long reference may come around to its own first slots.
void PackedFilter::pass_straddling(const Reference& reference) {
    const Address last = reference.address + (reference.size - 1U);
    const Address first_line = reference.address / line_bytes, last_line = last / line_bytes;
    for (Address i = 1; i <= std::min<Address>(last_line - first_line, lines); ++i)
        lines_[(first_line + i) % lines] = {};
    const Address first_page = reference.address / page_bytes, last_page = last / page_bytes;
    for (Address i = 1; i <= std::min<Address>(last_page - first_page, pages); ++i)
        pages_[(first_page + i) % pages] = none;
}

}  // namespace cachetally

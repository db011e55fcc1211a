// SPDX-License-Identifier: BSD-3-Clause
// Rows of counts into order, each key once.
#pragma once

#include <algorithm>
#include <vector>

namespace cachetally {

/// Sorts by key_of(row) and adds rows of equal keys up, in the order given: add(sum, row).
template <class Row, class KeyOf, class Add>
void sort_and_sum(std::vector<Row>& rows, KeyOf key_of, Add add) {
    if (!std::ranges::is_sorted(rows, {}, key_of)) std::ranges::stable_sort(rows, {}, key_of);
    std::size_t kept = 0;
    for (const Row& row : rows) {
        if (kept != 0 && key_of(rows[kept - 1]) == key_of(row)) {
            add(rows[kept - 1], row);
        } else {
            rows[kept++] = row;
        }
    }
    rows.resize(kept);
}

}  // namespace cachetally

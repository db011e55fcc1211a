// SPDX-License-Identifier: BSD-3-Clause
// Filtering of blocks.
#include "workloads/traces/block.hpp"

#include <algorithm>
#include <utility>

namespace cachetally {

void keep_data_only(ReferenceBlock& block) {
    if (block.data_only) return;
    const auto references = block.references();
    std::size_t kept = 0, read = 0;
    const auto move_up_to = [&](std::size_t end) {
        for (; read < end; ++read) {
            const Reference reference = references[read];
            references[kept] = reference;  // without a branch: kinds are hard to predict
            kept += reference.kind != ReferenceKind::fetch;
        }
    };
    for (auto& placed : block.controls) {
        move_up_to(placed.position);
        placed.position = static_cast<std::uint32_t>(kept);
    }
    move_up_to(references.size());
    block.set_size(kept);
}

void ReferenceBlock::find_lines(LineWish wish) {
    const auto other_way = [&](const Reference& reference) {
        return (wish.kinds >> static_cast<unsigned>(reference.kind) & 1U) == 0;
    };
    const unsigned data =
        1U << static_cast<unsigned>(ReferenceKind::load) | 1U << static_cast<unsigned>(ReferenceKind::store);
    const bool known = data_only && (data & ~wish.kinds) == 0;
    if (is_sieved || wish.line_bytes == 0 ||
        (!known && std::ranges::any_of(std::as_const(*this).references(), other_way)))
        return;
    lines_.start(size_);
    std::size_t begin = 0;
    for (const PlacedControl& placed : controls) {
        lines_.find(std::as_const(*this).references().subspan(begin, placed.position - begin), wish);
        begin = placed.position;
    }
    lines_.find(std::as_const(*this).references().subspan(begin), wish);
    found = lines_.stretches();
}

}  // namespace cachetally

// Filtering of blocks.
#include "workloads/traces/block.hpp"

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

}  // namespace cachetally

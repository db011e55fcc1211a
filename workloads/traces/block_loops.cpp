// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/traces/block_loops.hpp"

#include <algorithm>
#include <array>

#include "workloads/traces/block_layout.hpp"

namespace cachetally::block_loops {
namespace {

using namespace block_layout;

template <class Index>
Merged merge_by(const Merge& from, Reference* out) {
    const auto* retained_traits = static_cast<const Index*>(from.retained_traits);
    const auto* redundant_traits = static_cast<const Index*>(from.redundant_traits);
    const std::uint8_t *codes = from.codes, *offsets = from.offsets;
    const Address* retained = from.retained;
    std::array<Address, PackedFilter::lines> last = first_addresses();
    Address addresses = 0;
    std::uint64_t wrong = 0;
    // Without branches: which references are redundant is hard to predict.
    for (const std::uint8_t mark : from.marks) {
        const std::uint64_t is_retained = packed_mark::is_retained(mark), if_left = is_retained - 1;
        const unsigned slot = mark & filter_mark::slot;
        const Address base = is_retained != 0 ? *retained : last[slot];
        const Address address = base + (unzigzag(*offsets) & if_left);
        const std::uint64_t traits = from.table[is_retained != 0 ? *retained_traits : *redundant_traits];
        static_assert(filter_mark::stores == 1 << store_shift);
        const std::uint64_t stores = (is_retained != 0 ? *codes : mark) >> store_shift;
        const unsigned lies_in = PackedFilter::slot_of(address);
        last[lies_in] = address;
        *out++ = reference_of(address, traits);
        addresses |= address;
        wrong |=
            (if_left & (lies_in ^ slot)) | (stores ^ (kind_of_traits(traits) & 1)) |
            (std::uint64_t{address % PackedFilter::line_bytes + size_of_traits(traits) > PackedFilter::line_bytes} ^
             (is_retained & mark));
        retained += is_retained, retained_traits += is_retained, codes += is_retained;
        offsets += 1 - is_retained, redundant_traits += 1 - is_retained;
    }
    return {addresses, wrong == 0};
}

}  // namespace

const std::uint8_t* add_deltas(std::span<const std::uint8_t> codes, const std::uint8_t* deltas, Address* out) {
    for (const std::uint8_t code : codes) {
        const unsigned length_class = (code >> length_shift) & 7U;
        std::uint64_t raw;
        std::memcpy(&raw, deltas, sizeof raw);
        deltas += delta_length[length_class];
        *out = *(out - 1 - (code & distance_bits)) + unzigzag(raw & delta_mask[length_class]);
        ++out;
    }
    return deltas;
}

Merged merge(const Merge& from, Reference* out) {
    return from.wide ? merge_by<std::uint16_t>(from, out) : merge_by<std::uint8_t>(from, out);
}

void find_lines(std::span<const std::uint8_t> codes, const Address* retained, BlockEvent* out) {
    for (std::size_t i = 0; i < codes.size(); ++i)
        out[i] = BlockEvent(align_down(retained[i], PackedFilter::line_bytes),
                            static_cast<EventKind>(codes[i] >> store_shift));
}

}  // namespace cachetally::block_loops

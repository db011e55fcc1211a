// SPDX-License-Identifier: BSD-3-Clause
// Fuzzer of the decoder of packed blocks: the bytes get a right checksum, so that what is behind it is tried.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "workloads/traces/block.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cachetally;
    const auto* begin = reinterpret_cast<const std::byte*>(data);
    std::vector<std::byte> bytes(begin, begin + size);
    static BlockDecoder decoder;
    static ReferenceBlock block, again, filtered;
    const FilterPlan wish{.data = packed_shape, .fetches = {}};
    bool whole = false;
    if (size >= 64) seal_block(bytes);
    try {
        decoder.decode(bytes, block);
        whole = true;
    } catch (const BlockError&) {
    }
    try {
        decoder.decode(bytes, filtered, wish);
        std::size_t references = filtered.references().size();
        if (filtered.is_filtered)
            for (const FilteredBlock& part : filtered.filtered.blocks) references += part.references;
        if (references != filtered.size()) std::abort();
    } catch (const BlockError&) {
        if (whole) std::abort();  // less is looked at
    }
    if (!whole) return 0;
    // What was accepted is sound: it can be packed and unpacked again.
    std::vector<std::byte> packed;
    BlockEncoder().encode(block.references(), block.controls, packed);
    decoder.decode(packed, again);
    if (!std::ranges::equal(block.references(), again.references()) || block.controls != again.controls) std::abort();
    return 0;
}

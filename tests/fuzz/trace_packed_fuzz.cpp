// Fuzzer of the decoder of packed blocks: the bytes get a right checksum, so that what is behind it is tried.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "workloads/traces/block_codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cachetally;
    const auto* begin = reinterpret_cast<const std::byte*>(data);
    std::vector<std::byte> bytes(begin, begin + size);
    static BlockDecoder decoder;
    static ReferenceBlock block, again;
    try {
        if (size >= 48) seal_block(bytes);
        decoder.decode(bytes, block);
    } catch (const BlockError&) {
        return 0;
    }
    // What was accepted is sound: it can be packed and unpacked again.
    std::vector<std::byte> packed;
    BlockEncoder().encode(block.references(), block.controls, packed);
    decoder.decode(packed, again);
    if (!std::ranges::equal(block.references(), again.references()) || block.controls != again.controls) std::abort();
    return 0;
}

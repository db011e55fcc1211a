// SPDX-License-Identifier: BSD-3-Clause
// The packed form of a block of references; docs/traces.md says exactly what the bytes mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "workloads/traces/block.hpp"

namespace cachetally {

/// Limits of a block, so that damaged sizes cannot ask for much memory.
inline constexpr std::size_t largest_block_references = 65536;
inline constexpr std::size_t largest_block_controls = 65536;

/// Default of BlockEncoder: the effort of LZ4 HC, 1 (fastest to write) to 12 (smallest).
inline constexpr int default_packing_level = 6;

/// What is wrong with a packed block.
class BlockError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Packs blocks. References that a PackedFilter retains are coded against one of the 16 retained before them, the one
/// that needs fewest bytes; redundant ones against the last reference to their line (ours).
class BlockEncoder {
public:
    explicit BlockEncoder(int level = default_packing_level);
    ~BlockEncoder();

    /// Appends the packed form to `out`. Throws std::invalid_argument for a reference of size 0 or that runs beyond
    /// the end of the address space, and for more references or controls than a block may hold.
    void encode(std::span<const Reference> references, std::span<const PlacedControl> controls,
                std::vector<std::byte>& out);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Unpacks blocks.
class BlockDecoder {
public:
    BlockDecoder();
    ~BlockDecoder();

    /// Makes a filtered block if that serves the wish and all references are data, else a whole one. Throws BlockError
    /// where the bytes are not a block: a wrong checksum, sizes that do not fit, values out of range; of a filtered
    /// block less is looked at.
    void decode(std::span<const std::byte> bytes, ReferenceBlock& block, const std::optional<FilterPlan>& wish = {});

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Writes the checksum into the packed form of a block.
void seal_block(std::span<std::byte> bytes);

}  // namespace cachetally

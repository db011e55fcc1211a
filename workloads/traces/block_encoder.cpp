// SPDX-License-Identifier: BSD-3-Clause
// Packing of blocks.
#include <fmt/format.h>
#include <lz4.h>
#include <lz4hc.h>

#include <algorithm>

#include "storage/hash.hpp"
#include "workloads/traces/block.hpp"
#include "workloads/traces/block_coding.hpp"
#include "workloads/traces/block_layout.hpp"

namespace cachetally {
namespace {
using namespace block_layout;

template <class T>
void append(std::vector<std::byte>& out, std::span<const T> values) {
    const auto bytes = std::as_bytes(values);
    out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

struct BlockEncoder::State {
    int level;
    std::vector<std::byte> compressor =
        std::vector<std::byte>(static_cast<std::size_t>(std::max(LZ4_sizeofState(), LZ4_sizeofStateHC())));
    block_coding::TraitTable table;
    std::unique_ptr<block_coding::CodedBlock> coded = std::make_unique_for_overwrite<block_coding::CodedBlock>();
    std::vector<std::byte> bytes, packed;

    static void check(std::span<const PlacedControl> controls, std::size_t references) {
        std::uint32_t last = 0;
        for (const PlacedControl& placed : controls) {
            if (placed.position < last || placed.position > references)
                throw std::invalid_argument("the controls of a block must be in order and within it");
            last = placed.position;
        }
    }

    void code(std::span<const Reference> references, std::span<const PlacedControl> controls) {
        if (references.size() > largest_block_references || controls.size() > largest_block_controls)
            throw std::invalid_argument("a packed block cannot hold so many references or controls");
        table.clear();
        block_coding::split(references, table, *coded);
        check(controls, references.size());
        block_coding::code_retained(*coded, level == 0);
    }

    Header header(std::size_t controls) const {
        Header header;
        header.references = static_cast<std::uint32_t>(coded->references);
        header.retained = static_cast<std::uint32_t>(coded->retained);
        header.delta_bytes = static_cast<std::uint32_t>(coded->delta_bytes);
        header.traits = static_cast<std::uint32_t>(table.all().size());
        header.controls = static_cast<std::uint32_t>(controls);
        header.flags = (table.data_only() ? header_flag::data_only : 0) | (table.wide() ? header_flag::wide_traits : 0);
        return header;
    }

    /// Appends a stream, compressed where that makes it smaller; returns the bytes that it takes.
    std::uint32_t pack(std::span<const std::byte> stream, std::vector<std::byte>& out) {
        if (stream.empty()) return 0;
        const auto source_size = static_cast<int>(stream.size());
        const int bound = LZ4_compressBound(source_size);
        if (packed.size() < static_cast<std::size_t>(bound)) packed.resize(static_cast<std::size_t>(bound));
        const auto* const source = reinterpret_cast<const char*>(stream.data());
        auto* const target = reinterpret_cast<char*>(packed.data());
        const int size = level == 0
                             ? LZ4_compress_fast_extState(compressor.data(), source, target, source_size, bound, 1)
                             : LZ4_compress_HC_extStateHC(compressor.data(), source, target, source_size, bound, level);
        const bool is_smaller = size > 0 && size < source_size;
        const auto stored =
            is_smaller ? std::span<const std::byte>(packed).first(static_cast<std::size_t>(size)) : stream;
        out.insert(out.end(), stored.begin(), stored.end());
        return static_cast<std::uint32_t>(stored.size());
    }

    std::uint32_t pack(const std::uint8_t* stream, std::size_t size, std::vector<std::byte>& out) {
        return pack(std::as_bytes(std::span(stream, size)), out);
    }

    std::uint32_t pack_indices(std::span<const std::uint16_t> indices, std::vector<std::byte>& out) {
        if (table.wide()) return pack(std::as_bytes(indices), out);
        bytes.resize(indices.size());
        std::ranges::transform(indices, bytes.begin(),
                               [](std::uint16_t index) { return static_cast<std::byte>(index); });
        return pack(bytes, out);
    }

    std::uint32_t pack_tables(std::span<const PlacedControl> controls, std::vector<std::byte>& out) {
        bytes.clear();
        append(bytes, std::span(table.all()));
        for (const auto& [position, control] : controls) {
            const StoredControl stored{position, static_cast<std::uint32_t>(control.kind), control.argument};
            append(bytes, std::span(&stored, 1));
        }
        return pack(bytes, out);
    }
};

BlockEncoder::BlockEncoder(int level) : state_(std::make_unique<State>()) {
    if (level < 0 || level > LZ4HC_CLEVEL_MAX)
        throw std::invalid_argument(fmt::format("compression level {} is not one of 0 to {}", level, LZ4HC_CLEVEL_MAX));
    state_->level = level;
}
BlockEncoder::~BlockEncoder() = default;

void BlockEncoder::encode(std::span<const Reference> references, std::span<const PlacedControl> controls,
                          std::vector<std::byte>& out) {
    State& state = *state_;
    state.code(references, controls);
    const block_coding::CodedBlock& coded = *state.coded;
    const std::size_t retained = coded.retained, redundant = coded.references - coded.retained;
    const std::size_t begin = out.size();
    out.resize(begin + sizeof(Header));
    Header header = state.header(controls.size());
    header.packed = {state.pack(coded.marks.data(), coded.references, out),
                     state.pack(coded.codes.data(), retained, out),
                     state.pack(coded.deltas.data(), coded.delta_bytes, out),
                     state.pack_indices({coded.retained_traits.data(), retained}, out),
                     state.pack(coded.offsets.data(), redundant, out),
                     state.pack_indices({coded.redundant_traits.data(), redundant}, out),
                     state.pack_tables(controls, out)};
    std::memcpy(out.data() + begin, &header, sizeof header);
    seal_block(std::span(out).subspan(begin));
}

void seal_block(std::span<std::byte> bytes) {
    if (bytes.size() < sizeof(Header)) throw std::invalid_argument("shorter than the header of a block");
    const std::uint64_t checksum = hash_bytes(bytes.subspan(sizeof checksum));
    std::memcpy(bytes.data(), &checksum, sizeof checksum);
}

}  // namespace cachetally

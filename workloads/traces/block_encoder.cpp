// SPDX-License-Identifier: BSD-3-Clause
// Packing of blocks.
#include <fmt/format.h>
#include <lz4.h>
#include <lz4hc.h>

#include <algorithm>
#include <unordered_map>

#include "storage/hash.hpp"
#include "workloads/traces/block.hpp"
#include "workloads/traces/block_layout.hpp"

namespace cachetally {
namespace {
using namespace block_layout;

unsigned class_of(std::uint64_t delta) {
    const auto bytes = static_cast<unsigned>(std::bit_width(delta) + 7) / 8;
    return std::min(bytes, 7U);
}

/// A table of different traits, and indices into it.
class TraitTable {
public:
    std::uint16_t index_of(std::uint64_t traits) {
        Recent& recent = recent_[traits * 0x9E3779B97F4A7C15U >> (64U - recent_bits)];
        if (recent.traits != traits) recent = {traits, look_up(traits)};
        return recent.index;
    }
    const std::vector<std::uint64_t>& all() const { return table_; }
    bool wide() const { return table_.size() > 256; }
    bool data_only() const { return std::ranges::none_of(table_, traits_of_fetch); }
    void clear() { table_.clear(), index_.clear(), recent_.fill({}); }

private:
    static constexpr unsigned recent_bits = 10;
    struct Recent {
        std::uint64_t traits = 0;  ///< those of no reference
        std::uint16_t index = 0;
    };

    std::uint16_t look_up(std::uint64_t traits) {
        const auto [entry, inserted] = index_.try_emplace(traits, static_cast<std::uint16_t>(table_.size()));
        if (inserted) table_.push_back(traits);
        return entry->second;
    }

    std::array<Recent, std::size_t{1} << recent_bits> recent_{};
    std::vector<std::uint64_t> table_;
    std::unordered_map<std::uint64_t, std::uint16_t> index_;
};

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
    std::vector<Address> retained;  ///< the lead, then addresses of retained references
    std::vector<std::uint8_t> marks, codes, deltas, offsets;
    std::vector<std::uint16_t> retained_traits, redundant_traits;
    TraitTable table;
    std::vector<std::byte> bytes;

    void check(std::span<const Reference> references, std::span<const PlacedControl> controls) const {
        if (references.size() > largest_block_references || controls.size() > largest_block_controls)
            throw std::invalid_argument("a packed block cannot hold so many references or controls");
        for (const Reference& reference : references) {
            if (!traits_valid(traits_of(reference)))
                throw std::invalid_argument("a reference of size 0 or of unknown kind cannot be packed");
            if (reference.address + (reference.size - 1U) < reference.address)
                throw std::invalid_argument(
                    "a reference that runs beyond the end of the address space cannot be packed");
        }
        std::uint32_t last = 0;
        for (const PlacedControl& placed : controls) {
            if (placed.position < last || placed.position > references.size())
                throw std::invalid_argument("the controls of a block must be in order and within it");
            last = placed.position;
        }
    }

    void code_references(std::span<const Reference> references) {
        retained.assign(lead, 0);
        marks.clear(), codes.clear(), deltas.clear(), offsets.clear(), retained_traits.clear(),
            redundant_traits.clear();
        table.clear();
        PackedFilter filter;
        auto last = first_addresses();
        unsigned last_distance = 0;
        for (const Reference& reference : references) {
            Address& last_of_slot = last[PackedFilter::slot_of(reference.address)];
            if (filter.is_redundant(reference)) {
                encode_redundant(reference, last_of_slot);
            } else {
                encode_retained(reference, last_distance);
            }
            last_of_slot = reference.address;
        }
    }

    /// Chooses the reference to code against: the cheapest; among equals the distance used last, then the nearest.
    /// Level 0 looks at few, and no further than one that needs a byte.
    void encode_retained(const Reference& reference, unsigned& last_distance) {
        unsigned best_cost = ~0U, best = 0;
        const auto delta_from = [&](unsigned distance) {
            return zigzag(reference.address - retained[retained.size() - 1 - distance]);
        };
        const auto consider = [&](unsigned distance) {
            const unsigned cost = delta_length[class_of(delta_from(distance))];
            if (cost >= best_cost) return;
            best_cost = cost;
            best = distance;
        };
        consider(last_distance);
        const unsigned searched = level == 0 ? 4 : lead, enough = level == 0 ? 1 : 0;
        for (unsigned distance = 0; distance < searched && best_cost > enough; ++distance) consider(distance);
        last_distance = best;

        const std::uint64_t delta = delta_from(best);
        const unsigned length_class = class_of(delta);
        const unsigned stores = reference.kind == ReferenceKind::store ? 1 : 0;
        marks.push_back(static_cast<std::uint8_t>(filter_mark::retained |
                                                  (PackedFilter::straddles(reference) ? packed_mark::straddles : 0U)));
        codes.push_back(static_cast<std::uint8_t>(best | (length_class << length_shift) | (stores << store_shift)));
        for (unsigned i = 0; i < delta_length[length_class]; ++i)
            deltas.push_back(static_cast<std::uint8_t>(delta >> (8 * i)));
        retained_traits.push_back(table.index_of(traits_of(reference)));
        retained.push_back(reference.address);
    }

    void encode_redundant(const Reference& reference, Address& last) {
        const bool stores = reference.kind == ReferenceKind::store;
        marks.push_back(
            static_cast<std::uint8_t>(PackedFilter::slot_of(reference.address) | (stores ? filter_mark::stores : 0U)));
        offsets.push_back(static_cast<std::uint8_t>(zigzag(reference.address - last)));
        redundant_traits.push_back(table.index_of(traits_of(reference)));
    }

    Header header(std::size_t controls) const {
        Header header;
        header.references = static_cast<std::uint32_t>(marks.size());
        header.retained = static_cast<std::uint32_t>(codes.size());
        header.delta_bytes = static_cast<std::uint32_t>(deltas.size());
        header.traits = static_cast<std::uint32_t>(table.all().size());
        header.controls = static_cast<std::uint32_t>(controls);
        header.flags = (table.data_only() ? header_flag::data_only : 0) | (table.wide() ? header_flag::wide_traits : 0);
        return header;
    }

    /// Appends the stream in `bytes`, compressed where that makes it smaller; returns the bytes that it takes.
    std::uint32_t pack(std::vector<std::byte>& out) {
        if (bytes.empty()) return 0;
        const std::size_t begin = out.size();
        const auto source_size = static_cast<int>(bytes.size());
        const int bound = LZ4_compressBound(source_size);
        out.resize(begin + static_cast<std::size_t>(bound));
        const auto* const source = reinterpret_cast<const char*>(bytes.data());
        auto* const target = reinterpret_cast<char*>(&out[begin]);
        const int packed =
            level == 0 ? LZ4_compress_fast_extState(compressor.data(), source, target, source_size, bound, 1)
                       : LZ4_compress_HC_extStateHC(compressor.data(), source, target, source_size, bound, level);
        auto size = static_cast<std::size_t>(std::max(packed, 0));
        if (size == 0 || size >= bytes.size()) {
            std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<std::ptrdiff_t>(begin));
            size = bytes.size();
        }
        out.resize(begin + size);
        return static_cast<std::uint32_t>(size);
    }

    std::uint32_t pack_bytes(std::span<const std::uint8_t> stream, std::vector<std::byte>& out) {
        bytes.clear();
        append(bytes, stream);
        return pack(out);
    }

    std::uint32_t pack_indices(std::span<const std::uint16_t> indices, std::vector<std::byte>& out) {
        bytes.clear();
        if (table.wide()) {
            append(bytes, indices);
        } else {
            for (const std::uint16_t index : indices) bytes.push_back(static_cast<std::byte>(index));
        }
        return pack(out);
    }

    std::uint32_t pack_tables(std::span<const PlacedControl> controls, std::vector<std::byte>& out) {
        bytes.clear();
        append(bytes, std::span(table.all()));
        for (const auto& [position, control] : controls) {
            const StoredControl stored{position, static_cast<std::uint32_t>(control.kind), control.argument};
            append(bytes, std::span(&stored, 1));
        }
        return pack(out);
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
    state.check(references, controls);
    state.code_references(references);
    const std::size_t begin = out.size();
    out.resize(begin + sizeof(Header));
    Header header = state.header(controls.size());
    header.packed = {state.pack_bytes(state.marks, out),   state.pack_bytes(state.codes, out),
                     state.pack_bytes(state.deltas, out),  state.pack_indices(state.retained_traits, out),
                     state.pack_bytes(state.offsets, out), state.pack_indices(state.redundant_traits, out),
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

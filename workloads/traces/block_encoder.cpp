// Packing of blocks.
#include <fmt/format.h>
#include <lz4hc.h>

#include <algorithm>
#include <unordered_map>

#include "storage/hash.hpp"
#include "workloads/traces/block_codec.hpp"
#include "workloads/traces/block_layout.hpp"

namespace cachetally {
namespace {

using namespace block_layout;

constexpr unsigned change_cost =
    3;  ///< half bytes that a change of traits is taken to cost, against a delta byte's two

unsigned class_of(std::uint64_t delta) {
    const auto bytes = static_cast<unsigned>(std::bit_width(delta) + 7) / 8;
    return std::min(bytes, 7U);
}

template <class T>
std::span<const std::byte> bytes_of_vector(const std::vector<T>& values) {
    return std::as_bytes(std::span(values));
}

}  // namespace

struct BlockEncoder::State {
    int level;
    std::vector<std::byte> compressor = std::vector<std::byte>(static_cast<std::size_t>(LZ4_sizeofStateHC()));
    std::vector<Reference> history;  ///< the lead, then the block
    std::vector<std::uint8_t> codes, deltas;
    std::vector<std::uint16_t> changes;
    std::vector<std::uint64_t> table;
    std::unordered_map<std::uint64_t, std::uint16_t> index;

    void check(std::span<const Reference> references, std::span<const PlacedControl> controls) const;
    void code_references(std::span<const Reference> references);
    void code_one(const Reference* reference, unsigned& last_distance);
    std::uint32_t pack(std::span<const std::byte> bytes, std::vector<std::byte>& out);
};

BlockEncoder::BlockEncoder(int level) : state_(std::make_unique<State>()) {
    if (level < 1 || level > LZ4HC_CLEVEL_MAX)
        throw std::invalid_argument(fmt::format("compression level {} is not one of 1 to {}", level, LZ4HC_CLEVEL_MAX));
    state_->level = level;
}
BlockEncoder::~BlockEncoder() = default;
BlockEncoder::BlockEncoder(BlockEncoder&&) noexcept = default;
BlockEncoder& BlockEncoder::operator=(BlockEncoder&&) noexcept = default;

void BlockEncoder::State::check(std::span<const Reference> references, std::span<const PlacedControl> controls) const {
    if (references.size() > largest_block_references || controls.size() > largest_block_controls)
        throw std::invalid_argument("a packed block cannot hold so many references or controls");
    for (const Reference& reference : references) {
        if (!traits_valid(traits_of(reference)))
            throw std::invalid_argument("a reference of size 0 or of unknown kind cannot be packed");
        if (reference.address + (reference.size - 1U) < reference.address)
            throw std::invalid_argument("a reference that runs beyond the end of the address space cannot be packed");
    }
    std::uint32_t last = 0;
    for (const PlacedControl& placed : controls) {
        if (placed.position < last || placed.position > references.size())
            throw std::invalid_argument("the controls of a block must be in order and within it");
        last = placed.position;
    }
}

void BlockEncoder::State::code_references(std::span<const Reference> references) {
    history.assign(ReferenceBlock::lead, Reference{});
    history.insert(history.end(), references.begin(), references.end());
    codes.clear(), deltas.clear(), changes.clear(), table.clear(), index.clear();
    unsigned last_distance = 0;
    for (std::size_t i = 0; i < references.size(); ++i)
        code_one(history.data() + ReferenceBlock::lead + i, last_distance);
}

/// Chooses the reference to code against: the cheapest; among equals the distance used last, then the nearest.
void BlockEncoder::State::code_one(const Reference* reference, unsigned& last_distance) {
    const std::uint64_t traits = traits_of(*reference);
    unsigned best_cost = ~0U, best = 0;
    const auto consider = [&](unsigned distance) {
        const Reference& base = *(reference - 1 - distance);
        const unsigned cost = 2 * delta_length[class_of(zigzag(reference->address - base.address))] +
                              (traits_of(base) == traits ? 0 : change_cost);
        if (cost >= best_cost) return;
        best_cost = cost;
        best = distance;
    };
    consider(last_distance);
    for (unsigned distance = 0; distance < ReferenceBlock::lead && best_cost > 0; ++distance) consider(distance);
    last_distance = best;

    const Reference& base = *(reference - 1 - best);
    const std::uint64_t delta = zigzag(reference->address - base.address);
    const unsigned length_class = class_of(delta);
    const bool change = traits_of(base) != traits;
    codes.push_back(static_cast<std::uint8_t>(best | (length_class << length_shift) | (change ? change_bit : 0U)));
    for (unsigned i = 0; i < delta_length[length_class]; ++i)
        deltas.push_back(static_cast<std::uint8_t>(delta >> (8 * i)));
    if (!change) return;
    const auto [entry, inserted] = index.try_emplace(traits, static_cast<std::uint16_t>(table.size()));
    if (inserted) table.push_back(traits);
    changes.push_back(entry->second);
}

/// Appends a stream, compressed where that makes it smaller; returns the bytes that it takes.
std::uint32_t BlockEncoder::State::pack(std::span<const std::byte> bytes, std::vector<std::byte>& out) {
    if (bytes.empty()) return 0;
    const std::size_t begin = out.size();
    const auto source_size = static_cast<int>(bytes.size());
    const int bound = LZ4_compressBound(source_size);
    out.resize(begin + static_cast<std::size_t>(bound));
    const int packed = LZ4_compress_HC_extStateHC(compressor.data(), reinterpret_cast<const char*>(bytes.data()),
                                                  reinterpret_cast<char*>(&out[begin]), source_size, bound, level);
    auto size = static_cast<std::size_t>(std::max(packed, 0));
    if (size == 0 || size >= bytes.size()) {
        std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<std::ptrdiff_t>(begin));
        size = bytes.size();
    }
    out.resize(begin + size);
    return static_cast<std::uint32_t>(size);
}

void BlockEncoder::encode(std::span<const Reference> references, std::span<const PlacedControl> controls,
                          std::vector<std::byte>& out) {
    State& state = *state_;
    state.check(references, controls);
    state.code_references(references);
    std::vector<std::byte> traits(state.changes.size() * 2 + state.table.size() * 8);
    if (!traits.empty()) {
        std::memcpy(traits.data(), state.changes.data(), state.changes.size() * 2);
        std::memcpy(traits.data() + state.changes.size() * 2, state.table.data(), state.table.size() * 8);
    }
    std::vector<StoredControl> stored;
    for (const auto& [position, control] : controls)
        stored.push_back({position, static_cast<std::uint32_t>(control.kind), control.argument});

    const std::size_t begin = out.size();
    out.resize(begin + sizeof(Header));
    Header header;
    header.references = static_cast<std::uint32_t>(references.size());
    header.delta_bytes = static_cast<std::uint32_t>(state.deltas.size());
    header.changes = static_cast<std::uint32_t>(state.changes.size());
    header.traits = static_cast<std::uint32_t>(state.table.size());
    header.controls = static_cast<std::uint32_t>(controls.size());
    header.packed[0] = state.pack(bytes_of_vector(state.codes), out);
    header.packed[1] = state.pack(bytes_of_vector(state.deltas), out);
    header.packed[2] = state.pack(traits, out);
    header.packed[3] = state.pack(bytes_of_vector(stored), out);
    std::memcpy(out.data() + begin, &header, sizeof header);
    seal_block(std::span(out).subspan(begin));
}

void seal_block(std::span<std::byte> bytes) {
    if (bytes.size() < sizeof(Header)) throw std::invalid_argument("shorter than the header of a block");
    const std::uint64_t checksum = hash_bytes(bytes.subspan(sizeof checksum));
    std::memcpy(bytes.data(), &checksum, sizeof checksum);
}

}  // namespace cachetally

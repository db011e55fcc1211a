// Unpacking of blocks: everything is checked before or after the hot loop, nothing in it.
#include <fmt/format.h>
#include <lz4.h>

#ifdef __SSSE3__
#include <immintrin.h>
#endif

#include <algorithm>

#include "storage/hash.hpp"
#include "workloads/traces/block_codec.hpp"
#include "workloads/traces/block_layout.hpp"

namespace cachetally {
namespace {

using namespace block_layout;

constexpr std::array<std::uint64_t, 8> delta_mask{0,          0xff,         0xffff,         0xffffff,
                                                  0xffffffff, 0xffffffffff, 0xffffffffffff, ~std::uint64_t{0}};

/// A reference as address and traits in one vector register. The references before are read right after they were
/// written: as one vector, the processor can forward them from its store queue.
using Pair = std::uint64_t __attribute__((vector_size(16)));
static_assert(sizeof(Pair) == sizeof(Reference));

/// What the hot loop has yet to use, and where it writes.
struct Position {
    const std::byte* delta;
    const std::uint16_t* change;
    Reference* out;
    Pair seen{};  ///< all references, or-ed together
};

/// The hot loop: a reference is the one `distance` before it, moved by the delta, with other traits where they change.
/// Nothing is checked here: there are 8 bytes of deltas and an entry of changes for every code, and some more.
inline void place(Position& at, unsigned code, Pair delta, const std::uint64_t* table) {
    Pair pair;
    std::memcpy(&pair, at.out - 1 - (code & distance_bits), sizeof pair);
    pair += delta;
    if ((code & change_bit) != 0) [[unlikely]]
        pair = Pair{pair[0], table[*at.change++]};
    std::memcpy(static_cast<void*>(at.out++), &pair, sizeof pair);
    at.seen |= pair;
}

void reconstruct_singly(Position& at, std::span<const std::byte> codes, const std::uint64_t* table) {
    for (const std::byte code_byte : codes) {
        const auto code = std::to_integer<unsigned>(code_byte);
        const unsigned length_class = (code >> length_shift) & 7U;
        std::uint64_t raw;
        std::memcpy(&raw, at.delta, sizeof raw);
        at.delta += delta_length[length_class];
        place(at, code, Pair{unzigzag(raw & delta_mask[length_class]), 0}, table);
    }
}

constexpr std::size_t spare_bytes = 16;

#ifdef __SSSE3__

/// For two length classes (the second one from bit 3 on): how two deltas are spread over a vector, and their length.
struct PairTable {
    alignas(16) std::array<std::array<std::uint8_t, 16>, 64> shuffle{};
    std::array<std::uint8_t, 64> length{};
};

constexpr PairTable make_pair_table() {
    constexpr std::uint8_t zero = 0x80;  // makes a byte of the vector zero
    PairTable table;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint8_t first = delta_length[i & 7], second = delta_length[i >> 3];
        for (std::uint8_t byte = 0; byte < 8; ++byte) {
            table.shuffle[i][byte] = byte < first ? byte : zero;
            table.shuffle[i][8U + byte] = byte < second ? static_cast<std::uint8_t>(first + byte) : zero;
        }
        table.length[i] = static_cast<std::uint8_t>(first + second);
    }
    return table;
}
constexpr PairTable pair_table = make_pair_table();

/// Two references at a time: their deltas are taken apart in one vector.
void reconstruct(Position& at, std::span<const std::byte> codes, const std::uint64_t* table) {
    const __m128i one = _mm_set1_epi64x(1), zero = _mm_setzero_si128();
    Position now = at;
    for (std::size_t i = 0; i + 1 < codes.size(); i += 2) {
        std::uint16_t two;
        std::memcpy(&two, codes.data() + i, sizeof two);
        const std::size_t classes = ((two >> length_shift) & 7U) | ((two >> (length_shift + 5)) & 0x38U);
        __m128i raw;
        std::memcpy(&raw, now.delta, sizeof raw);
        raw = _mm_shuffle_epi8(raw, std::bit_cast<__m128i>(pair_table.shuffle[classes]));
        now.delta += pair_table.length[classes];
        const __m128i deltas = _mm_xor_si128(_mm_srli_epi64(raw, 1), _mm_sub_epi64(zero, _mm_and_si128(raw, one)));
        place(now, two, std::bit_cast<Pair>(_mm_unpacklo_epi64(deltas, zero)), table);
        place(now, two >> 8U, std::bit_cast<Pair>(_mm_unpackhi_epi64(deltas, zero)), table);
    }
    at = now;
    reconstruct_singly(at, codes.last(codes.size() % 2), table);
}

#else

void reconstruct(Position& at, std::span<const std::byte> codes, const std::uint64_t* table) {
    reconstruct_singly(at, codes, table);
}

#endif

void check_ends(std::span<const Reference> references) {
    for (const Reference& reference : references)
        if (reference.address + (reference.size - 1U) < reference.address)
            throw BlockError("a reference runs beyond the end of the address space");
}

}  // namespace

struct BlockDecoder::State {
    std::vector<std::byte> codes, deltas, traits, controls;
    std::vector<std::uint16_t> changes;
    std::vector<std::uint64_t> table;

    void unpack(std::span<const std::byte>& rest, std::size_t packed, std::size_t size, const char* name,
                std::vector<std::byte>& target);
    void unpack_all(std::span<const std::byte> bytes, const Header& header);
    void read_traits(const Header& header);
    void read_controls(const Header& header, ReferenceBlock& block) const;
};

BlockDecoder::BlockDecoder() : state_(std::make_unique<State>()) {}
BlockDecoder::~BlockDecoder() = default;
BlockDecoder::BlockDecoder(BlockDecoder&&) noexcept = default;
BlockDecoder& BlockDecoder::operator=(BlockDecoder&&) noexcept = default;

void BlockDecoder::State::unpack(std::span<const std::byte>& rest, std::size_t packed, std::size_t size,
                                 const char* name, std::vector<std::byte>& target) {
    if (packed > rest.size()) throw BlockError(fmt::format("its {} are cut off", name));
    const auto stored = rest.first(packed);
    rest = rest.subspan(packed);
    if (target.size() <= size) target.resize(size + 1);
    if (packed == size) {
        std::copy(stored.begin(), stored.end(), target.begin());
        return;
    }
    const int result = LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()),
                                           reinterpret_cast<char*>(target.data()), static_cast<int>(stored.size()),
                                           static_cast<int>(size));
    if (result < 0) throw BlockError(fmt::format("its {} cannot be decompressed", name));
    if (static_cast<std::size_t>(result) != size)
        throw BlockError(fmt::format("its {} are {} bytes instead of {}", name, result, size));
}

void BlockDecoder::State::unpack_all(std::span<const std::byte> bytes, const Header& header) {
    const bool sizes_fit = header.references <= largest_block_references &&
                           header.delta_bytes <= std::uint64_t{8} * header.references &&
                           header.changes <= header.references && header.traits <= header.changes &&
                           header.controls <= largest_block_controls && header.reserved == 0;
    if (!sizes_fit) throw BlockError("its sizes are out of range");
    auto rest = bytes.subspan(sizeof(Header));
    const std::size_t room = std::size_t{8} * header.references + spare_bytes;
    if (deltas.size() < room) deltas.resize(room);
    unpack(rest, header.packed[0], header.references, "codes", codes);
    unpack(rest, header.packed[1], header.delta_bytes, "deltas", deltas);
    unpack(rest, header.packed[2], std::size_t{2} * header.changes + std::size_t{8} * header.traits, "traits", traits);
    unpack(rest, header.packed[3], sizeof(StoredControl) * header.controls, "controls", controls);
    if (!rest.empty()) throw BlockError(fmt::format("{} bytes are left over at its end", rest.size()));
}

/// Changes beyond the stated ones refer to the first entry of the table: the hot loop may read them, but then fails.
void BlockDecoder::State::read_traits(const Header& header) {
    changes.assign(header.references + std::size_t{1}, 0);
    table.assign(std::max<std::size_t>(header.traits, 1), 0);
    std::memcpy(changes.data(), traits.data(), std::size_t{2} * header.changes);
    std::memcpy(table.data(), traits.data() + std::size_t{2} * header.changes, std::size_t{8} * header.traits);
    for (std::size_t i = 0; i < header.changes; ++i)
        if (changes[i] >= header.traits) throw BlockError("a reference has traits that its table lacks");
    for (std::size_t i = 0; i < header.traits; ++i)
        if (!traits_valid(table[i])) throw BlockError("its table has a size of 0 or an unknown kind of reference");
}

void BlockDecoder::State::read_controls(const Header& header, ReferenceBlock& block) const {
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < header.controls; ++i) {
        StoredControl stored;
        std::memcpy(&stored, controls.data() + i * sizeof stored, sizeof stored);
        if (stored.position < last || stored.position > header.references)
            throw BlockError("its controls are out of order");
        const auto kind = static_cast<Control::Kind>(stored.kind);
        if (stored.kind > 255 || kind == Control::Kind::none || kind >= Control::Kind::end)
            throw BlockError(fmt::format("it has a control of unknown kind {}", stored.kind));
        block.controls.push_back({stored.position, {kind, stored.argument}});
        last = stored.position;
    }
}

void BlockDecoder::decode(std::span<const std::byte> bytes, ReferenceBlock& block) {
    Header header;
    if (bytes.size() < sizeof header) throw BlockError("it is shorter than a header");
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.checksum != hash_bytes(bytes.subspan(sizeof header.checksum)))
        throw BlockError("its checksum is wrong: the bytes were changed since they were written");

    State& state = *state_;
    state.unpack_all(bytes, header);
    const auto codes = std::span<const std::byte>(state.codes).first(header.references);
    state.read_traits(header);

    Position at{state.deltas.data(), state.changes.data(), block.start(header.references)};
    state.read_controls(header, block);
    reconstruct(at, codes, state.table.data());
    if (at.delta != state.deltas.data() + header.delta_bytes || at.change != state.changes.data() + header.changes)
        throw BlockError("its codes ask for other deltas or traits than there are");
    block.set_size(header.references);
    block.data_only = std::none_of(state.table.begin(), state.table.end(), traits_of_fetch);
    // Later references have their traits from the table or from one of these.
    for (const Reference& reference : block.references().first(std::min(block.size(), ReferenceBlock::lead)))
        if (reference.size == 0) throw BlockError("a reference has no size");
    if (at.seen[0] >= ~Address{0} - 65535) check_ends(block.references());
}

}  // namespace cachetally

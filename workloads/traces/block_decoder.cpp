// SPDX-License-Identifier: BSD-3-Clause
// Unpacking of blocks: everything is checked before or after the hot loops, nothing in them.
#include <fmt/format.h>
#include <lz4.h>

#include <algorithm>
#include <utility>

#include "storage/hash.hpp"
#include "workloads/traces/block_codec.hpp"
#include "workloads/traces/block_layout.hpp"
#include "workloads/traces/block_loops.hpp"

namespace cachetally {
namespace {

using namespace block_layout;
using block_loops::slack;
using Bytes = std::vector<std::uint8_t>;

/// A block as stored: its header, and where its streams are.
struct Stored {
    Header header;
    std::array<std::span<const std::byte>, stream_count> streams;
    std::array<std::size_t, stream_count> sizes;  ///< unpacked

    explicit Stored(std::span<const std::byte> bytes) {
        if (bytes.size() < sizeof header) throw BlockError("it is shorter than a header");
        std::memcpy(&header, bytes.data(), sizeof header);
        if (header.checksum != hash_bytes(bytes.subspan(sizeof header.checksum)))
            throw BlockError("its checksum is wrong: the bytes were changed since they were written");
        set_sizes();
        auto rest = bytes.subspan(sizeof header);
        for (std::size_t i = 0; i < stream_count; ++i) {
            if (header.packed[i] > rest.size()) throw BlockError(fmt::format("its {} are cut off", stream_names[i]));
            streams[i] = rest.first(header.packed[i]);
            rest = rest.subspan(header.packed[i]);
        }
        if (!rest.empty()) throw BlockError(fmt::format("{} bytes are left over at its end", rest.size()));
    }

    bool wide() const { return (header.flags & header_flag::wide_traits) != 0; }
    bool data_only() const { return (header.flags & header_flag::data_only) != 0; }

    void unpack(Stream stream, std::uint8_t* target) const;
    void unpack(Stream stream, Bytes& target) const;

private:
    void set_sizes() {
        const Header& h = header;
        const bool fit = h.references <= largest_block_references && h.kept <= h.references &&
                         h.delta_bytes <= std::uint64_t{8} * h.kept && h.traits <= h.references &&
                         (h.references == 0 || h.traits > 0) && (h.traits <= 256 || wide()) &&
                         h.controls <= largest_block_controls && h.flags <= header_flag::all && h.reserved == 0;
        if (!fit) throw BlockError("its sizes are out of range");
        const std::size_t index = wide() ? 2 : 1, left = h.references - h.kept;
        sizes = {h.references,
                 h.kept,
                 h.delta_bytes,
                 h.kept * index,
                 left,
                 left * index,
                 8 * std::size_t{h.traits} + sizeof(StoredControl) * h.controls};
    }
};

/// The target has room for all of the stream.
void Stored::unpack(Stream stream, std::uint8_t* target) const {
    const auto i = static_cast<std::size_t>(stream);
    const auto stored = streams[i];
    if (stored.size() == sizes[i]) {
        std::copy(stored.begin(), stored.end(), reinterpret_cast<std::byte*>(target));
        return;
    }
    const int result =
        LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()), reinterpret_cast<char*>(target),
                            static_cast<int>(stored.size()), static_cast<int>(sizes[i]));
    if (result < 0) throw BlockError(fmt::format("its {} cannot be decompressed", stream_names[i]));
    if (static_cast<std::size_t>(result) != sizes[i])
        throw BlockError(fmt::format("its {} are {} bytes instead of {}", stream_names[i], result, sizes[i]));
}

void Stored::unpack(Stream stream, Bytes& target) const {
    const std::size_t room = sizes[static_cast<std::size_t>(stream)] + slack;
    if (target.size() < room) target.resize(room);
    unpack(stream, target.data());
}

/// A code points to its own delta, or to any of the 8 bytes per kept reference behind it.
void check_ends(std::span<const Reference> references) {
    for (const Reference& reference : references)
        if (reference.address + (reference.size - 1U) < reference.address)
            throw BlockError("a reference runs beyond the end of the address space");
}

}  // namespace

struct BlockDecoder::State {
    Bytes marks, codes, deltas, kept_traits, offsets, left_traits, tables;
    std::vector<Address> kept;
    std::vector<std::uint64_t> table;
    std::vector<PlacedControl> controls;

    void read_tables(const Stored& stored);
    void read_kept(const Stored& stored, std::span<const std::uint8_t> marks_seen);
    void check_indices(const Stored& stored, Stream stream, const Bytes& indices) const;
    std::uint64_t traits_of_kept(const Stored& stored, std::size_t i) const;
    void make_whole(const Stored& stored, ReferenceBlock& block);
    void make_sieved(const Stored& stored, ReferenceBlock& block);
    const Address* kept_addresses() const { return kept.data() + lead; }
};

BlockDecoder::BlockDecoder() : state_(std::make_unique<State>()) {}
BlockDecoder::~BlockDecoder() = default;
BlockDecoder::BlockDecoder(BlockDecoder&&) noexcept = default;
BlockDecoder& BlockDecoder::operator=(BlockDecoder&&) noexcept = default;

void BlockDecoder::State::read_tables(const Stored& stored) {
    stored.unpack(Stream::tables, tables);
    const Header& header = stored.header;
    table.resize(header.traits);
    if (!table.empty()) std::memcpy(table.data(), tables.data(), table.size() * sizeof table[0]);
    if (!std::ranges::all_of(table, traits_valid))
        throw BlockError("its table has a size of 0 or an unknown kind of reference");
    if (stored.data_only() != std::ranges::none_of(table, traits_of_fetch))
        throw BlockError("it has fetches and says that it has none, or the other way round");
    controls.clear();
    for (std::size_t i = 0; i < header.controls; ++i) {
        StoredControl control;
        std::memcpy(&control, tables.data() + 8 * std::size_t{header.traits} + i * sizeof control, sizeof control);
        const auto kind = static_cast<Control::Kind>(control.kind);
        if (control.position > header.references || (i > 0 && control.position < controls.back().position))
            throw BlockError("its controls are out of order");
        if (control.kind > 255 || kind == Control::Kind::none || kind >= Control::Kind::end)
            throw BlockError(fmt::format("it has a control of unknown kind {}", control.kind));
        controls.push_back({control.position, {kind, control.argument}});
    }
}

/// The addresses of kept references, once it is sure that there are as many as the marks say.
void BlockDecoder::State::read_kept(const Stored& stored, std::span<const std::uint8_t> marks_seen) {
    const block_loops::MarkCounts counts = block_loops::count_marks(marks_seen);
    if (!counts.valid || counts.kept != stored.header.kept)
        throw BlockError("its marks are not those of its kept references");
    stored.unpack(Stream::codes, codes);
    const std::size_t room = std::size_t{8} * stored.header.kept + slack;
    if (deltas.size() < room) deltas.resize(room);
    stored.unpack(Stream::deltas, deltas);
    if (kept.size() < lead + stored.header.kept + 1) kept.resize(lead + stored.header.kept + 1);
    const std::uint8_t* const used =
        block_loops::add_deltas(std::span(codes).first(stored.header.kept), deltas.data(), kept.data() + lead);
    if (used != deltas.data() + stored.header.delta_bytes)
        throw BlockError("its codes ask for other deltas than there are");
}

void BlockDecoder::State::check_indices(const Stored& stored, Stream stream, const Bytes& indices) const {
    const std::size_t bytes = stored.sizes[static_cast<std::size_t>(stream)];
    std::uint32_t most = 0;
    if (stored.wide()) {
        for (std::size_t i = 0; i < bytes; i += 2)
            most = std::max<std::uint32_t>(most, indices[i] | static_cast<unsigned>(indices[i + 1]) << 8);
    } else {
        for (std::size_t i = 0; i < bytes; ++i) most = std::max<std::uint32_t>(most, indices[i]);
    }
    if (bytes != 0 && most >= table.size()) throw BlockError("a reference has traits that its table lacks");
}

void BlockDecoder::State::make_whole(const Stored& stored, ReferenceBlock& block) {
    const std::size_t size = stored.header.references;
    stored.unpack(Stream::marks, marks);
    read_kept(stored, std::span(marks).first(size));
    stored.unpack(Stream::kept_traits, kept_traits);
    stored.unpack(Stream::left_traits, left_traits);
    stored.unpack(Stream::offsets, offsets);
    check_indices(stored, Stream::kept_traits, kept_traits);
    check_indices(stored, Stream::left_traits, left_traits);
    if (table.empty()) table.push_back(0);
    Reference* const target = block.start(size);
    const block_loops::Merged merged = block_loops::merge({.marks = std::span(marks).first(size),
                                                           .codes = codes.data(),
                                                           .kept = kept_addresses(),
                                                           .offsets = offsets.data(),
                                                           .kept_traits = kept_traits.data(),
                                                           .left_traits = left_traits.data(),
                                                           .wide = stored.wide(),
                                                           .table = table.data()},
                                                          target);
    if (!merged.consistent) throw BlockError("a reference is not in the line, or not of the kind, that its mark says");
    block.set_size(size);
    if (merged.addresses >= ~Address{0} - 65535) check_ends(block.references());
}

std::uint64_t BlockDecoder::State::traits_of_kept(const Stored& stored, std::size_t i) const {
    const std::size_t index =
        stored.wide() ? kept_traits[2 * i] | static_cast<unsigned>(kept_traits[2 * i + 1]) << 8 : kept_traits[i];
    return table[index];
}

namespace {

/// Cuts a sieved block into stretches: at its controls, at references that straddle lines, and by length.
class Cutter {
public:
    Cutter(SievedReferences& target, std::span<const std::uint8_t> codes) : target_(target), codes_(codes) {}

    /// From where the last one ended up to a position, without straddling references.
    void cut(std::size_t end) {
        while (position_ < end) add(std::min(end, position_ + Stretch::most));
    }

    /// The next one straddles lines.
    void straddle(const Reference& reference) {
        if (target_.stretches.empty() || target_.stretches.back().straddling != nullptr || cut_off_)
            target_.stretches.push_back({});
        cut_off_ = false;
        target_.straddling.push_back(reference);
        target_.stretches.back().straddling = &target_.straddling.back();
        ++position_, ++kept_;
    }

    /// What comes now is of another batch.
    void cut_off() { cut_off_ = true; }

    std::size_t kept() const { return kept_; }

private:
    void add(std::size_t end) {
        Stretch stretch;
        stretch.marks = std::span(target_.marks).subspan(position_, end - position_);
        const auto [kept, left_stores, valid] = block_loops::count_marks(stretch.marks);
        const std::uint32_t stores = left_stores + block_loops::count_stores(codes_.subspan(kept_, kept));
        stretch.lines = std::span(target_.lines).subspan(kept_, kept);
        stretch.kinds = {static_cast<std::uint32_t>(stretch.marks.size()) - stores, stores, 0};
        target_.stretches.push_back(stretch);
        cut_off_ = false;
        position_ = end;
        kept_ += kept;
    }

    SievedReferences& target_;
    std::span<const std::uint8_t> codes_;
    bool cut_off_ = false;
    std::size_t position_ = 0, kept_ = 0;
};

}  // namespace

void BlockDecoder::State::make_sieved(const Stored& stored, ReferenceBlock& block) {
    const std::size_t size = stored.header.references;
    block.clear();
    block.is_sieved = true;
    SievedReferences& sieved = block.sieved;
    stored.unpack(Stream::marks, sieved.marks);
    const auto all = std::span(std::as_const(sieved.marks)).first(size);
    read_kept(stored, all);
    if (sieved.lines.size() <= stored.header.kept) sieved.lines.resize(stored.header.kept + 1);
    sieved.stretches.clear(), sieved.straddling.clear();
    constexpr std::uint8_t straddling = sieve_mark::kept | sieve_mark::straddles;
    const auto straddling_count = static_cast<std::size_t>(std::ranges::count(all, straddling));
    sieved.straddling.reserve(straddling_count);
    if (straddling_count != 0) {
        stored.unpack(Stream::kept_traits, kept_traits);
        check_indices(stored, Stream::kept_traits, kept_traits);
    }
    block_loops::find_lines(std::span(codes).first(stored.header.kept), kept_addresses(), sieved.lines.data());

    Cutter cutter(sieved, std::span(codes).first(stored.header.kept));
    std::size_t begin = 0;
    const auto cut = [&](std::size_t end) {
        for (; straddling_count != 0; ++begin) {
            const auto next = std::ranges::find(all.subspan(begin, end - begin), straddling);
            begin = static_cast<std::size_t>(next - all.begin());
            cutter.cut(begin);
            if (begin == end) break;
            cutter.straddle(reference_of(kept_addresses()[cutter.kept()], traits_of_kept(stored, cutter.kept())));
        }
        cutter.cut(end);
        begin = end;
    };
    for (const PlacedControl& placed : controls) {
        cut(placed.position);
        cutter.cut_off();
    }
    cut(size);
    check_ends(sieved.straddling);
    block.found = sieved.stretches;
    block.set_size(size);
}

void BlockDecoder::decode(std::span<const std::byte> bytes, ReferenceBlock& block, LineWish wish) {
    State& state = *state_;
    const Stored stored(bytes);
    state.read_tables(stored);
    if (wish.sieved && wish.line_bytes == Sieve::line_bytes && stored.data_only()) {
        state.make_sieved(stored, block);
    } else {
        state.make_whole(stored, block);
    }
    block.controls = state.controls;
    block.data_only = stored.data_only();
}

}  // namespace cachetally

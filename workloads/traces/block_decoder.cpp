// SPDX-License-Identifier: BSD-3-Clause
// Unpacking of blocks: everything is checked before or after the hot loops, nothing in them.
#include <lz4.h>

#include <algorithm>
#include <utility>

#include "sim/model/batching/mark_counts.hpp"
#include "storage/hash.hpp"
#include "workloads/traces/block.hpp"
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
            if (header.packed[i] > rest.size()) throw BlockError("its {} are cut off", stream_names[i]);
            streams[i] = rest.first(header.packed[i]);
            rest = rest.subspan(header.packed[i]);
        }
        if (!rest.empty()) throw BlockError("{} bytes are left over at its end", rest.size());
    }

    bool wide() const { return (header.flags & header_flag::wide_traits) != 0; }
    bool data_only() const { return (header.flags & header_flag::data_only) != 0; }

    /// The target has room for all of the stream.
    void unpack(Stream stream, std::uint8_t* target) const {
        const auto i = static_cast<std::size_t>(stream);
        const auto stored = streams[i];
        if (stored.size() == sizes[i]) {
            std::copy(stored.begin(), stored.end(), reinterpret_cast<std::byte*>(target));
            return;
        }
        const int result =
            LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()), reinterpret_cast<char*>(target),
                                static_cast<int>(stored.size()), static_cast<int>(sizes[i]));
        if (result < 0) throw BlockError("its {} cannot be decompressed", stream_names[i]);
        if (static_cast<std::size_t>(result) != sizes[i])
            throw BlockError("its {} are {} bytes instead of {}", stream_names[i], result, sizes[i]);
    }

    void unpack(Stream stream, Bytes& target) const {
        const std::size_t room = sizes[static_cast<std::size_t>(stream)] + slack;
        if (target.size() < room) target.resize(room);
        unpack(stream, target.data());
    }

private:
    void set_sizes() {
        const Header& h = header;
        const bool fit = h.references <= largest_block_references && h.retained <= h.references &&
                         h.delta_bytes <= std::uint64_t{8} * h.retained && h.traits <= h.references &&
                         (h.references == 0 || h.traits > 0) && (h.traits <= 256 || wide()) &&
                         h.controls <= largest_block_controls && h.flags <= header_flag::all && h.reserved == 0;
        if (!fit) throw BlockError("its sizes are out of range");
        const std::size_t index = wide() ? 2 : 1, left = h.references - h.retained;
        sizes = {h.references,
                 h.retained,
                 h.delta_bytes,
                 h.retained * index,
                 left,
                 left * index,
                 8 * std::size_t{h.traits} + sizeof(StoredControl) * h.controls};
    }
};

void check_ends(std::span<const Reference> references) {
    for (const Reference& reference : references)
        if (reference.address + (reference.size - 1U) < reference.address)
            throw BlockError("a reference runs beyond the end of the address space");
}

/// An access to a line of a reference that straddles lines, but for the first.
struct FurtherLine {
    std::size_t reference;  ///< of the block
    std::size_t mark;       ///< of the accesses
};

/// Cuts filtered accesses into blocks: at controls, and by length. Spans are set when all have their places.
class Cutter {
public:
    /// `further`: accesses that are further lines of a reference, by mark.
    Cutter(FilteredReferences& target, std::span<const FurtherLine> further) : target_(target), further_(further) {
        target_.blocks.clear();
    }

    /// From where the last one ended up to a mark.
    void cut(std::size_t end) {
        while (mark_ < end) {
            const std::size_t size = std::min(end - mark_, FilteredBlock::most);
            const auto marks = std::span(std::as_const(target_.data.marks)).subspan(mark_, size);
            const FilteredAccesses::Redundant redundant = count_redundant(marks);
            const std::size_t retained = size - redundant.all();
            FilteredBlock& block = target_.blocks.emplace_back();
            block.data.marks = marks;
            block.data.retained = std::span(std::as_const(target_.data.retained)).subspan(retained_, retained);
            block.data.redundant = redundant;
            block.references = static_cast<std::uint32_t>(size);
            mark_ += size;
            retained_ += retained;
            for (; !further_.empty() && further_.front().mark < mark_; further_ = further_.subspan(1))
                --block.references;
        }
    }

private:
    FilteredReferences& target_;
    std::span<const FurtherLine> further_;
    std::size_t mark_ = 0, retained_ = 0;
};

}  // namespace

struct BlockDecoder::State {
    Bytes marks, codes, deltas, retained_traits, offsets, redundant_traits, tables;
    std::vector<Address> retained;
    std::vector<std::uint64_t> table;
    std::vector<PlacedControl> controls;

    void read_tables(const Stored& stored) {
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
                throw BlockError("it has a control of unknown kind {}", control.kind);
            controls.push_back({control.position, {kind, control.argument}});
        }
    }

    /// The addresses of retained references, once it is sure that there are as many as the marks say.
    void read_retained(const Stored& stored, std::span<const std::uint8_t> marks_seen) {
        const MarkCounts counts = count_marks(marks_seen);
        constexpr std::uint8_t meaningless = 0xff & ~(filter_mark::retained | packed_mark::straddles);
        if ((counts.retained_bits & meaningless) != 0 || counts.fetches != 0 ||
            counts.retained != stored.header.retained)
            throw BlockError("its marks are not those of its retained references");
        stored.unpack(Stream::codes, codes);
        // A code points to its own delta, or to any of the 8 bytes per retained reference behind it.
        const std::size_t room = std::size_t{8} * stored.header.retained + slack;
        if (deltas.size() < room) deltas.resize(room);
        stored.unpack(Stream::deltas, deltas);
        if (retained.size() < lead + stored.header.retained + 1) retained.resize(lead + stored.header.retained + 1);
        const std::uint8_t* const used = block_loops::add_deltas(std::span(codes).first(stored.header.retained),
                                                                 deltas.data(), retained.data() + lead);
        if (used != deltas.data() + stored.header.delta_bytes)
            throw BlockError("its codes ask for other deltas than there are");
    }

    void check_indices(const Stored& stored, Stream stream, const Bytes& indices) const {
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

    std::uint64_t traits_of_retained(const Stored& stored, std::size_t i) const {
        const std::size_t index = stored.wide()
                                      ? retained_traits[2 * i] | static_cast<unsigned>(retained_traits[2 * i + 1]) << 8
                                      : retained_traits[i];
        return table[index];
    }

    void make_whole(const Stored& stored, ReferenceBlock& block) {
        const std::size_t size = stored.header.references;
        stored.unpack(Stream::marks, marks);
        read_retained(stored, std::span(marks).first(size));
        stored.unpack(Stream::retained_traits, retained_traits);
        stored.unpack(Stream::redundant_traits, redundant_traits);
        stored.unpack(Stream::offsets, offsets);
        check_indices(stored, Stream::retained_traits, retained_traits);
        check_indices(stored, Stream::redundant_traits, redundant_traits);
        if (table.empty()) table.push_back(0);
        Reference* const target = block.start(size);
        const block_loops::Merged merged = block_loops::merge({.marks = std::span(marks).first(size),
                                                               .codes = codes.data(),
                                                               .retained = retained_addresses(),
                                                               .offsets = offsets.data(),
                                                               .retained_traits = retained_traits.data(),
                                                               .redundant_traits = redundant_traits.data(),
                                                               .wide = stored.wide(),
                                                               .table = table.data()},
                                                              target);
        if (!merged.consistent)
            throw BlockError("a reference is not in the line, or not of the kind, that its mark says");
        block.set_size(size);
        if (merged.addresses >= ~Address{0} - 65535) check_ends(block.references());
    }

    /// References that straddle lines become as many retained accesses. Returns all but the first of each.
    std::vector<FurtherLine> part_straddling(const Stored& stored, FilteredReferences& filtered) {
        constexpr std::uint8_t straddling = filter_mark::retained | packed_mark::straddles;
        std::vector<FurtherLine> extra;
        const auto all = std::span(std::as_const(marks)).first(stored.header.references);
        if (std::memchr(all.data(), straddling, all.size()) == nullptr) return extra;
        stored.unpack(Stream::retained_traits, retained_traits);
        check_indices(stored, Stream::retained_traits, retained_traits);
        std::vector<std::uint8_t>& parted = filtered.data.marks;
        std::vector<BlockEvent>& parted_retained = filtered.data.retained;
        parted.clear();
        parted_retained.clear();
        std::size_t retained_index = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::uint8_t mark = all[i];
            parted.push_back(mark);
            if (packed_mark::is_retained(mark) == 0) continue;
            const Reference reference =
                reference_of(retained_addresses()[retained_index], traits_of_retained(stored, retained_index));
            ++retained_index;
            constexpr Address line = PackedFilter::line_bytes;
            const auto kind = static_cast<EventKind>(reference.kind);
            Address at = align_down(reference.address, line);
            parted_retained.emplace_back(at, kind);
            if (mark != straddling) continue;
            parted.back() = filter_mark::retained;
            check_ends({&reference, 1});
            for (const Address last = last_byte(reference); last - at >= line;) {
                extra.push_back({i, parted.size()});
                parted.push_back(filter_mark::retained);
                parted_retained.emplace_back(at += line, kind);
            }
        }
        return extra;
    }

    void make_filtered(const Stored& stored, ReferenceBlock& block) {
        const std::size_t size = stored.header.references;
        block.clear();
        block.is_filtered = true;
        FilteredReferences& filtered = block.filtered;
        stored.unpack(Stream::marks, marks);
        read_retained(stored, std::span(std::as_const(marks)).first(size));
        const auto extra = part_straddling(stored, filtered);
        if (extra.empty()) {
            filtered.data.marks.swap(marks);
            filtered.data.marks.resize(size);
            filtered.data.retained.resize(stored.header.retained);
            block_loops::find_lines(std::span(codes).first(stored.header.retained), retained_addresses(),
                                    filtered.data.retained.data());
        }
        Cutter cutter(filtered, extra);
        std::size_t further = 0;
        const auto cut = [&](std::size_t position) {
            while (further < extra.size() && extra[further].reference < position) ++further;
            cutter.cut(position + further);
        };
        for (const PlacedControl& placed : controls) cut(placed.position);
        cut(size);
        block.set_size(size);
    }

    const Address* retained_addresses() const { return retained.data() + lead; }
};

BlockDecoder::BlockDecoder() : state_(std::make_unique<State>()) {}
BlockDecoder::~BlockDecoder() = default;

void BlockDecoder::decode(std::span<const std::byte> bytes, ReferenceBlock& block,
                          const std::optional<FilterPlan>& wish) {
    State& state = *state_;
    const Stored stored(bytes);
    state.read_tables(stored);
    if (wish && !wish->sites && packed_shape.serves(wish->data) && stored.data_only()) {
        state.make_filtered(stored, block);
    } else {
        state.make_whole(stored, block);
    }
    block.controls = state.controls;
    block.data_only = stored.data_only();
}

}  // namespace cachetally

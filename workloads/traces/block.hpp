// SPDX-License-Identifier: BSD-3-Clause
// Blocks of references, and their packed form; docs/traces.md says exactly what the bytes mean.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "cachetally/error.hpp"
#include "cachetally/reference.hpp"
#include "cachetally/reference_source.hpp"
#include "sim/model/batching/redundancy_filter.hpp"

namespace cachetally {

/// Tells redundant references (FilterShape) with the slots of packed_shape. One that straddles lines never is, and
/// its other lines and pages leave their slots empty.
class PackedFilter {
public:
    static constexpr unsigned lines = 64, line_bytes = 64;    ///< for caches of a multiple of 64 sets of 64-byte lines
    static constexpr unsigned pages = 16, page_bytes = 4096;  ///< for TLBs of a multiple of 16 sets of 4 KiB pages

    static constexpr unsigned slot_of(Address address) { return address / line_bytes % lines; }

    /// More than one line is touched.
    static constexpr bool straddles(const Reference& reference) {
        return reference.address % line_bytes + reference.size > line_bytes;
    }

    PackedFilter() {
        lines_.fill(none);
        pages_.fill(none);
    }

    /// Takes the next reference.
    bool is_redundant(const Reference& reference) {
        if (!straddles(reference))
            return is_redundant_in_line(reference.address, reference.kind == ReferenceKind::store ? 1 : 0) != 0;
        pass_straddling(reference);
        return false;
    }

    /// The same for one that does not straddle lines; `stores` and what is returned are 0 or 1. Without branches, and
    /// for code without them: which are redundant is hard to predict. Little waits for the reference before.
    std::uint64_t is_redundant_in_line(Address address, std::uint64_t stores) {
        const Address number = address / line_bytes, page = address / page_bytes;
        Address &line = lines_[slot_of(address)], &last_page = pages_[page % pages];
        std::uint64_t& stored = stored_[slot_of(address)];
        const std::uint64_t is_present = ((line ^ number) | (last_page ^ page)) == 0 ? 1 : 0;
        const std::uint64_t redundant = is_present & (stored | (stores ^ 1U));
        line = number;
        last_page = page;
        stored = stores | (stored & is_present);
        return redundant;
    }

    /// The same for one that does, which is not redundant.
    void pass_straddling(const Reference& reference);

private:
    static constexpr Address none = ~Address{0};

    std::array<Address, lines> lines_;
    std::array<Address, pages> pages_;
    std::array<std::uint64_t, lines> stored_{};  ///< 1: the last retained reference of the line is a store
};

/// Marks of the packed format are those of filters; a retained one that straddles lines says so.
namespace packed_mark {
inline constexpr std::uint8_t straddles = 0x01;

/// 1 or 0, for sums: marks of data only.
constexpr unsigned is_retained(std::uint8_t mark) { return mark / filter_mark::retained & 1U; }
}  // namespace packed_mark

/// A control and the number of references of its block that come before it.
struct PlacedControl {
    std::uint32_t position = 0;
    Control control;
    friend bool operator==(const PlacedControl&, const PlacedControl&) = default;
};

/// References of a block as a redundancy filter leaves them.
struct FilteredReferences {
    /// Of FilteredAccesses.
    struct Accesses {
        std::vector<std::uint8_t> marks;
        std::vector<BlockEvent> retained;
        std::vector<std::uint16_t> positions, mark_positions;
        std::vector<std::uint32_t> retained_sites, sites;
    };
    Accesses data, fetches;
    std::vector<FilteredBlock> blocks;
};

/// A piece of one stream, whole or filtered. Its memory is kept from one use to the next.
class ReferenceBlock {
public:
    /// Forgets everything before.
    void clear() {
        size_ = 0;
        controls.clear();
        last = data_only = is_filtered = false;
    }

    /// Room for so many references, to be filled and then announced by set_size(). Forgets everything before.
    Reference* start(std::size_t capacity) {
        clear();
        if (storage_.size() < capacity) storage_.resize(capacity);
        return storage_.data();
    }
    void set_size(std::size_t size) { size_ = size; }
    std::size_t size() const { return size_; }

    /// None if it is filtered.
    std::span<const Reference> references() const { return {storage_.data(), is_filtered ? 0 : size_}; }
    std::span<Reference> references() { return {storage_.data(), is_filtered ? 0 : size_}; }

    std::vector<PlacedControl> controls;  ///< ascending by position
    bool last = false;                    ///< the stream is over after this block
    bool data_only = false;               ///< known to hold no instruction fetches
    bool is_filtered = false;
    FilteredReferences filtered;

    /// Filters the references; each block lies between two controls.
    void filter(RedundancyFilter& filter);

    /// The same piece by piece: adds those of another block, its controls and whether it is the last.
    void start_filtering();
    void add_filtered(const ReferenceBlock& piece, RedundancyFilter& filter);
    void end_filtering();

private:
    void append_filtered(const ReferenceBlock& piece, RedundancyFilter& filter);

    std::vector<Reference> storage_;
    std::size_t size_ = 0;
};

/// Removes instruction fetches and moves the controls accordingly.
void keep_data_only(ReferenceBlock& block);

/// One stream as blocks, for BlockSource.
class BlockProducer {
public:
    virtual ~BlockProducer() = default;

    /// Fills the next block, filtered if it can be so as is wished; not called again after one that is `last`.
    /// Throws std::runtime_error where the trace is damaged, after all references before the damage were handed over.
    virtual void produce(ReferenceBlock& block, const std::optional<FilterPlan>& wish) = 0;

    /// Makes a call of produce() that waits for input return or throw soon. May be called by another thread.
    virtual void cancel() {}

    /// Fraction of the stream that was handed over, 0..1; negative where it is not known. By any thread.
    virtual double progress() const { return -1.0; }
};

/// Limits of a block, so that damaged sizes cannot ask for much memory.
inline constexpr std::size_t largest_block_references = 65536;
inline constexpr std::size_t largest_block_controls = 65536;

/// Default of BlockEncoder: the effort of LZ4 HC, 1 to 12 (smallest); 0: plain LZ4, fastest to write.
inline constexpr int default_packing_level = 6;

/// What is wrong with a packed block.
class BlockError : public Formatted<std::runtime_error> {
public:
    using Formatted::Formatted;
};

/// Packs blocks. References that a PackedFilter retains are coded against one of the 16 retained before them, the one
/// that needs fewest bytes (level 0: of a few); redundant ones against the last reference to their line (ours).
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

/// What a trace knows besides references.
struct TraceTables {
    std::vector<Region> regions;
    std::vector<std::string> functions;
    std::shared_ptr<const SiteTable> sites = nullptr;  ///< null: numbers of statements
    SiteNames site_names = {};
    std::vector<std::string> phase_names = {};
    friend bool operator==(const TraceTables&, const TraceTables&) = default;
};

/// A source of one stream per producer. With `ahead`, one thread of its own keeps some blocks of every stream ready;
/// what it throws is thrown by next() when everything before it was handed over.
std::unique_ptr<ReferenceSource> make_block_source(std::vector<std::unique_ptr<BlockProducer>> producers,
                                                   TraceTables tables, bool ahead);

}  // namespace cachetally

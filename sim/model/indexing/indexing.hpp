// SPDX-License-Identifier: BSD-3-Clause
// IndexingPolicy: which set a line belongs to.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cachetally/machine.hpp"
#include "cachetally/types.hpp"
#include "sim/model/indexing/table.hpp"

namespace cachetally {

/// An indexing function: of the number of a line (its address by its bytes) and the bits of a set's number, 1 to 63;
/// the set is the low bits of the result. Pure: it is called whenever a line is looked for.
using IndexingFunction = std::uint64_t (*)(std::uint64_t number, unsigned width);

/// A slice of a cache: of the number of a line of 2^line_bits bytes, the sets of a slice and the number of slices.
/// Pure; below `slices`. Within its slice the set is the line's number modulo the sets of a slice.
using SliceFunction = std::uint64_t (*)(std::uint64_t number, unsigned line_bits, std::uint64_t sets,
                                        std::uint64_t slices);

/// What is known of an indexing function; its number in the span is its enumerator. The first is `modulo`.
struct IndexingRow {
    std::string_view name;
    IndexingFunction function;      ///< null: for any number of sets
    SliceFunction slice = nullptr;  ///< null: of one slice
};

#define CACHETALLY_ROW(name) {#name, name},
#define CACHETALLY_SLICED_ROW(name) {#name, nullptr, name},
inline constexpr IndexingRow built_in_indexings[] = {
    {"modulo", nullptr}, CACHETALLY_INDEXINGS(CACHETALLY_ROW) CACHETALLY_SLICINGS(CACHETALLY_SLICED_ROW)};
#undef CACHETALLY_ROW
#undef CACHETALLY_SLICED_ROW

/// The indexing functions of the program. A source of its own, so that a program may link another with more rows.
std::span<const IndexingRow> indexing_rows();
inline const IndexingRow& row_of(Indexing indexing) { return indexing_rows()[static_cast<std::size_t>(indexing)]; }

class IndexingPolicy {
public:
    /// `sets` of any number where the row has no function, else a power of two; `block` bytes, a power of two.
    /// `slices` where the row has slices: a divisor of the sets.
    IndexingPolicy(Indexing indexing, std::uint64_t sets, std::uint64_t block, unsigned slices = 0)
        : shift_(log2_exact(block)),
          sets_(sets),
          mask_(is_power_of_two(sets) ? sets - 1 : 0),
          width_(is_power_of_two(sets) ? log2_exact(sets) : 0),
          slices_(slices),
          sets_of_slice_(slices != 0 ? sets / slices : sets),
          function_(row_of(indexing).function),
          slice_(row_of(indexing).slice),
          kind_(sets == 1               ? Kind::single
                : slice_ != nullptr     ? Kind::slices
                : function_ != nullptr  ? Kind::function
                : is_power_of_two(sets) ? Kind::mask
                                        : Kind::divide) {}

    std::uint64_t set_of(Address address) const {
        const std::uint64_t number = address >> shift_;
        if (kind_ == Kind::mask) [[likely]]
            return number & mask_;
        if (kind_ == Kind::divide) return number % sets_;
        if (kind_ == Kind::single) return 0;
        if (kind_ == Kind::function) return function_(number, width_) & mask_;
        return slice_(number, shift_, sets_of_slice_, slices_) * sets_of_slice_ + number % sets_of_slice_;
    }

    std::uint64_t sets() const { return sets_; }

    /// True where the set is a field of the address; then field() finds it without a branch.
    bool is_field() const { return kind_ == Kind::mask || kind_ == Kind::single; }
    class Field {
    public:
        Field(unsigned shift, std::uint64_t mask) : shift_(shift), mask_(mask) {}
        std::uint64_t set_of(Address address) const { return address >> shift_ & mask_; }

    private:
        unsigned shift_;
        std::uint64_t mask_;
    };
    Field field() const { return {shift_, mask_}; }

private:
    enum class Kind : std::uint8_t { mask, divide, function, slices, single };

    unsigned shift_;
    std::uint64_t sets_, mask_;
    unsigned width_;
    std::uint64_t slices_, sets_of_slice_;
    IndexingFunction function_;
    SliceFunction slice_;
    Kind kind_;
};

}  // namespace cachetally

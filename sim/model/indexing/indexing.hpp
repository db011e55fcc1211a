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

/// What is known of an indexing function; its number in the span is its enumerator. The first is `modulo`.
struct IndexingRow {
    std::string_view name;
    IndexingFunction function;  ///< null: modulo, for any number of sets
};

#define CACHETALLY_ROW(name) {#name, name},
inline constexpr IndexingRow built_in_indexings[] = {{"modulo", nullptr}, CACHETALLY_INDEXINGS(CACHETALLY_ROW)};
#undef CACHETALLY_ROW

/// The indexing functions of the program. A source of its own, so that a program may link another with more rows.
std::span<const IndexingRow> indexing_rows();
inline const IndexingRow& row_of(Indexing indexing) { return indexing_rows()[static_cast<std::size_t>(indexing)]; }

class IndexingPolicy {
public:
    /// `sets` of any number with modulo, else a power of two; `block` bytes, a power of two.
    IndexingPolicy(Indexing indexing, std::uint64_t sets, std::uint64_t block)
        : shift_(log2_exact(block)),
          sets_(sets),
          mask_(is_power_of_two(sets) ? sets - 1 : 0),
          width_(is_power_of_two(sets) ? log2_exact(sets) : 0),
          function_(row_of(indexing).function),
          kind_(sets == 1               ? Kind::single
                : function_ != nullptr  ? Kind::function
                : is_power_of_two(sets) ? Kind::mask
                                        : Kind::divide) {}

    std::uint64_t set_of(Address address) const {
        const std::uint64_t number = address >> shift_;
        if (kind_ == Kind::mask) [[likely]]
            return number & mask_;
        if (kind_ == Kind::divide) return number % sets_;
        return kind_ == Kind::single ? 0 : function_(number, width_) & mask_;
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
    enum class Kind : std::uint8_t { mask, divide, function, single };

    unsigned shift_;
    std::uint64_t sets_, mask_;
    unsigned width_;
    IndexingFunction function_;
    Kind kind_;
};

}  // namespace cachetally

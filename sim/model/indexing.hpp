// SPDX-License-Identifier: BSD-3-Clause
// IndexingPolicy: which set a line belongs to.
#pragma once

#include "sim/model/types.hpp"
#include "sim/topology/machine.hpp"

namespace cachetally {

class IndexingPolicy {
public:
    /// `sets` of any number with modulo, a power of two with xor_hash; `block` bytes, a power of two.
    IndexingPolicy(Indexing indexing, std::uint64_t sets, std::uint64_t block)
        : shift_(log2_exact(block)),
          sets_(sets),
          mask_(is_power_of_two(sets) ? sets - 1 : 0),
          width_(is_power_of_two(sets) ? log2_exact(sets) : 0),
          kind_(sets == 1                        ? Kind::single
                : indexing == Indexing::xor_hash ? Kind::fold
                : is_power_of_two(sets)          ? Kind::mask
                                                 : Kind::divide) {}

    std::uint64_t set_of(Address address) const {
        const std::uint64_t number = address >> shift_;
        if (kind_ == Kind::mask) [[likely]]
            return number & mask_;
        if (kind_ == Kind::divide) return number % sets_;
        return kind_ == Kind::single ? 0 : fold(number);
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
    enum class Kind : std::uint8_t { mask, divide, fold, single };

    std::uint64_t fold(std::uint64_t number) const {
        std::uint64_t folded = 0;
        for (; number != 0; number >>= width_) folded ^= number;
        return folded & mask_;
    }

    unsigned shift_;
    std::uint64_t sets_, mask_;
    unsigned width_;
    Kind kind_;
};

}  // namespace cachetally

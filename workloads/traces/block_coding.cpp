// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/traces/block_coding.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace cachetally::block_coding {

using namespace block_layout;

bool TraitTable::data_only() const { return std::ranges::none_of(all_, traits_of_fetch); }

/// The entry that has them, or a free one.
TraitTable::Entry& TraitTable::find(std::uint64_t traits) {
    std::size_t place = place_of(traits);
    while (entries_[place].block == block_ && entries_[place].traits != traits) place = (place + 1) & mask_;
    return entries_[place];
}

void TraitTable::grow() {
    entries_.assign(4 * entries_.size(), {});
    mask_ = entries_.size() - 1;
    for (std::uint32_t index = 0; index < all_.size(); ++index) find(all_[index]) = {all_[index], block_, index};
}

std::uint16_t TraitTable::look_up(std::uint64_t traits) {
    Entry* entry = &find(traits);
    if (entry->block != block_) {
        if (!traits_valid(traits))
            throw std::invalid_argument("a reference of size 0 or of unknown kind cannot be packed");
        *entry = {traits, block_, static_cast<std::uint32_t>(all_.size())};
        all_.push_back(traits);
        if (4 * all_.size() > entries_.size()) grow();
        entry = &find(traits);
    }
    return static_cast<std::uint16_t>(entry->index);
}

namespace {

void check_end(const Reference& reference) {
    if (reference.address + (reference.size - 1U) < reference.address)
        throw std::invalid_argument("a reference that runs beyond the end of the address space cannot be packed");
}

/// `a` for 1, `b` for 0. Without a branch, which compilers make of conditional expressions.
std::uint64_t choose(std::uint64_t first, std::uint64_t a, std::uint64_t b) {
    return b ^ ((a ^ b) & (std::uint64_t{0} - first));
}

unsigned class_of(std::uint64_t delta) {
    const auto bytes = static_cast<unsigned>(std::bit_width(delta) + 7) / 8;
    return std::min(bytes, 7U);
}

/// `searched`: how far back. `least`: a smaller delta is taken for this one. Without branches, as what is best is hard
/// to predict; little waits for what the reference before has chosen.
template <unsigned searched, std::uint64_t least>
void code(CodedBlock& block) {
    std::uint64_t best = 0;
    std::uint8_t* deltas = block.deltas.data();
    for (std::size_t i = 0; i < block.retained; ++i) {
        const Address* const address = &block.addresses[lead + i];
        const auto delta_from = [&](std::uint64_t distance) { return zigzag(*address - *(address - 1 - distance)); };
        std::array<std::uint64_t, searched> from;
        std::uint64_t smallest = from[0] = delta_from(0);
        for (unsigned distance = 1; distance < searched; ++distance) {
            from[distance] = delta_from(distance);
            smallest = std::min(smallest, from[distance]);
        }
        const std::uint64_t largest = delta_mask[class_of(smallest | least)];  // that is as short
        unsigned longer = 0;
        for (unsigned distance = searched; distance-- > 0;) longer = 2 * longer + (largest < from[distance] ? 1 : 0);
        const auto nearest = static_cast<std::uint64_t>(std::countr_one(longer));
        best = choose(delta_from(best) <= largest ? 1 : 0, best, nearest);
        const std::uint64_t delta = delta_from(best);
        const unsigned length_class = class_of(delta);
        block.codes[i] = static_cast<std::uint8_t>(block.codes[i] | best | length_class << length_shift);
        std::memcpy(deltas, &delta, sizeof delta);
        deltas += delta_length[length_class];
    }
    block.delta_bytes = static_cast<std::size_t>(deltas - block.deltas.data());
}

}  // namespace

/// Without branches but for new traits and references that straddle lines: each is written as a retained one and as a
/// redundant one, and one of these is kept.
void split(std::span<const Reference> references, TraitTable& table, CodedBlock& block) {
    PackedFilter filter;
    std::array<std::uint8_t, PackedFilter::lines> last{};  // lowest byte of the last address in the slot
    std::fill_n(block.addresses.begin(), lead, 0);
    std::size_t redundant = 0;
    for (std::size_t i = 0; i < references.size(); ++i) {
        const Reference& reference = references[i];
        const Address address = reference.address;
        const std::uint64_t traits = traits_of(reference);
        const std::uint16_t index = table.index_of(traits);
        const std::uint64_t stores = kind_of_traits(traits) & 1, store_bit = stores << store_shift;
        const unsigned slot = PackedFilter::slot_of(address);
        std::uint64_t is_redundant = 0, mark = filter_mark::retained;
        if (PackedFilter::straddles(reference)) [[unlikely]] {
            check_end(reference);
            filter.pass_straddling(reference);
            mark |= packed_mark::straddles;
        } else {
            is_redundant = filter.is_redundant_in_line(address, stores);
        }
        static_assert(filter_mark::stores == 1U << store_shift);
        const std::size_t retained = i - redundant;
        block.marks[i] = static_cast<std::uint8_t>(choose(is_redundant, slot | store_bit, mark));
        block.addresses[lead + retained] = address;
        block.codes[retained] = static_cast<std::uint8_t>(store_bit);
        block.retained_traits[retained] = index;
        block.offsets[redundant] = static_cast<std::uint8_t>(address) - last[slot];
        block.redundant_traits[redundant] = index;
        last[slot] = static_cast<std::uint8_t>(address);
        redundant += is_redundant;
    }
    for (auto& offset : std::span(block.offsets).first(redundant))
        offset = static_cast<std::uint8_t>(zigzag(static_cast<std::uint64_t>(static_cast<std::int8_t>(offset))));
    block.references = references.size();
    block.retained = references.size() - redundant;
}

void code_retained(CodedBlock& block, bool fast) { fast ? code<4, 1>(block) : code<lead, 0>(block); }

}  // namespace cachetally::block_coding

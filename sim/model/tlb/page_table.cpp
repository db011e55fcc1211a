// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/tlb/page_table.hpp"

#include <algorithm>
#include <stdexcept>

namespace cachetally {

PageTable::PageTable(const PagesConfig& config, std::uint64_t memory_bytes)
    : config_(config),
      memory_bytes_(memory_bytes),
      default_bits_(log2_exact(config.size)),
      tables_(config.mapping == Mapping::identity ? Address{1} << 52
                                                  : std::max(Address{1} << 42, std::bit_ceil(memory_bytes))),
      ranges_(config.ranges),
      random_(config.seed) {
    std::ranges::sort(ranges_, {}, &PageRange::from);
}

unsigned PageTable::bits_in_ranges(Address address) const {
    const auto after = std::ranges::upper_bound(ranges_, address, {}, &PageRange::from);
    if (after == ranges_.begin()) return default_bits_;
    const PageRange& range = *std::prev(after);
    return address < range.to ? log2_exact(range.size) : default_bits_;
}

Address PageTable::look_up(Address address) {
    const unsigned bits = page_bits(address);
    const Address page = address >> bits << bits;
    const auto [place, is_new] = frame_of_.try_emplace(page, 0);
    if (is_new) place->second = allocate(page, bits);
    recent_[(address >> 12) % recent_pages] = {address >> 12, place->second - page};
    return address + place->second - page;
}

Address PageTable::allocate(Address page, unsigned bits) {
    const std::uint64_t bytes = std::uint64_t{1} << bits;
    const std::uint64_t runs = memory_bytes_ >> bits;
    Address frame = 0;
    if (config_.mapping == Mapping::contiguous) {
        frame = divide_round_up(next_, bytes) * bytes;
        if (frame + bytes > memory_bytes_) throw MemoryFull();
        next_ = frame + bytes;
    } else {
        const std::uint64_t colours =
            config_.mapping == Mapping::coloured ? std::min<std::uint64_t>(config_.colours, runs) : 1;
        const std::uint64_t colour = (page >> bits) % colours;
        frame = draw(colour, colours, (runs - colour + colours - 1) / colours, bits);
    }
    taken_.emplace(frame, std::pair{bytes, page});
    return frame;
}

/// One of the free runs first, first + step, ... (`choices` of them); after many unlucky draws the next free one
/// upwards.
Address PageTable::draw(std::uint64_t first, std::uint64_t step, std::uint64_t choices, unsigned bits) {
    constexpr int patience = 64;
    const std::uint64_t bytes = std::uint64_t{1} << bits;
    std::uint64_t choice = 0;
    for (int i = 0; i < patience; ++i) {
        choice = random_.below(choices);
        const Address frame = (first + choice * step) << bits;
        if (is_free(frame, bytes)) return frame;
    }
    for (std::uint64_t i = 0; i < choices; ++i) {
        const Address frame = (first + (choice + i) % choices * step) << bits;
        if (is_free(frame, bytes)) return frame;
    }
    throw MemoryFull();
}

bool PageTable::is_free(Address frame, std::uint64_t bytes) const {
    const auto after = taken_.lower_bound(frame + bytes);
    if (after == taken_.begin()) return true;
    const auto& [base, owner] = *std::prev(after);
    return base + owner.first <= frame;
}

bool PageTable::is_mapped_to(Address page, Address frame) const {
    if (identity()) return page == frame;
    const auto place = frame_of_.find(page);
    return place != frame_of_.end() && place->second == frame;
}

bool PageTable::is_one_run(Address first, unsigned page_bits, unsigned bits) const {
    const auto place = frame_of_.find(first);
    const Address frame = identity() || place == frame_of_.end() ? first : place->second;
    if (frame != frame >> bits << bits) return false;
    for (Address offset = 0; offset >> bits == 0; offset += Address{1} << page_bits)
        if (this->page_bits(first + offset) != page_bits || !is_mapped_to(first + offset, frame + offset)) return false;
    return true;
}

Address PageTable::virtual_address(Address physical) const {
    const auto after = taken_.upper_bound(physical);
    if (after == taken_.begin()) return physical;
    const auto& [base, owner] = *std::prev(after);
    return physical - base < owner.first ? owner.second + (physical - base) : physical;
}

Address PageTable::entry_address(Address address, unsigned page_bits, unsigned depth) const {
    constexpr Address table_spacing = (Address{1} << 40) + 4160;
    constexpr Address address_space = (Address{1} << 48) - 1;
    const unsigned below = 9 * (walk_depth(page_bits) - 1 - depth);
    return tables_ + depth * table_spacing + 8 * ((address & address_space) >> (page_bits + below));
}

}  // namespace cachetally

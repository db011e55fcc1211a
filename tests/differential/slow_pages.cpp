// SPDX-License-Identifier: BSD-3-Clause
// The page table of the reference simulator.
#include "tests/differential/slow_pages.hpp"

#include <stdexcept>

namespace cachetally::differential {

SlowPages::SlowPages(const MachineDescription& machine)
    : config_(machine.pages), memory_bytes_(machine.memories.front().size), random_(machine.pages.seed) {
    for (std::size_t i = 1; i < machine.memories.size() && machine.has_nodes(); ++i)
        memory_bytes_ += machine.memories[i].size;
}

std::uint64_t SlowPages::page_size(Address address) const {
    for (const PageRange& range : config_.ranges) {
        if (address >= range.from && address < range.to) return range.size;
    }
    return config_.size;
}

Address SlowPages::translate(Address address) {
    if (config_.mapping == Mapping::identity) return address;
    for (const Page& page : pages_) {
        if (address - page.base < page.size) return page.frame + (address - page.base);
    }
    const std::uint64_t size = page_size(address);
    const Address base = address / size * size;
    pages_.push_back({base, choose_frame(base, size), size});
    return pages_.back().frame + (address - base);
}

Address SlowPages::virtual_address(Address physical) const {
    for (const Page& page : pages_) {
        if (physical - page.frame < page.size) return page.base + (physical - page.frame);
    }
    return physical;
}

std::optional<Address> SlowPages::frame_of(Address base) const {
    if (config_.mapping == Mapping::identity) return base;
    for (const Page& page : pages_) {
        if (page.base == base) return page.frame;
    }
    return std::nullopt;
}

bool SlowPages::lie_together(Address from, std::uint64_t bytes) const {
    const std::uint64_t size = page_size(from);
    const std::optional<Address> first = frame_of(from);
    if (!first || *first % bytes != 0) return false;
    for (std::uint64_t offset = 0; offset < bytes; offset += size) {
        const std::optional<Address> frame = frame_of(from + offset);
        if (page_size(from + offset) != size || !frame || *frame != *first + offset) return false;
    }
    return true;
}

bool SlowPages::taken(Address frame, std::uint64_t size) const {
    for (const Page& page : pages_) {
        if (page.frame < frame + size && frame < page.frame + page.size) return true;
    }
    return false;
}

Address SlowPages::choose_frame(Address base, std::uint64_t size) {
    if (config_.mapping == Mapping::contiguous) {
        const Address end = pages_.empty() ? 0 : pages_.back().frame + pages_.back().size;
        const Address frame = (end + size - 1) / size * size;
        if (frame + size > memory_bytes_) throw std::runtime_error("memory is full");
        return frame;
    }
    const std::uint64_t runs = memory_bytes_ / size;
    std::uint64_t colours = config_.mapping == Mapping::coloured ? config_.colours : 1;
    if (colours > runs) colours = runs;
    const std::uint64_t colour = base / size % colours;
    const std::uint64_t choices = (runs - colour + colours - 1) / colours;
    std::uint64_t choice = 0;
    for (int draw = 0; draw < 64; ++draw) {
        choice = random_.draw(choices);
        const Address frame = (colour + colours * choice) * size;
        if (!taken(frame, size)) return frame;
    }
    for (std::uint64_t i = 0; i < choices; ++i) {
        const Address frame = (colour + colours * ((choice + i) % choices)) * size;
        if (!taken(frame, size)) return frame;
    }
    throw std::runtime_error("memory is full");
}

std::vector<Address> SlowPages::walk_entries(Address address) const {
    unsigned bits = 0;
    while ((std::uint64_t{1} << bits) < page_size(address)) ++bits;
    unsigned levels = 0;
    while (bits + 9 * levels < 48) ++levels;
    std::uint64_t tables = std::uint64_t{1} << 42;
    while (tables < memory_bytes_) tables *= 2;
    if (config_.mapping == Mapping::identity) tables = std::uint64_t{1} << 52;
    std::vector<Address> entries;
    for (std::uint64_t depth = 0; depth < levels; ++depth) {
        const Address low = address % (std::uint64_t{1} << 48);
        const Address index = low >> (bits + 9 * (levels - 1 - depth));
        entries.push_back(tables + depth * ((std::uint64_t{1} << 40) + 4160) + 8 * index);
    }
    return entries;
}

}  // namespace cachetally::differential

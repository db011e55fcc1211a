// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/data_path.hpp"

#include <algorithm>

namespace cachetally {
namespace {

template <class Config>
std::vector<std::size_t> chain(const std::vector<Config>& parts) {
    std::vector<std::size_t> found;
    const auto is_first = [&](const Config& part) {
        return part.serves != Serves::fetch &&
               std::ranges::none_of(parts, [&](const Config& other) { return other.next == part.name; });
    };
    auto next = std::ranges::find_if(parts, is_first);
    while (next != parts.end()) {
        found.push_back(static_cast<std::size_t>(next - parts.begin()));
        next = std::ranges::find(parts, next->next, &Config::name);
    }
    return found;
}

}  // namespace

std::vector<std::size_t> data_caches(const MachineDescription& machine) { return chain(machine.caches); }
std::vector<std::size_t> data_tlbs(const MachineDescription& machine) { return data_tlbs(machine, machine.pages.size); }

std::vector<std::size_t> data_tlbs(const MachineDescription& machine, std::uint64_t page) {
    std::vector<std::size_t> found = chain(machine.tlbs);
    std::erase_if(found, [&](std::size_t index) {
        const std::vector<std::uint64_t>& sizes = machine.tlbs[index].page_sizes;
        return !sizes.empty() && std::ranges::find(sizes, page) == sizes.end();
    });
    return found;
}

std::uint64_t bytes_per_entry(const MachineDescription& machine, const TlbConfig& tlb) {
    const PagesConfig& pages = machine.pages;
    if (tlb.granule != 0) return std::min(pages.size, tlb.granule);
    const bool in_order = pages.mapping == Mapping::identity || pages.mapping == Mapping::contiguous;
    return in_order ? pages.size * tlb.coalesces : pages.size;
}

}  // namespace cachetally

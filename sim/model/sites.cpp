// SPDX-License-Identifier: BSD-3-Clause
#include "cachetally/sites.hpp"

#include <stdexcept>

namespace cachetally {

std::uint32_t SiteTable::add(Site site) {
    const std::uint32_t number = size();
    if (number / page_sites == most_pages) throw std::length_error("a program has too many sites");
    auto& page = pages_[number / page_sites];
    if (!page) page = std::make_unique<std::array<Site, page_sites>>();
    (*page)[number % page_sites] = site;
    size_.store(number + 1, std::memory_order_relaxed);
    return number;
}

}  // namespace cachetally

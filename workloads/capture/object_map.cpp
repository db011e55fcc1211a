// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/object_map.hpp"

#include <algorithm>

namespace cachetally {

ObjectMap::Blocks::iterator ObjectMap::first_ending_behind(Address address) {
    auto next = blocks_.upper_bound(address);
    if (next != blocks_.begin() && std::prev(next)->second->contains(address)) --next;
    return next;
}

ObjectMap::Block& ObjectMap::insert(Address base, std::uint64_t bytes, std::uint32_t object, Address origin) {
    Block* block = nullptr;
    if (free_.empty()) {
        block = &all_.emplace_back();
    } else {
        block = free_.back();
        free_.pop_back();
    }
    *block = {base, bytes, object, origin};
    blocks_.emplace(base, block);
    return *block;
}

ObjectMap::Blocks::iterator ObjectMap::erase(Blocks::iterator block) {
    *block->second = {};
    free_.push_back(block->second);
    return blocks_.erase(block);
}

void ObjectMap::remove_all(Address base, std::uint64_t bytes) {
    if (bytes == 0) return;
    const Address last = base + (bytes - 1);
    for (auto next = first_ending_behind(base); next != blocks_.end() && next->first <= last;) {
        const Block block = *next->second;
        next = erase(next);
        const Address end = block.base + block.bytes;  // what sticks out stays
        if (block.base < base) insert(block.base, base - block.base, block.object, block.origin);
        if (end - 1 > last) insert(last + 1, end - 1 - last, block.object, block.origin);
    }
}

void ObjectMap::add(Address base, std::uint64_t bytes, std::uint32_t object, std::uint64_t before) {
    remove_all(base, bytes);
    insert(base, bytes, object, base + before);
}

const ObjectMap::Block& ObjectMap::find(Address address) {
    const Address number = address >> page_bits;
    if (number != latest_number_) {
        auto& page = pages_[number];
        if (!page) page = std::make_unique<Page>();
        latest_number_ = number;
        latest_ = page.get();
    }
    const Block*& found = (*latest_)[(address >> granule_bits) % latest_->size()];
    if (found != nullptr && found->contains(address)) return *found;
    const auto next = first_ending_behind(address);
    if (next != blocks_.end() && next->second->contains(address)) return *(found = next->second);
    // Nothing, from the block before it to that behind it, within the page.
    Address begin = number << page_bits, end = begin + (Address{1} << page_bits);
    if (next != blocks_.end()) end = std::min(end, next->first);
    if (next != blocks_.begin()) {
        const Block& before = *std::prev(next)->second;
        begin = std::max(begin, before.base + before.bytes);
    }
    return *(found = &insert(begin, end - begin, 0, begin));
}

}  // namespace cachetally

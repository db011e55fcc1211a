// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/captured_sites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "workloads/capture/ring.h"

namespace cachetally {
namespace {

/// Allocators and what is put around them: an allocation is named by who calls these.
bool allocates(const CodePlace& place) {
    static constexpr std::string_view modules[] = {"libc.so", "ld-linux", "libstdc++", "libc++", "vgpreload"};
    static constexpr std::string_view functions[] = {"operator new", "malloc",  "calloc",      "realloc",
                                                     "xmalloc",      "xcalloc", "xrealloc",    "std::allocator",
                                                     "__gnu_cxx::",  "std::_",  "std::vector", "std::__"};
    const auto begins = [](std::string_view text) {
        return [text](std::string_view begin) { return text.starts_with(begin); };
    };
    return std::ranges::any_of(modules, begins(place.module)) || std::ranges::any_of(functions, begins(place.function));
}

}  // namespace

CapturedSites::CapturedSites(SiteTable& table)
    : table_(table),
      elsewhere_(object("(elsewhere)")),
      free_heap_(object("(heap)")),
      mapped_(object("(mapped memory)")) {}

std::uint32_t CapturedSites::number(Site site) {
    const auto [found, is_new] = numbers_.try_emplace(std::uint64_t{site.code} << 32 | site.object, 0);
    if (is_new) found->second = table_.add(site);
    return found->second;
}

std::uint32_t CapturedSites::object(const std::string& name) {
    const auto [found, is_new] = by_name_.try_emplace(name, static_cast<std::uint32_t>(objects_.size()));
    if (is_new) objects_.push_back({name, {}});
    return found->second;
}

std::uint32_t CapturedSites::allocated_by(std::vector<Address> stack) {
    const auto [found, is_new] = by_stack_.try_emplace(std::move(stack), static_cast<std::uint32_t>(objects_.size()));
    if (is_new) objects_.push_back({{}, found->first});
    return found->second;
}

std::uint32_t CapturedSites::look_up(std::uint32_t code, Address address) {
    const ObjectMap::Block* block = &map_.find(address);
    if (!unnamed_files_.empty() && !is_named(block->object)) {
        name_variables();
        block = &map_.find(address);
    }
    if (code >= latest_.size()) latest_.resize(std::max<std::size_t>(code + 1, 2 * latest_.size()), {&nothing_});
    latest_[code] = {block, block->object, number({code, block->object == 0 ? elsewhere_ : block->object})};
    return latest_[code].site;
}

bool CapturedSites::is_named(std::uint32_t object) const { return object != 0 && objects_[object].name.find('(') != 0; }

/// Only when it is needed: that reads the files' symbols.
void CapturedSites::name_variables() {
    for (const Region& variable : ProgramNames(unnamed_files_, !program_is_named_).variables())
        map_.add(variable.base, variable.bytes, object(variable.name));
    program_is_named_ = true;
    unnamed_files_.clear();
}

void CapturedSites::take(unsigned kind, std::span<const std::uint64_t> words, const CapturedEvents& events) {
    const auto add = [&](Address base, std::uint64_t bytes, std::uint32_t what) {
        if (bytes != 0 && base + (bytes - 1) >= base) map_.add(base, bytes, what);
    };
    switch (kind) {
        case CT_MAPPED:
            if (!events.files.empty() && events.files.back().base == words[0]) {
                const MappedFile& file = events.files.back();
                unnamed_files_.push_back(file);
                latest_file_ = object("(" + std::filesystem::path(file.path).filename().string() + ")");
                add(words[0], words[1], latest_file_);
                file_end_ = words[0] + words[1];
            } else {  // what follows a file is its zeros
                add(words[0], words[1], words[0] == file_end_ ? latest_file_ : mapped_);
            }
            break;
        case CT_UNMAPPED:
            if (words[1] != 0 && words[0] + (words[1] - 1) >= words[0]) map_.remove_all(words[0], words[1]);
            break;
        case CT_BREAK: add(words[0], words[1], free_heap_); break;
        case CT_STACK:
        case CT_REGION: {
            if (!unnamed_files_.empty()) name_variables();  // which give way
            const Region& region = events.regions.back();
            add(region.base, region.bytes, object(region.name));
            break;
        }
        case CT_ALLOCATED: {
            const std::size_t frames = std::min<std::uint64_t>(words[2], words.size() - 3);
            allocations_[words[0]] = words[1];
            add(words[0], words[1], allocated_by({words.begin() + 3, words.begin() + 3 + frames}));
            break;
        }
        case CT_RELEASED:
            if (const auto block = allocations_.find(words[0]); block != allocations_.end()) {
                add(block->first, block->second, free_heap_);
                allocations_.erase(block);
            }
            break;
        default: break;
    }
}

std::vector<std::string> CapturedSites::object_names(const ProgramNames& names) const {
    std::vector<std::string> all;
    for (const Object& object : objects_) {
        if (object.stack.empty()) {
            all.push_back(object.name);
            continue;
        }
        auto site =
            std::ranges::find_if_not(object.stack, [&](Address frame) { return allocates(names.place_of(frame)); });
        if (site == object.stack.end()) site = object.stack.begin();
        std::string name = "heap: " + names.describe(*site);
        if (std::next(site) != object.stack.end())
            if (const std::string caller = names.place_of(*std::next(site)).function; !caller.empty())
                name += " < " + caller;
        all.push_back(std::move(name));
    }
    return all;
}

}  // namespace cachetally

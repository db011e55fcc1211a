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

/// What C++ puts before an array of objects with destructors: their number, in 8 bytes, or 16 where these are aligned
/// so. Elements fill the rest of the block.
std::uint64_t bytes_before(std::uint64_t element, std::uint64_t block) {
    const std::uint64_t rest = block % element;
    return block > element && (rest == 8 || (rest == 16 && element % 16 == 0)) ? rest : 0;
}

}  // namespace

CapturedSites::CapturedSites(SiteTable& table, FieldOptions fields)
    : table_(table),
      elsewhere_(object("(elsewhere)")),
      free_heap_(object("(heap)")),
      mapped_(object("(mapped memory)")),
      options_(std::move(fields)),
      structure_found_(options_.elements.size()),
      type_found_(options_.elements.size()) {
    if (options_.any()) fields_.emplace_back();
}

std::uint32_t CapturedSites::number(Site site) {
    Recent& recent = recent_[SiteHash()(site) >> 32 & (recent_.size() - 1)];  // its low bits know no code
    if (recent.site == site && recent.number != 0) return recent.number;
    const auto [found, is_new] = numbers_.try_emplace(site, 0);
    if (is_new) found->second = table_.add(site);
    recent = {site, found->second};
    return found->second;
}

std::uint32_t CapturedSites::object(const std::string& name) {
    const auto [found, is_new] = by_name_.try_emplace(name, static_cast<std::uint32_t>(objects_.size()));
    if (is_new) objects_.push_back({name, {}});
    return found->second;
}

std::uint32_t CapturedSites::mapped_by(std::vector<Address> stack) {
    const auto next = static_cast<std::uint32_t>(objects_.size());
    const auto [found, is_new] = by_stack_.try_emplace({era_, std::move(stack)}, next);
    if (is_new) objects_.push_back({{}, found->first.second, nullptr, {}, false, true, true, era_});
    return found->second;
}

std::uint32_t CapturedSites::allocated_by(std::vector<Address> stack, std::uint64_t bytes,
                                          const CapturedEvents& events) {
    const auto next = static_cast<std::uint32_t>(objects_.size());
    const auto [found, is_new] = by_stack_.try_emplace({era_, std::move(stack)}, next);
    if (!is_new) return found->second;
    const std::vector<Address>& frames = found->first.second;
    objects_.push_back({{}, frames, nullptr, {}, false, true, false, era_});
    if (!options_.any() || frames.empty()) return found->second;
    const ProgramNames& names = names_of(events);
    choose_layout(found->second, "heap: " + name_of(frames, names), names, {});
    const Layout*& layout = objects_[found->second].layout;
    if (layout != nullptr || !options_.variables) return found->second;
    // Stacks have where calls return to, or the byte before. What is longer than whole elements has more than these.
    const Address site = *site_of(frames, names);
    auto type = names.layout_of_result(site);
    if (!type) type = names.layout_of_result(site + 1);
    if (type && (bytes - bytes_before(type->bytes, bytes)) % type->bytes == 0) layout = numbered(*type);
    return found->second;
}

const ProgramNames& CapturedSites::names_of(const CapturedEvents& events) {
    if (!names_ || named_files_ != events.files.size()) names_ = std::make_unique<ProgramNames>(events.by_era.now());
    named_files_ = events.files.size();
    return *names_;
}

void CapturedSites::choose_layout(std::uint32_t object, const std::string& name, const ProgramNames& names,
                                  std::optional<Address> variable) {
    const std::string_view heap = "heap: ";
    const std::string_view bare = std::string_view(name).substr(name.starts_with(heap) ? heap.size() : 0);
    std::optional<StructLayout> layout;
    std::size_t longest = 0;  // "make" is also the begin of "maked"
    for (std::size_t i = 0; i < options_.elements.size(); ++i) {
        const ElementChoice& choice = options_.elements[i];
        if (!bare.starts_with(choice.structure) && !name.starts_with(choice.structure)) continue;
        structure_found_[i] = true;
        auto found = choice.type.empty() ? layout_of_words(choice.bytes) : names.layout_of_type(choice.type);
        if (!found) continue;
        type_found_[i] = true;
        if (choice.structure.size() <= longest) continue;
        longest = choice.structure.size();
        layout = std::move(found);
    }
    if (!layout && options_.variables && variable) layout = names.layout_of_variable(*variable);
    if (layout && objects_[object].layout == nullptr) objects_[object].layout = numbered(*layout);
}

const CapturedSites::Layout* CapturedSites::numbered(const StructLayout& layout) {
    Layout& added = layouts_.emplace_back();
    added.bytes = layout.bytes;
    for (const StructLayout::Field& field : layout.fields)
        added.fields.emplace_back(field.offset, number_of_field(field.name));
    added.before = number_of_field("(before the elements)");
    return &added;
}

std::uint32_t CapturedSites::number_of_field(const std::string& name) {
    const auto [found, is_new] = field_numbers_.try_emplace(name, static_cast<std::uint32_t>(fields_.size()));
    if (is_new) fields_.push_back(name);
    return found->second;
}

std::vector<std::string> CapturedSites::unused_choices() const {
    std::vector<std::string> unused;
    for (std::size_t i = 0; i < options_.elements.size(); ++i) {
        const ElementChoice& choice = options_.elements[i];
        if (!structure_found_[i])
            unused.push_back(fmt::format("no data structure's name begins with '{}'", choice.structure));
        else if (!type_found_[i])
            unused.push_back(fmt::format("no debugging information has a struct '{}'", choice.type));
    }
    return unused;
}

std::uint32_t CapturedSites::look_up(std::uint32_t code, Address address) {
    const ObjectMap::Block* block = &map_.find(address);
    if (!unnamed_files_.empty() && !is_named(block->object)) {
        name_variables();
        block = &map_.find(address);
    }
    if (code >= latest_.size()) latest_.resize(std::max<std::size_t>(code + 1, 2 * latest_.size()), {&nothing_});
    const Layout* const layout = objects_[block->object].layout;
    const std::uint32_t field = layout != nullptr ? layout->field_at(address - block->origin) : 0;
    const std::uint32_t site = number({code, block->object == 0 ? elsewhere_ : block->object, field});
    latest_[code] = {block, block->object, site, field, layout};
    return site;
}

bool CapturedSites::is_named(std::uint32_t object) const { return object != 0 && objects_[object].name.find('(') != 0; }

/// Only when it is needed: that reads the files' symbols.
void CapturedSites::name_variables() {
    const ProgramNames names(unnamed_files_, !program_is_named_);
    for (const Region& variable : names.variables()) {
        const std::uint32_t number = object(variable.name);
        map_.add(variable.base, variable.bytes, number);
        if (options_.any()) choose_layout(number, variable.name, names, variable.base);
    }
    program_is_named_ = true;
    unnamed_files_.clear();
}

void CapturedSites::take(unsigned kind, std::span<const std::uint64_t> words, const CapturedEvents& events) {
    const auto add = [&](Address base, std::uint64_t bytes, std::uint32_t what, std::uint64_t before = 0) {
        if (bytes != 0 && base + (bytes - 1) >= base) map_.add(base, bytes, what, before);
    };
    era_ = events.by_era.era();
    switch (kind) {
        case CT_MAPPED:
            if (events.files.size() != files_) {
                const MappedFile& file = events.files.back();
                files_ = events.files.size();
                unnamed_files_.push_back(file);
                latest_file_ = object("(" + std::filesystem::path(file.path).filename().string() + ")");
                add(words[0], words[1], latest_file_);
                file_end_ = words[0] + words[1];
            } else if (words[0] == file_end_) {  // its zeros: the loader may put them over variables that have names
                add(words[0], words[1], latest_file_);
                for (auto file = events.files.rbegin();
                     file != events.files.rend() && file->path == events.files.back().path; ++file)
                    unnamed_files_.push_back(*file);
            } else {
                add(words[0], words[1], mapped_);
            }
            break;
        case CT_UNMAPPED:
            if (words[1] != 0 && words[0] + (words[1] - 1) >= words[0]) map_.remove_all(words[0], words[1]);
            if (file_end_ - 1 - words[0] < words[1]) file_end_ = 0;
            std::erase_if(unnamed_files_, [&](const MappedFile& file) {  // nobody asked for its variables
                return file.base - words[0] < words[1] && file.bytes <= words[1] - (file.base - words[0]);
            });
            break;
        case CT_BREAK: add(words[0], words[1], free_heap_); break;
        case CT_STACK:
        case CT_REGION: {
            if (!unnamed_files_.empty()) name_variables();  // which give way
            const Region& region = events.regions.back();
            const std::uint32_t number = object(region.name);
            add(region.base, region.bytes, number);
            if (!options_.elements.empty()) choose_layout(number, region.name, names_of(events), {});
            break;
        }
        case CT_ALLOCATED: {
            const std::size_t frames = std::min<std::uint64_t>(words[2], words.size() - 3);
            const std::uint32_t object =
                allocated_by({words.begin() + 3, words.begin() + 3 + frames}, words[1], events);
            allocations_[words[0]] = words[1];
            const Layout* const layout = objects_[object].layout;
            add(words[0], words[1], object, layout != nullptr ? bytes_before(layout->bytes, words[1]) : 0);
            keep_block({object, words[0], words[1]});
            break;
        }
        case CT_MAPPED_BY: {
            const std::size_t frames = std::min<std::uint64_t>(words[2], words.size() - 3);
            if (frames != 0) add(words[0], words[1], mapped_by({words.begin() + 3, words.begin() + 3 + frames}));
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

/// The frame that asks an allocator.
std::vector<Address>::const_iterator CapturedSites::site_of(const std::vector<Address>& stack,
                                                            const ProgramNames& names) {
    const auto site = std::ranges::find_if_not(stack, [&](Address frame) { return allocates(names.place_of(frame)); });
    return site == stack.end() ? stack.begin() : site;
}

std::string CapturedSites::name_of(const std::vector<Address>& stack, const ProgramNames& names) {
    const auto site = site_of(stack, names);
    std::string name = names.describe(*site);
    if (std::next(site) != stack.end())
        if (const std::string caller = names.place_of(*std::next(site)).function; !caller.empty())
            name += " < " + caller;
    return name;
}

/// Those that overlap are one only if they begin alike, as when they grow in place.
void CapturedSites::keep_block(const ObjectBlock& block) {
    constexpr std::size_t most_blocks = 64;
    Object& object = objects_[block.object];
    if (block.bytes == 0) return;
    owners_.take(block.base, block.bytes, object.many_blocks ? MemoryOwners::several : block.object,
                 [&](std::uint32_t other) { object.alone = objects_[other].alone = false; });
    if (object.many_blocks) return;
    for (ObjectBlock& known : object.blocks) {
        if (known.base == block.base) {
            known.bytes = std::max(known.bytes, block.bytes);
            return;
        }
        object.many_blocks =
            object.many_blocks || known.base - block.base < block.bytes || block.base - known.base < known.bytes;
    }
    object.many_blocks = object.many_blocks || object.blocks.size() == most_blocks;
    if (object.many_blocks)
        object.blocks.clear();
    else
        object.blocks.push_back(block);
}

std::vector<ObjectBlock> CapturedSites::object_blocks() const {
    std::vector<ObjectBlock> all;
    for (const Object& object : objects_)
        for (const ObjectBlock& block : object.blocks)
            all.push_back({block.object, block.base, block.bytes, object.alone});
    return all;
}

std::vector<std::string> CapturedSites::object_names(NamesByEra& names) const {
    std::vector<std::string> all;
    for (const Object& object : objects_) {
        if (object.stack.empty()) {
            all.push_back(object.name);
            continue;
        }
        all.push_back((object.mapped ? "mapped: " : "heap: ") + name_of(object.stack, names.of(object.era)));
    }
    return all;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// CapturedSites: numbers for what makes a captured program's references, and what they are made to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cachetally/sites.hpp"
#include "workloads/capture/captured_events.hpp"
#include "workloads/capture/memory_owners.hpp"
#include "workloads/capture/object_map.hpp"
#include "workloads/capture/program_names.hpp"

namespace cachetally {

/// Which fields are told apart.
struct FieldOptions {
    bool variables = false;               ///< those of variables, and of the heap, where types are known
    std::vector<ElementChoice> elements;  ///< those of other structures, by the user's word
    bool any() const { return variables || !elements.empty(); }
};

/// Objects: named variables, regions that the program names, stacks, all that one call stack allocates, and what is
/// left of mapped files and memory.
class CapturedSites {
public:
    explicit CapturedSites(SiteTable& table, FieldOptions fields = {});

    /// The site of a reference to data at `address`, by the code of this number, at this moment of the capture.
    std::uint32_t of_data(std::uint32_t code, Address address) {
        if (code < latest_.size()) {
            const Latest& latest = latest_[code];
            if (latest.block->contains(address) && latest.block->object == latest.object &&
                (latest.layout == nullptr || latest.layout->field_at(address - latest.block->origin) == latest.field))
                return latest.site;
        }
        return look_up(code, address);
    }
    /// Of an instruction fetch.
    std::uint32_t of_fetch(std::uint32_t code) {
        if (code >= fetches_.size()) fetches_.resize(std::max<std::size_t>(code + 1, 2 * fetches_.size()));
        std::uint32_t& site = fetches_[code];
        return site != 0 ? site : site = number({code, 0});
    }

    /// Takes a control of ring.h, after `events` has taken it.
    void take(unsigned kind, std::span<const std::uint64_t> words, const CapturedEvents& events);

    /// Objects by number.
    std::vector<std::string> object_names(NamesByEra& names) const;
    /// Fields by number; none where they are not told apart.
    const std::vector<std::string>& field_names() const { return fields_; }
    /// What the user said of structures and types that are not there, in words.
    std::vector<std::string> unused_choices() const;
    std::vector<ObjectBlock> object_blocks() const;

private:
    /// A StructLayout by numbers of fields.
    struct Layout {
        std::uint64_t bytes = 0;
        std::vector<std::pair<std::uint64_t, std::uint32_t>> fields;  ///< offset, number
        std::uint32_t before = 0;                                     ///< what comes before elements

        std::uint32_t field_at(std::uint64_t offset) const {
            if (offset >> 63U != 0) return before;
            offset %= bytes;
            const auto behind =
                std::ranges::upper_bound(fields, offset, {}, [](const auto& field) { return field.first; });
            return std::prev(behind)->second;
        }
    };
    /// What a piece of code referred to last.
    struct Latest {
        const ObjectMap::Block* block;
        std::uint32_t object = 0, site = 0, field = 0;
        const Layout* layout = nullptr;
    };
    struct SiteHash {
        std::size_t operator()(const Site& site) const {
            const std::uint64_t place = std::uint64_t{site.code} << 32 | site.object;
            return (place * 0x9e3779b97f4a7c15 ^ site.field) * 0xd6e8feb86659fd93 >> 16;
        }
    };
    struct Object {
        std::string name;            ///< empty where it is allocated or mapped
        std::vector<Address> stack;  ///< of the allocation
        const Layout* layout = nullptr;
        std::vector<ObjectBlock> blocks = {};
        bool many_blocks = false;  ///< too many to be kept
        bool alone = true;         ///< no other object had any of their memory
        bool mapped = false;       ///< by the program, without malloc
        std::size_t era = 0;       ///< of the stack (CapturedFiles)
    };

    std::uint32_t look_up(std::uint32_t code, Address address);
    std::uint32_t number(Site site);
    std::uint32_t object(const std::string& name);
    std::uint32_t mapped_by(std::vector<Address> stack);
    std::uint32_t allocated_by(std::vector<Address> stack, std::uint64_t bytes, const CapturedEvents& events);
    const ProgramNames& names_of(const CapturedEvents& events);
    static std::vector<Address>::const_iterator site_of(const std::vector<Address>& stack, const ProgramNames& names);
    static std::string name_of(const std::vector<Address>& stack, const ProgramNames& names);
    /// As the user said, or else as a variable's type is.
    void choose_layout(std::uint32_t object, const std::string& name, const ProgramNames& names,
                       std::optional<Address> variable);
    const Layout* numbered(const StructLayout& layout);
    std::uint32_t number_of_field(const std::string& name);
    void keep_block(const ObjectBlock& block);
    bool is_named(std::uint32_t object) const;
    void name_variables();

    SiteTable& table_;
    std::unordered_map<Site, std::uint32_t, SiteHash> numbers_;
    struct Recent {
        Site site;
        std::uint32_t number = 0;
    };
    std::vector<Recent> recent_ = std::vector<Recent>(8192);  ///< in front of numbers_, by hash; 0: none
    ObjectMap map_;
    MemoryOwners owners_;
    ObjectMap::Block nothing_;
    std::vector<Latest> latest_;          ///< by code
    std::vector<std::uint32_t> fetches_;  ///< sites by code
    std::vector<Object> objects_{{}};
    std::unordered_map<std::string, std::uint32_t> by_name_;
    std::map<std::pair<std::size_t, std::vector<Address>>, std::uint32_t> by_stack_;  ///< and era
    std::unordered_map<Address, std::uint64_t> allocations_;                          ///< bytes
    std::vector<MappedFile> unnamed_files_;  ///< whose variables are not in the map yet
    bool program_is_named_ = false;
    std::uint32_t latest_file_ = 0;  ///< object of the file that was mapped last
    std::size_t files_ = 0;          ///< so many were taken
    std::size_t era_ = 0;
    Address file_end_ = 0;  ///< behind the last one; 0: it is gone
    std::uint32_t elsewhere_, free_heap_, mapped_;
    FieldOptions options_;
    std::vector<std::string> fields_;
    std::unordered_map<std::string, std::uint32_t> field_numbers_;
    std::deque<Layout> layouts_;
    std::vector<bool> structure_found_, type_found_;  ///< by choice
    std::unique_ptr<ProgramNames> names_;             ///< of so many files
    std::size_t named_files_ = 0;
};

}  // namespace cachetally

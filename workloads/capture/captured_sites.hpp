// SPDX-License-Identifier: BSD-3-Clause
// CapturedSites: numbers for what makes a captured program's references, and what they are made to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cachetally/sites.hpp"
#include "workloads/capture/captured_events.hpp"
#include "workloads/capture/object_map.hpp"
#include "workloads/capture/program_names.hpp"

namespace cachetally {

/// Objects: named variables, regions that the program names, stacks, all that one call stack allocates, and what is
/// left of mapped files and memory.
class CapturedSites {
public:
    explicit CapturedSites(SiteTable& table);

    /// The site of a reference to data at `address`, by the code of this number, at this moment of the capture.
    std::uint32_t of_data(std::uint32_t code, Address address) {
        if (code < latest_.size()) {
            const Latest& latest = latest_[code];
            if (latest.block->contains(address) && latest.block->object == latest.object) return latest.site;
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
    std::vector<std::string> object_names(const ProgramNames& names) const;
    std::vector<ObjectBlock> object_blocks() const;

private:
    /// What a piece of code referred to last.
    struct Latest {
        const ObjectMap::Block* block;
        std::uint32_t object = 0, site = 0;
    };
    struct Object {
        std::string name;            ///< empty where it is allocated
        std::vector<Address> stack;  ///< of the allocation
        std::vector<ObjectBlock> blocks = {};
        bool many_blocks = false;  ///< too many to be kept
    };

    std::uint32_t look_up(std::uint32_t code, Address address);
    std::uint32_t number(Site site);
    std::uint32_t object(const std::string& name);
    std::uint32_t allocated_by(std::vector<Address> stack);
    void keep_block(const ObjectBlock& block);
    bool is_named(std::uint32_t object) const;
    void name_variables();

    SiteTable& table_;
    std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
    ObjectMap map_;
    ObjectMap::Block nothing_;
    std::vector<Latest> latest_;          ///< by code
    std::vector<std::uint32_t> fetches_;  ///< sites by code
    std::vector<Object> objects_{{}};
    std::unordered_map<std::string, std::uint32_t> by_name_;
    std::map<std::vector<Address>, std::uint32_t> by_stack_;
    std::unordered_map<Address, std::uint64_t> allocations_;  ///< bytes
    std::vector<MappedFile> unnamed_files_;                   ///< whose variables are not in the map yet
    bool program_is_named_ = false;
    std::uint32_t latest_file_ = 0;  ///< object of the file that was mapped last
    Address file_end_ = 0;           ///< behind it
    std::uint32_t elsewhere_, free_heap_, mapped_;
};

}  // namespace cachetally

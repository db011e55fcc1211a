// SPDX-License-Identifier: BSD-3-Clause
// What Reference::site stands for, where a source knows more than its number: code, and the object that it refers to.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cachetally/types.hpp"

namespace cachetally {

/// Numbers of SiteNames; 0: not known.
struct Site {
    std::uint32_t code = 0;
    std::uint32_t object = 0;
    std::uint32_t field = 0;  ///< of the object
    friend bool operator==(const Site&, const Site&) = default;
};

/// By Reference::site. A source may add sites while its references are simulated by another thread: whoever has got a
/// reference may look up its site.
class SiteTable {
public:
    SiteTable() : pages_(most_pages) { add({}); }

    /// The number of a new site. Throws std::length_error beyond 2^31 of them.
    std::uint32_t add(Site site);

    /// Of a number that is none: what is not known.
    Site operator[](std::uint32_t site) const {
        if (site >= size_.load(std::memory_order_relaxed)) return {};
        return (*pages_[site / page_sites])[site % page_sites];
    }
    std::uint32_t code(std::uint32_t site) const { return (*this)[site].code; }

    /// For the source; for others when its streams are over.
    std::uint32_t size() const { return size_.load(std::memory_order_relaxed); }

private:
    static constexpr std::uint32_t page_sites = 1U << 16, most_pages = 1U << 15;
    std::vector<std::unique_ptr<std::array<Site, page_sites>>> pages_;  // which stay where they are
    std::atomic<std::uint32_t> size_ = 0;
};

/// A place in a program; what is not known is empty or 0.
struct CodePlace {
    Address counter = 0;   ///< of the instruction
    std::string function;  ///< demangled
    std::string file;      ///< of the source
    std::uint32_t line = 0;
    std::string module;  ///< name of the program or library, without its folder
    friend bool operator==(const CodePlace&, const CodePlace&) = default;
};

/// Memory that an object had.
struct ObjectBlock {
    std::uint32_t object = 0;
    Address base = 0;
    std::uint64_t bytes = 0;
    bool alone = false;  ///< no other object had any memory of this one's blocks
    friend bool operator==(const ObjectBlock&, const ObjectBlock&) = default;
};

/// Of the numbers in a SiteTable; the first of each is of what is not known.
struct SiteNames {
    std::vector<CodePlace> code;
    /// Data structures: variables, stacks, allocations of the heap, and names in parentheses for what is left. 0: of
    /// instruction fetches.
    std::vector<std::string> objects;
    /// Fields as "type.field"; none where they are not told apart. 0: of what has no fields.
    std::vector<std::string> fields;
    std::vector<ObjectBlock> blocks;  ///< all of allocations of few blocks, by object; none of other objects
    friend bool operator==(const SiteNames&, const SiteNames&) = default;
};

}  // namespace cachetally

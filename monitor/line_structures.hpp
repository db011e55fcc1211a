// SPDX-License-Identifier: BSD-3-Clause
// LineStructures: the data structure of each line, looked up once.
#pragma once

#include <utility>

#include "cachetally/types.hpp"
#include "monitor/level_lines.hpp"
#include "monitor/paged_counts.hpp"

namespace cachetally {

class LineStructures {
public:
    /// `map` gives the addresses in which the finder's regions are. The finder must live as long as this.
    LineStructures(const RegionFinder& finder, AddressMap map, std::uint32_t line_bytes)
        : finder_(&finder), map_(std::move(map)), line_bits_(log2_exact(line_bytes)) {}

    unsigned line_bits() const { return line_bits_; }

    /// As RegionFinder::find. What a line holds does not change when its page is mapped.
    std::uint32_t of(Address address) {
        const Address line = address >> line_bits_;
        if (line == last_line_) return last_;
        std::uint32_t& known = structures_[line];
        const Address first = line << line_bits_;
        if (known == 0) known = 1 + finder_->find(map_ ? map_(first) : first, 1U << line_bits_);
        last_line_ = line;
        return last_ = known - 1;
    }

private:
    const RegionFinder* finder_;
    AddressMap map_;
    unsigned line_bits_;
    PagedArray<std::uint32_t> structures_;  ///< by line, from 1; 0: not yet known
    Address last_line_ = ~Address{0};
    std::uint32_t last_ = 0;
};

}  // namespace cachetally

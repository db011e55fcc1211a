// SPDX-License-Identifier: BSD-3-Clause
// BlockSource: block producers as a ReferenceSource, decoded ahead in a background thread where that is wanted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/traces/block.hpp"

namespace cachetally {

/// What a trace knows besides references.
struct TraceTables {
    std::vector<Region> regions;
    std::vector<std::string> functions;
    std::shared_ptr<const SiteTable> sites = nullptr;  ///< null: numbers of statements
    SiteNames site_names = {};
    friend bool operator==(const TraceTables&, const TraceTables&) = default;
};

/// A source of one stream per producer. With `ahead`, one thread of its own keeps some blocks of every stream ready;
/// what it throws is thrown by next() when everything before it was handed over.
std::unique_ptr<ReferenceSource> make_block_source(std::vector<std::unique_ptr<BlockProducer>> producers,
                                                   TraceTables tables, bool ahead);

}  // namespace cachetally

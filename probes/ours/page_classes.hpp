// SPDX-License-Identifier: BSD-3-Clause
// Pages by the sets of the second level that their lines lie in, by prime and probe: a page is evicted by as many pages
// of its class as the level has ways, and by no other ones. Classes times ways are the capacity, wherever pages lie and
// whoever else uses the level.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "probes/tests.hpp"

namespace cachetally {

struct PageClasses {
    std::uint64_t classes = 0;
    std::uint64_t ways = 0;              ///< pages of a class that stay together
    std::optional<double> latency = {};  ///< cycles of a load that hits in the level, where it is known
    std::string why_not = {};            ///< not empty: the reason why the above is not known

    std::uint64_t pages() const { return classes * ways; }
};

/// What it found on the way is added to `decisions`. (ours; eviction sets by bisection: as Vila, Koepf, Morales 2019,
/// "Theory and Practice of Finding Eviction Sets", and Genkin et al. 2018, "Drive-by Key-Extraction")
PageClasses find_page_classes(Meter& meter, const L1Geometry& l1, std::vector<std::string>& decisions);

}  // namespace cachetally

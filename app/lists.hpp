// SPDX-License-Identifier: BSD-3-Clause
// Options that are lists: "16,32", "1-6,dynamic:4". Each value once, in the order given; errors name the option.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "monitor/spec.hpp"
#include "viewer/phase_choice.hpp"

namespace cachetally::app {

/// The parts between commas.
std::vector<std::string> split_list(const std::string& text);

/// Of --link: names, which nobody has looked up.
std::vector<std::string> parse_links(const std::string& text);

/// Of --counters: "16,32", "1-8".
std::vector<std::uint32_t> parse_counters(const std::string& text);

/// Of --granularity: "1-6", "1,2,dynamic:4".
std::vector<Granularity> parse_granularities(const std::string& text);

/// Of --eviction.
std::vector<Eviction> parse_evictions(const std::string& text);

/// Of --ring: capacities in records.
std::vector<std::uint64_t> parse_capacities(const std::string& text);

/// When the software empties the ring.
struct DrainChoice {
    RingSpec::Drain drain = RingSpec::Drain::full;
    std::uint64_t amount = 0;  ///< records (watermark; 0 = half of the ring) or cycles (periodic)
    friend bool operator==(const DrainChoice&, const DrainChoice&) = default;
};

/// Of --drain: "full,watermark:32,periodic:10000".
std::vector<DrainChoice> parse_drains(const std::string& text);

/// Of --phase: "4", "3,5-7".
PhaseChoice parse_phases(const std::string& text);

}  // namespace cachetally::app

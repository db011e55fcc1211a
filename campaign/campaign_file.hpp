// SPDX-License-Identifier: BSD-3-Clause
// Campaign files: lists of machines, workloads, monitors and seeds, whose combinations are the points
// (docs/campaigns.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachetally/machine.hpp"
#include "cachetally/topology.hpp"

namespace cachetally {

/// A key, and the values that it takes in turn. "1-4" is four of them.
struct Varied {
    std::string key;
    std::vector<std::string> values;
    Mark mark;
};

/// A machine, workload or monitor, and what is varied of it: all combinations, the last key fastest.
struct CampaignEntry {
    std::string name;  ///< of a machine or its file; of a kernel or a trace; "none": no monitor
    bool is_trace = false;
    std::vector<Varied> set;
    Mark mark;
};

/// "L2.size < 512 KiB", "counters * granularity <= 256": products of numbers, of what points differ by, and of what
/// machine files state, on both sides; or one of these and a word, with == or !=. Points that have not all of it keep
/// it.
struct Condition {
    enum class Relation : std::uint8_t { equal, unequal, less, at_most, more, at_least };
    std::vector<std::string> left, right;  ///< factors
    Relation relation = Relation::equal;
    std::string text;
    Mark mark;
};

/// A random part of all points.
struct RandomDraw {
    std::uint64_t points = 0;
    std::uint64_t seed = 1;
};

struct CampaignFile {
    std::string path;  ///< for messages; inputs are found relative to its folder
    std::string text;
    std::string name;
    std::vector<CampaignEntry> machines, workloads, monitors;
    std::vector<std::uint64_t> seeds;  ///< empty: everything has the seeds that it states
    std::vector<Condition> where;
    std::optional<RandomDraw> draw;
    std::uint64_t count = 0;   ///< references counted; 0 = all
    std::uint64_t warmup = 0;  ///< references made before that
    bool slowdown = false;     ///< also run each point with its monitor
};

/// A number of a campaign file: whole, a size ("256 KiB"), a frequency in hertz ("2 GHz"), or with a decimal point.
std::optional<double> campaign_number(const std::string& text);

/// Throws FileError with all that is wrong.
CampaignFile parse_campaign_file(const std::string& text, const std::string& path);

}  // namespace cachetally

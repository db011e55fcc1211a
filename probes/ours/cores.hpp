// SPDX-License-Identifier: BSD-3-Clause
// Which processors share which level, and what a line costs from one to another.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachetally/probe_meter.hpp"
#include "probes/result.hpp"

namespace cachetally {

/// Processors by group, each group ascending.
using ProcessorGroups = std::vector<std::vector<unsigned>>;

/// "0+1 2+3"; more than two that follow each other as "0-3".
std::string in_words(const ProcessorGroups& groups);

/// A level as far as it is known: what the test of sharing fills.
struct LevelToFill {
    std::string name;         ///< "L1", ...
    double capacity = 0;      ///< bytes, at least so many; 0 = not known
    double next_at_most = 0;  ///< bytes of the level below; 0 = there is none, or it is not known
    std::string reason = {};  ///< why the capacity is not known
};

/// Two processors share a level if a working set of three quarters of it, in it before, is gone after the other one has
/// used as many other lines: then its loads take as long as after other lines of its own processor. `shared_by` and
/// `shared_among` of the level; each processor is compared with one of each group so far. A rise of up to a quarter of
/// that of its own lines is none, one of half of it and more is one, three times out of three; in between is refused.
/// (ours)
void find_sharers(Meter& meter, TestReport& report, const LevelToFill& level, std::uint64_t line);

/// Times of lines that move from processor to processor, both ways, as a matrix; classes of pairs at like latency; and
/// groups of processors at the least one. Pairs by their times in order are cut where the next one takes a quarter
/// longer, and their intervals do not overlap. A pair that takes a quarter longer in one pass than in another is in no
/// class: something moves the processors. (ours)
class Transfers {
public:
    /// So many lines of `line` bytes are moved.
    Transfers(Meter& meter, std::uint64_t line, std::uint64_t lines);
    ~Transfers();

    /// Measures all pairs once (more), unless that takes more than a share of what is left of the budget.
    void pass(double budget_share);

    void say(TestReport& report) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace cachetally

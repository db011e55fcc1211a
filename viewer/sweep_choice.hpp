// SPDX-License-Identifier: BSD-3-Clause
// SweepChoice: which cells of a sweep are worth a look: objectives, bounds, the front, and what remains of it where
// small differences do not count.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachetally {

struct SweepCell;

/// What a cell gives or takes; the less, the better.
struct Objective {
    std::string_view name, title;
    bool fraction = false;                                    ///< kept as a fraction; told, and bounded, in percent
    std::optional<double> (*of)(const SweepCell&) = nullptr;  ///< nothing where it is not known
};

/// error, slowdown, bytes (per event), swapouts, counters, bits, comparators, area, energy.
std::span<const Objective> all_objectives();

/// "error<5": errors and slowdowns in percent.
struct Bound {
    const Objective* objective = nullptr;
    bool below = true;      ///< else above
    bool included = false;  ///< with "<=" and ">="
    double limit = 0;

    bool holds(const SweepCell& cell) const;  ///< false where it is not known
};

struct SweepChoice {
    std::vector<const Objective*> objectives;  ///< empty: error, slowdown where all are known, bytes, bits
    std::vector<Bound> bounds;                 ///< a cell must keep all
    double tolerance = 0.05;                   ///< see remaining()

    bool admits(const SweepCell& cell) const;
    std::string objectives_text() const;  ///< as parse_choice() takes it
    std::string bounds_text() const;
};

/// "error,slowdown,bits"; "error<5,slowdown<=1"; percent. Empty texts: as by default. Throws std::invalid_argument that
/// names the option --objectives or --where.
SweepChoice parse_choice(const std::string& objectives, const std::string& where, double percent = 5);

/// Throws std::invalid_argument where the choice goes by slowdowns, and the sweep has none.
void require_measured(const SweepChoice& choice, bool timed);

/// A cell by its objectives.
using Point = std::vector<double>;

/// For each point whether no other is at least as good in all, and better in one.
std::vector<bool> front_of(std::span<const Point> points);

/// Ranges of errors and slowdowns on a front count as at least one percentage point, so that none below 0.05 tells
/// cells apart by default.
constexpr double least_range_of_fractions = 0.01;

/// Of a front, few points that stand for all: each point has one among them that is in no objective worse than it by
/// more than tolerance (0.05: 5 %) of the objective's range on the front, which counts as at least least_ranges (by
/// objective); and none of them could be left out. Chosen greedily, first what stands for most, of these what is best
/// in the first objective. (After the epsilon-Pareto sets of Papadimitriou and Yannakakis 2000, which go by factors;
/// the range and greed are ours.)
std::vector<bool> remaining(std::span<const Point> front, double tolerance, const Point& least_ranges);

/// What a cell is among those that it is compared with.
struct Standing {
    bool admitted = false;  ///< keeps the bounds, and its monitor saw events
    bool front = false;     ///< of those admitted
    bool remains = false;   ///< of the front
    friend bool operator==(const Standing&, const Standing&) = default;
};

/// Compares cells that count the same events of one workload on one link.
/// Cells of which an objective is not known stand on no front.
std::vector<Standing> standings(std::span<const SweepCell> cells, const SweepChoice& choice);

/// Those that standings() goes by.
std::vector<const Objective*> objectives_for(std::span<const SweepCell> cells, const SweepChoice& choice);

}  // namespace cachetally

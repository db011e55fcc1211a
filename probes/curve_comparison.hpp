// SPDX-License-Identifier: BSD-3-Clause
// Results of probes laid over one another: curves, by plateau and edge, and findings.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "probes/result.hpp"

namespace cachetally {

/// How far values of one curve lie from those of another at the same places. Relative: after / before - 1.
struct Differences {
    std::size_t points = 0;
    double median = 0;    ///< of their amounts
    double worst = 0;     ///< that of the largest amount, with its sign
    double worst_at = 0;  ///< its x
};

/// Points after each other: a plateau, along which the values before hardly change, or an edge between two.
struct CurveSegment {
    bool edge = false;
    double first = 0, last = 0;    ///< x
    double before = 0, after = 0;  ///< medians of the values
    Differences differences;
};

struct CurveComparison {
    std::string test, variant, name, x_name, x_unit, unit;
    std::vector<double> x, before, after;  ///< where both have a value above 0
    std::size_t only_before = 0, only_after = 0;
    Differences all;
    std::vector<CurveSegment> segments;
};

/// The two curves where both have a point. Neighbouring points of `before` that differ by more than a twentieth are
/// part of an edge, others of a plateau. (ours)
CurveComparison compared(const Curve& before, const Curve& after);

/// What both found.
struct FindingComparison {
    Finding before, after;
    bool same = false;  ///< the values, or one lies in the interval of the other
};

struct ProbeComparison {
    std::vector<CurveComparison> curves;
    std::vector<FindingComparison> findings;
    std::vector<std::string> only_before, only_after;  ///< curves, by test, variant and name
};

/// Throws std::invalid_argument where no curve and no finding is in both.
ProbeComparison compared(std::span<const TestReport> before, std::span<const TestReport> after);

}  // namespace cachetally

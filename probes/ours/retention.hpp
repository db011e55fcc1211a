// SPDX-License-Identifier: BSD-3-Clause
// Retention: how many lines stay in each level after more of them were used than it holds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "probes/tests.hpp"

namespace cachetally {

/// A level that pages fill: sharp, where each page brings as many lines to each set (ways = 0), or in so many colours
/// that each hold `ways` pages, of which a page has one by chance.
struct Shape {
    double capacity = 0;  ///< bytes
    unsigned ways = 0;
};

/// The expected share of the lines of `bytes`, in pages of `page`, that stay in a level: each colour of C / (ways x
/// page) keeps min(K, ways) of its K pages, K binomial. Whatever a set replaces, it keeps as many lines as it has ways,
/// so that this is so for every policy, and C / bytes far beyond the capacity. (ours)
double share_retained(const Shape& shape, double bytes, double page);

/// Cycles per load of lines that were drawn from all lines after all of them were used.
struct RetentionPoint {
    double bytes = 0, cycles = 0;
    double part = 0;  ///< share of the lines that are asked for before they are used again: each miss takes one
};

/// A level below L1.
struct RetentionLevel {
    Shape shape;
    double low = 0, high = 0;  ///< capacities that explain the times nearly as well
    double latency = 0;        ///< cycles
};

struct RetentionFit {
    std::vector<RetentionLevel> levels = {};
    double error = 0;  ///< root of the mean of squares of relative differences
};

/// Levels whose lines, as share_retained() has them, explain the times best: cycles(s) = L1's + sum of (next latency -
/// latency) x (share that does not stay). As few levels as explain them within `enough` (share), at most four. Empty
/// if none do. (ours)
std::optional<RetentionFit> fit_retention(std::span<const RetentionPoint> points, const L1Geometry& l1, double page,
                                          double enough);

/// Levels on pages that may lie anywhere, by times without noise. (ours)
TestReport levels_by_retention(Meter& meter, const L1Geometry& l1);

/// The same, the second one by page classes, with noise that one alone; the others are refused for `reason`. (ours)
TestReport levels_on_small_pages(Meter& meter, const L1Geometry& l1, const std::string& reason);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// What of a page stays in the second level after others were used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "probes/tests.hpp"

namespace cachetally {

/// Pages of an arena, by number.
using PageNumbers = std::vector<std::uint64_t>;

PageNumbers joined(PageNumbers a, std::span<const std::uint64_t> b);

class PagePrimes {
public:
    /// `miss`: cycles per load of a page that does not stay, where that is known.
    PagePrimes(Meter& meter, const L1Geometry& l1, std::uint64_t pages, double miss = 0);
    ~PagePrimes();
    PagePrimes(const PagePrimes&) = delete;
    PagePrimes& operator=(const PagePrimes&) = delete;

    /// Sets of L1 may be chosen by more than the offset in a page: pages so far apart meet in one.
    static std::uint64_t step_of(const Meter& meter, const L1Geometry& l1) {
        return std::max<std::uint64_t>(1, l1.way() / meter.page());
    }

    const PageNumbers& pages() const { return pages_; }  ///< in any order
    bool are_exact() const { return exact_; }            ///< times are without noise
    double hit() const { return hit_; }                  ///< cycles per load of a page that stays
    double miss() const { return miss_; }                ///< of one that does not

    /// Cycles per load of a page after all others, where nearly any does not stay; else nothing.
    std::optional<double> measured_miss();

    /// Whether a page does not stay after others, most of its lines. What disturbs only adds to what is evicted, so
    /// that a yes is asked again.
    bool evict(const PageNumbers& others, std::uint64_t page);
    /// The same of nearly all of its lines, with noise: policies may keep a line for a while beside just enough others.
    bool evict_most(const PageNumbers& others, std::uint64_t page);

    /// The same, asked more often.
    bool surely_evict(const PageNumbers& others, std::uint64_t page);

    /// Whether a page does not stay now and then: more often than what disturbs makes it so.
    bool sometimes_evict(const PageNumbers& others, std::uint64_t page);

    /// Cycles per load of a page after others.
    double time_after(const PageNumbers& others, std::uint64_t page);

    /// Those of some pages that do not stay after few others.
    PageNumbers evicted_by(const PageNumbers& few, PageNumbers pages);

    /// Cycles per load of many lines of pages that stay.
    double time(const PageNumbers& pages);
    /// Of a line of each, which L1 keeps: what is more than its latency is translation.
    double time_of_one_line(const PageNumbers& pages);

    /// More loads than may be spent.
    bool have_taken_long() const;

private:
    PageNumbers others(std::uint64_t page, std::uint64_t count) const;
    PageNumbers at(PageNumbers pages) const;
    void wait_until_quiet(std::uint64_t page);
    bool evict(const PageNumbers& others, std::uint64_t page, double share);
    double share_after(const PageNumbers& others, std::uint64_t page, unsigned rounds);
    double share_of(double cycles) const { return (cycles - hit_) / (miss_ - hit_); }
    double after(const PageNumbers& others, std::uint64_t page, unsigned rounds);
    std::vector<double> after(PageNumbers others, const PageNumbers& pages, unsigned rounds);

    Meter& meter_;
    L1Geometry l1_;
    std::uint64_t page_, step_;
    bool exact_;  ///< times: an answer does not change if it is asked again
    ProbeCost begun_at_;
    double miss_, hit_ = 0;  ///< cycles per load of a probe
    Arena arena_;
    PageNumbers pages_;
};

}  // namespace cachetally

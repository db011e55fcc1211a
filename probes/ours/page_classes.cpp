// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/page_classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "base/random.hpp"
#include "probes/ours/page_primes.hpp"

namespace cachetally {
namespace {

constexpr double some_of_l1 = 2, more_of_l1 = 3;  ///< times its capacity
constexpr double nearly_all = 0.8;
constexpr double alike = 0.04;  ///< share by which times differ, at most
constexpr std::uint64_t first_pages = 32, most_pages = 16384;
constexpr std::size_t most_ways = 64;
constexpr unsigned substitutes = 5, tries = 3;
constexpr std::size_t most_more = 2;  ///< members of a set than there are ways
constexpr unsigned passes = 6, passes_in_noise = 8, most_failed = 16;
constexpr double unlikely = 1e-3;  ///< that a class was missed
constexpr double as_two = 1.75;    ///< times the usual pages of a class: two that were taken for one
constexpr double between = 1.3;    ///< times a hit, what a page takes that has left the level

using Pages = PageNumbers;

/// That of so many events or fewer, where `mean` are expected. (Poisson)
double chance_of_at_most(double events, double mean) {
    if (events >= mean) return 1;
    double sum = 0;
    for (double i = 0; i <= events; ++i) sum += std::exp(i * std::log(mean) - mean - std::lgamma(i + 1));
    return sum;
}

/// A page, and those that evict it.
struct EvictionSet {
    std::uint64_t evicted = 0;
    Pages members;         ///< of its class
    Pages fillers = {};    ///< any others, that take L1 from it
    std::size_t ways = 0;  ///< the least number of members that evict it now and then
    Pages of_class = {};   ///< all that are known
    bool spread = false;   ///< fillers are of all classes in turn

    Pages pages() const { return joined(fillers, members); }
};

class Classes {
public:
    explicit Classes(PagePrimes& primes) : primes_(primes), left_(primes.pages()) {
        // half of them are kept for classes of which the others have too few
        left_.resize(left_.size() / 2);
    }

    /// All of them; the reason why they are not known, or nothing.
    std::string find() {
        const unsigned most = primes_.are_exact() ? passes : passes_in_noise;
        for (unsigned i = 0; i < most && !primes_.have_taken_long(); ++i) {
            search();
            leave_out_wrong_ones();
            if (i == 1)
                alone_ = joined(std::move(alone_), std::span(primes_.pages()).subspan(primes_.pages().size() / 2));
            looked_at_ = primes_.pages().size() / (i == 0 ? 2 : 1);
            find_unexplained();
            if (sets_.size() > 1 && nothing_is_missed() && !divide_merged()) return why_not_sure();
        }
        if (primes_.have_taken_long())
            return fmt::format("{} classes of pages were found, and there are more: they take too long", count());
        if (sets_.empty()) return "no pages evict another one each time";
        if (sets_.size() == 1) return "all pages lie in the same sets, or in sets of all kinds";
        return fmt::format("{} classes of pages were found, and {} pages that belong to none of them", count(),
                           left_.size());
    }

    std::size_t count() const { return sets_.size(); }
    std::size_t ways() const { return ways_; }
    const std::vector<EvictionSet>& sets() const { return sets_; }

    /// Whether classes follow each other page by page, as where pages lie in a row.
    bool in_turn() const {
        std::vector<std::vector<std::size_t>> of_turn(count(), std::vector<std::size_t>(count()));
        std::size_t all = 0, as_most = 0;
        for (std::size_t set = 0; set < count(); ++set)
            for (const std::uint64_t page : sets_[set].of_class) ++of_turn[page % count()][set];
        for (const auto& sets : of_turn) {
            all += std::accumulate(sets.begin(), sets.end(), std::size_t{0});
            as_most += std::ranges::max(sets);
        }
        return static_cast<double>(as_most) > nearly_all * static_cast<double>(all);
    }

private:
    /// Sets of pages for those that are left.
    void search() {
        for (unsigned failed = 0; left_.size() > 1 && failed < most_failed && !primes_.have_taken_long();) {
            const std::uint64_t page = left_.back();
            left_.pop_back();
            auto set = primes_.evict(left_, page) ? set_of(page) : std::nullopt;
            if (!set) {
                alone_.push_back(page);
                ++failed;
                continue;
            }
            set->of_class = joined(primes_.evicted_by(set->pages(), left_), set->members);
            // with some more than the ways of the class the others are evicted each time
            for (const std::uint64_t each : Pages(set->of_class))
                if (set->members.size() < set->ways + most_more &&
                    std::ranges::find(set->members, each) == set->members.end())
                    set->members.push_back(each);
            set->of_class = joined(primes_.evicted_by(set->pages(), left_), set->members);
            set->of_class.push_back(page);
            std::ranges::sort(set->of_class);
            std::erase_if(left_, [&](std::uint64_t each) { return std::ranges::binary_search(set->of_class, each); });
            sets_.push_back(std::move(*set));
        }
        alone_ = joined(std::move(alone_), left_);
    }

    /// Those that do not evict what they did, or only together with many pages, and all but one of each class.
    void leave_out_wrong_ones() {
        std::vector<EvictionSet> all = std::exchange(sets_, {});
        std::ranges::sort(all, {}, [](const EvictionSet& set) { return set.ways; });
        ways_ = all.empty() ? 0 : all[all.size() / 2].ways;
        for (EvictionSet& set : all) {
            const bool usual = set.members.size() <= ways_ + most_more && set.ways + most_more >= ways_;
            if (usual && primes_.surely_evict(set.pages(), set.evicted) && !is_known(set))
                sets_.push_back(std::move(set));
            else
                alone_ = joined(std::move(alone_), set.of_class);
        }
    }

    /// Whether nearly all sets have as many ways: with noise half of them, and nearly all one more or less, as others
    /// may hold a line of a set for a while.
    bool ways_agree() const {
        const auto within = [&](std::size_t difference) {
            return static_cast<std::size_t>(std::ranges::count_if(sets_, [&](const EvictionSet& set) {
                return std::max(set.ways, ways_) - std::min(set.ways, ways_) <= difference;
            }));
        };
        return 4 * within(0) >= (primes_.are_exact() ? 3 : 2) * sets_.size() && 4 * within(1) >= 3 * sets_.size();
    }

    /// Why these are not all classes of the level; empty = they are.
    std::string why_not_sure() {
        if (!ways_agree()) return "pages are evicted by different numbers of others";
        const std::size_t usual = usual_size();
        if (std::ranges::any_of(sets_, [&](const EvictionSet& set) { return is_merged(set, usual); }))
            return "some classes have many more pages than others";
        if (leave_by_others()) return "pages leave a smaller level by pages of any class";
        return "";
    }

    std::size_t usual_size() const {
        std::vector<std::size_t> sizes;
        for (const EvictionSet& set : sets_) sizes.push_back(set.of_class.size());
        std::ranges::nth_element(sizes, sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2));
        return sizes[sizes.size() / 2];
    }

    static bool is_merged(const EvictionSet& set, std::size_t usual) {
        const auto size = static_cast<double>(set.of_class.size()), mean = static_cast<double>(usual);
        return size > as_two * mean && chance_of_at_most(size, mean) > 1 - unlikely;
    }

    /// Fillers, too, may be of one class, and evict its pages: they are taken from all classes in turn, and pages that
    /// they do not evict leave the class. Whether there were any.
    bool divide_merged() {
        bool divided = false;
        for (std::size_t i = 0; i < sets_.size(); ++i) {
            EvictionSet& set = sets_[i];
            if (set.fillers.empty() || set.spread) continue;
            set.fillers = of_others(i, set.fillers.size());
            set.spread = true;
            Pages evicted = joined(primes_.evicted_by(set.pages(), set.of_class), set.members);
            std::ranges::sort(evicted);
            std::ranges::copy_if(set.of_class, std::back_inserter(left_), [&](std::uint64_t each) {
                return each != set.evicted && !std::ranges::binary_search(evicted, each);
            });
            divided = divided || evicted.size() + 1 < set.of_class.size();
            set.of_class = std::move(evicted);
        }
        return divided;
    }

    /// So many pages of other classes than one, of each in turn.
    Pages of_others(std::size_t one, std::size_t count) const {
        Pages found;
        for (std::size_t i = 0; found.size() < count && i < most_ways; ++i)
            for (std::size_t set = 0; set < sets_.size() && found.size() < count; ++set)
                if (set != one && i < sets_[set].of_class.size()) found.push_back(sets_[set].of_class[i]);
        return found;
    }

    /// Whether pages take longer after those of other classes: then another level lies between L1 and this one.
    bool leave_by_others() {
        std::size_t longer = 0, asked = 0;
        for (std::size_t i = 0; i < sets_.size() && asked < substitutes; ++i, ++asked)
            if (primes_.time_after(of_others(i, ways_ * (sets_.size() - 1)), sets_[i].evicted) >
                between * primes_.hit())
                ++longer;
        return 2 * longer > asked;
    }

    /// Asked of all others: a yes that is but disturbed would leave out a class.
    bool is_known(const EvictionSet& set) {
        const auto evicts = [&](const EvictionSet& one, const EvictionSet& other) {
            const Pages pages = one.pages();
            return primes_.evict(pages, other.evicted) && primes_.surely_evict(pages, other.evicted);
        };
        return std::ranges::any_of(sets_,
                                   [&](const EvictionSet& other) { return evicts(other, set) || evicts(set, other); });
    }

    /// Pages that no set evicts.
    void find_unexplained() {
        left_ = std::exchange(alone_, {});
        std::ranges::sort(left_);  // sets of one class have pages in common
        left_.erase(std::unique(left_.begin(), left_.end()), left_.end());
        shuffle(left_, ++shuffled_);
        for (EvictionSet& set : sets_) {
            const Pages more = joined(primes_.evicted_by(set.pages(), left_), set.members);
            std::erase_if(left_, [&](std::uint64_t each) { return std::ranges::find(more, each) != more.end(); });
            set.of_class = joined(std::move(set.of_class), more);
        }
    }

    /// Whether it is unlikely that a class is of so few pages as are left.
    bool nothing_is_missed() const {
        const double mean = static_cast<double>(looked_at_) / static_cast<double>(sets_.size() + 1);
        return chance_of_at_most(static_cast<double>(left_.size()), mean) < unlikely;
    }

    std::optional<EvictionSet> set_of(std::uint64_t page) {
        std::optional<EvictionSet> best;
        for (unsigned i = 0; i < tries; ++i) {
            const Pages found = primes_.are_exact() ? bisected(page) : pruned(bisected(page), page);
            if (found.empty() || !primes_.surely_evict(found, page)) continue;
            EvictionSet set{page, members_of(found, page)};
            if (set.members.empty()) continue;
            if (!primes_.surely_evict(set.members, page))
                std::ranges::copy_if(found, std::back_inserter(set.fillers), [&](std::uint64_t each) {
                    return std::ranges::find(set.members, each) == set.members.end();
                });
            set.ways = least_of(set);
            if (!best || set.pages().size() < best->pages().size()) best = std::move(set);
            if (best->fillers.empty() || primes_.are_exact()) break;
        }
        return best;
    }

    /// Policies may keep a page for a while beside just as many others as there are ways.
    std::size_t least_of(EvictionSet set) {
        for (; set.members.size() > 1; set.members.pop_back()) {
            const std::span members(set.members);
            if (!primes_.sometimes_evict(joined(set.fillers, members.first(members.size() - 1)), set.evicted)) break;
        }
        return set.members.size();
    }

    /// Of the pages that are left the least number of first ones that evict a page, the last of which is needed; beside
    /// that one the least number of first ones, and so on.
    Pages bisected(std::uint64_t page) {
        Pages found, rest = left_;
        shuffle(rest, page + ++shuffled_);
        const auto evicts = [&](std::size_t first) {
            return primes_.evict_most(joined(found, std::span(rest).first(first)), page);
        };
        std::size_t enough = std::min(rest.size(), expected_);
        while (found.size() < most_ways) {
            if (found.size() > 1 && evicts(0)) return found;
            while (!evicts(enough)) {  // at first, or where an answer was disturbed
                if (enough == rest.size()) return {};
                enough = std::min(rest.size(), 2 * enough + 1);
            }
            std::size_t few = 0;
            while (few + 1 < enough) {
                const std::size_t middle = (few + enough) / 2;
                (evicts(middle) ? enough : few) = middle;
            }
            if (enough == 0) return {};
            if (found.empty()) expected_ = enough + enough / 4;
            found.push_back(rest[--enough]);
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(enough));
        }
        return {};
    }

    /// Without those that the others do not need: where policies keep a page now and then, or something disturbs, the
    /// number of pages at which it begins to leave is blurred.
    Pages pruned(Pages set, std::uint64_t page) {
        for (std::size_t i = set.size(); i > 0; --i) {
            Pages rest = set;
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i - 1));
            if (primes_.surely_evict(rest, page) && primes_.surely_evict(rest, page)) set = std::move(rest);
        }
        return set;
    }

    /// Those in whose place no other page does.
    Pages members_of(const Pages& set, std::uint64_t page) {
        Pages members;
        for (std::size_t i = 0; i < set.size(); ++i) {
            Pages changed = set;
            bool needed = false;
            for (unsigned j = 0; j < substitutes && !needed; ++j) {
                changed[i] = substitute(set, page, i * substitutes + j);
                needed = !primes_.evict(changed, page);
            }
            if (needed) members.push_back(set[i]);
        }
        return members;
    }

    std::uint64_t substitute(const Pages& set, std::uint64_t evicted, std::size_t number) const {
        const Pages& from = primes_.pages();
        for (std::size_t i = splitmix64(number + shuffled_ * 1024);; ++i) {
            const std::uint64_t page = from[i % from.size()];
            if (page != evicted && std::ranges::find(set, page) == set.end()) return page;
        }
    }

    PagePrimes& primes_;
    Pages left_;                     ///< to be looked at
    Pages alone_;                    ///< that were, and belong to no set
    std::vector<EvictionSet> sets_;  ///< one of each class
    std::size_t ways_ = 0;
    std::uint64_t shuffled_ = 0, looked_at_ = 0;
    std::size_t expected_ = 64;  ///< pages of which so many evict any
};

/// Pages that evict each other, four times as many as are needed for that; none where there are not so many.
std::unique_ptr<PagePrimes> enough_pages(Meter& meter, const L1Geometry& l1) {
    const std::uint64_t most =
        std::min(most_pages, meter.capabilities().largest_arena / (PagePrimes::step_of(meter, l1) * meter.page()));
    // Few at first, so that pages that leave the second level are not those that leave the third as well.
    const std::uint64_t first = std::max(first_pages, std::bit_ceil(4 * l1.capacity / meter.page()));
    for (std::uint64_t pages = first; 4 * pages <= most; pages *= 2) {
        const auto miss = PagePrimes(meter, l1, pages).measured_miss();
        if (miss) return std::make_unique<PagePrimes>(meter, l1, 4 * pages, *miss);
    }
    return nullptr;
}

/// Some pages of each class that stay together, more than L1 holds.
Pages pages_that_stay(const Classes& classes, std::size_t count) {
    Pages pages;
    for (std::size_t i = 0; i < std::max<std::size_t>(1, classes.ways() / 2); ++i)
        for (const EvictionSet& set : classes.sets())
            if (i < set.members.size() && pages.size() < count) pages.push_back(set.members[i]);
    return pages;
}

/// Times of pages that stay, several times what L1 holds: neither what it keeps of them nor their translation may be
/// in these.
std::optional<double> sure_latency(Meter& meter, const L1Geometry& l1, PagePrimes& primes, const Classes& classes) {
    const double in_l1 =
        static_cast<double>(l1.capacity) / static_cast<double>(meter.page() * PagePrimes::step_of(meter, l1));
    const auto count = [&](double times) { return static_cast<std::size_t>(std::ceil(times * in_l1)); };
    const Pages some = pages_that_stay(classes, count(some_of_l1)), more = pages_that_stay(classes, count(more_of_l1));
    if (more.size() < count(more_of_l1)) return {};
    const double few = primes.time(some), many = primes.time(more);
    if (std::abs(many - few) > alike * few || primes.time_of_one_line(more) > l1.latency * (1 + alike)) return {};
    return std::min(few, many);
}

}  // namespace

PageClasses find_page_classes(Meter& meter, const L1Geometry& l1, std::vector<std::string>& decisions) {
    if (l1.line < 2 * sizeof(void*)) return {.why_not = "lines have no room for both prime and probe"};
    if (l1.scattered) return {.why_not = "no stride makes lines meet in L1: pages do not take as many places of each"};
    const auto primes = enough_pages(meter, l1);
    if (!primes) return {.why_not = "as many pages as there are do not evict each other"};
    decisions.push_back(fmt::format("{} pages; a load of one takes {:.1f} cycles after a few others, {:.1f} after all",
                                    primes->pages().size(), primes->hit(), primes->miss()));
    Classes classes(*primes);
    PageClasses found{.why_not = classes.find()};
    found.classes = classes.count();
    found.ways = classes.ways();
    decisions.push_back(fmt::format("{} classes of pages, {} of which stay together", found.classes, found.ways));
    if (!found.why_not.empty()) return found;
    if (PagePrimes::step_of(meter, l1) > 1 && classes.in_turn())
        found.why_not = "pages lie in a row: those that meet in sets of L1 may be of some classes only";
    else
        found.latency = sure_latency(meter, l1, *primes, classes);
    return found;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/page_primes.hpp"

#include <numeric>

namespace cachetally {
namespace {

constexpr std::uint64_t loads_of_probe = 8;            ///< of a page: few, in any order, so that none is prefetched
constexpr unsigned samples = 9;                        ///< pages that are asked for to see whether as many are evicted
constexpr double clear_ratio = 1.8;                    ///< of a load that misses to one that hits
constexpr double alike = 0.8;                          ///< times of pages none of which stays
constexpr double at_least = 0.4, most = 0.7;           ///< share of a probe's loads that miss where its page is evicted
constexpr unsigned usual_rounds = 3, more_rounds = 9;  ///< of a question; the first one of a page may be its first use
constexpr unsigned asked_again = 2, most_waits = 32;
constexpr unsigned asked_often = 16, often = 4;
constexpr std::size_t few_pages = 40;  ///< of a prime that is made several times over, and shows what disturbs
constexpr std::uint64_t laps_of_few = 4, laps_of_some = 3, some_pages = 400;
constexpr unsigned at_a_time = 8;  ///< chains of a prime: it takes less time
constexpr std::uint64_t most_loads = 4'000'000'000, most_simulated = 40'000'000;

template <class Ask>
double median_of_samples(Ask ask) {
    std::vector<double> times;
    for (std::size_t i = 0; i < samples; ++i) times.push_back(ask(i));
    return quantiles_of(std::move(times)).median;
}

}  // namespace

PageNumbers joined(PageNumbers a, std::span<const std::uint64_t> b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

PagePrimes::PagePrimes(Meter& meter, const L1Geometry& l1, std::uint64_t pages, double miss)
    : meter_(meter),
      l1_(l1),
      page_(meter.page()),
      step_(step_of(meter, l1)),
      exact_(meter.noise() == 0),
      begun_at_(meter.target().cost()),
      miss_(miss) {
    arena_ = meter.target().make_arena(pages * step_ * page_, page_);
    arena_.written = true;
    pages_.resize(pages);
    std::iota(pages_.begin(), pages_.end(), 0);
    shuffle(pages_, meter.seed());
    hit_ = median_of_samples(
        [&](std::size_t i) { return after(others(pages_[i], 2 * l1_.capacity / page_), pages_[i], more_rounds); });
}

PagePrimes::~PagePrimes() { meter_.target().release(arena_); }

std::optional<double> PagePrimes::measured_miss() {
    std::vector<double> times;
    for (std::size_t i = 0; i < samples; ++i)
        times.push_back(after(others(pages_[i], pages_.size()), pages_[i], usual_rounds));
    std::ranges::sort(times);
    // With noise misses may take several times as long as others.
    const bool all = times[1] > clear_ratio * hit_ && (!exact_ || times[1] > alike * times[samples / 2]);
    return all ? std::optional(times[1]) : std::nullopt;
}

bool PagePrimes::evict(const PageNumbers& others, std::uint64_t page) { return evict(others, page, at_least); }

bool PagePrimes::evict_most(const PageNumbers& others, std::uint64_t page) {
    return evict(others, page, exact_ ? at_least : most);
}

bool PagePrimes::evict(const PageNumbers& others, std::uint64_t page, double share) {
    for (unsigned i = 0; i < (exact_ ? 1 : asked_again); ++i) {
        if (share_after(others, page, usual_rounds) < share) return false;
        if (!exact_ && others.size() <= few_pages) wait_until_quiet(page);
    }
    return true;
}

bool PagePrimes::surely_evict(const PageNumbers& others, std::uint64_t page) {
    return share_after(others, page, more_rounds) > at_least;
}

bool PagePrimes::sometimes_evict(const PageNumbers& others, std::uint64_t page) {
    if (exact_) return evict(others, page);
    unsigned evicted = 0;
    for (unsigned i = 0; i < asked_often && evicted < often; ++i)
        if (share_of(after(others, page, 1)) > at_least) ++evicted;
    return evicted == often;
}

double PagePrimes::time_after(const PageNumbers& others, std::uint64_t page) {
    return after(others, page, more_rounds);
}

bool PagePrimes::have_taken_long() const {
    const ProbeCost spent = meter_.target().cost() - begun_at_;
    return spent.references > most_loads || spent.simulated > most_simulated;
}

PageNumbers PagePrimes::evicted_by(const PageNumbers& few, PageNumbers pages) {
    std::erase_if(pages, [&](std::uint64_t page) { return std::ranges::find(few, page) != few.end(); });
    if (pages.empty()) return {};
    PageNumbers found;
    const std::vector<double> times = after(few, pages, usual_rounds);
    for (std::size_t i = 0; i < pages.size(); ++i)
        if (share_of(times[i]) > at_least && evict(few, pages[i])) found.push_back(pages[i]);
    return found;
}

double PagePrimes::time(const PageNumbers& pages) {
    return meter_.time(arena_, page_lines_string(at(pages), {page_, l1_.line, 1}, meter_.seed()), 3, 3);
}

double PagePrimes::time_of_one_line(const PageNumbers& pages) {
    Offsets offsets;
    for (std::size_t i = 0; i < pages.size(); ++i)
        offsets.change().push_back(pages[i] * step_ * page_ + i * l1_.line % page_);
    return meter_.time(arena_, offsets, 3, 3);
}

PageNumbers PagePrimes::others(std::uint64_t page, std::uint64_t count) const {
    PageNumbers found;
    for (auto other = pages_.rbegin(); other != pages_.rend() && found.size() < count; ++other)
        if (*other != page) found.push_back(*other);
    return found;
}

PageNumbers PagePrimes::at(PageNumbers pages) const {
    for (std::uint64_t& page : pages) page *= step_;
    return pages;
}

/// Others who use the level evict, too: then a page does not stay after few others, which are of any class.
void PagePrimes::wait_until_quiet(std::uint64_t page) {
    const PageNumbers few = others(page, few_pages);
    for (unsigned i = 0; i < most_waits && share_after(few, page, usual_rounds) > at_least / 2; ++i) {
    }
}

double PagePrimes::share_after(const PageNumbers& others, std::uint64_t page, unsigned times) {
    return share_of(after(others, page, times));
}

double PagePrimes::after(const PageNumbers& others, std::uint64_t page, unsigned times) {
    return after(others, PageNumbers{page}, times).front();
}

/// Cycles per load of some lines of pages, each after all lines of others, several times over where these are few, as
/// policies may keep a page for a while.
std::vector<double> PagePrimes::after(PageNumbers others, const PageNumbers& pages, unsigned times) {
    if (pages.size() == 1) std::erase(others, pages.front());
    const std::uint64_t words = l1_.line / sizeof(void*) - 1;  // the last one is the probe's
    const std::uint64_t laps = others.size() <= few_pages    ? laps_of_few
                               : others.size() <= some_pages ? laps_of_some
                                                             : 1;
    const std::uint64_t lines = page_ / l1_.line, stride = std::max(l1_.line, page_ / loads_of_probe);
    // All lines: sets may be hashed, so that pages meet in sets of lines at other offsets (Zen 5).
    const PageLines how{page_, l1_.line, lines, std::min(words, laps)};
    const Offsets prime = page_lines_string(at(others), how, meter_.seed());
    const Offsets probe =
        moved(page_lines_string(at(pages), {page_, stride, lines}, meter_.seed()), words * sizeof(void*));
    const auto parts = static_cast<unsigned>(pages.size());
    const unsigned chains =
        prime.size() % at_a_time == 0 && meter_.capabilities().most_chains >= at_a_time ? at_a_time : 1;
    PrimeProbe question{{prime, false, chains}, {probe}, parts, parts};
    if (pages.size() == 1) {
        question.renewed = Renewal::loaded;
        question.touched = pages.front() * step_ * page_ + page_ / 2 + l1_.line;
    }
    return meter_.prime_and_probe(arena_, question, {0, times}).parts;
}

}  // namespace cachetally

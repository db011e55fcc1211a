// SPDX-License-Identifier: BSD-3-Clause
#include "probes/xray/compact_test.hpp"

#include <map>

namespace cachetally {
namespace {

constexpr std::size_t most_moved = 256;  ///< locations of a string that is tried in other sets, too
constexpr std::uint64_t used_once = std::uint64_t{256} << 10;  ///< bytes whose lines are used for the first time
constexpr std::uint64_t apart = 256, most_translated = 4096;
constexpr std::uint64_t words_of_piece = 16;   ///< locations in a piece of a page that is a line, or two
constexpr std::uint64_t least_blameless = 32;  ///< bytes of a stride, less than which there are no fewer lines
constexpr double longer_at_first = 1.2;        ///< share by which lines take more when they are used first

/// Of locations that lie so close that the same lines are used with fewer of them.
Offsets one_of_each_piece(const Offsets& offsets) {
    const std::uint64_t first = std::ranges::min(offsets);
    Offsets found = offsets;
    std::erase_if(found.change(), [&](std::uint64_t offset) { return (offset - first) % least_blameless != 0; });
    return found;
}

}  // namespace

CompactTest::CompactTest(Meter& meter, bool robust, std::uint64_t seed)
    : meter_(meter), robust_(robust), seed_(seed), arena_(new_arena()), hit_(meter.settled(arena_, {0})) {}

CompactTest& CompactTest::place_anew() {
    arena_ = new_arena();
    return *this;
}

CompactTest& CompactTest::keep_placed() {
    place_anew().arena_.written = true;
    return *this;
}

bool CompactTest::hits_a_cache() {
    const std::uint64_t bytes = std::min(arena_.bytes, used_once), page = std::min(arena_.page, most_translated);
    const auto all = first_use(page_local_string(bytes, page, std::min(apart, page), seed_));
    const auto translated = first_use(page_local_string(bytes, page, page, seed_));
    const double loads = all.second - translated.second;
    return loads > 0 && (all.first - translated.first) / loads > longer_at_first * hit_ + meter_.tolerance(hit_);
}

bool CompactTest::operator()(std::uint64_t stride, std::uint64_t n) {
    return somewhere(compact_string(stride, n), stride, moved_by);
}

bool CompactTest::shifted(std::uint64_t stride, std::uint64_t n, std::uint64_t shift) {
    return somewhere(shifted_string(stride, n, shift), stride, std::max(moved_by, 42 * shift));
}

bool CompactTest::drawn(std::uint64_t stride, std::uint64_t n, unsigned number) {
    Offsets offsets = compact_string(stride, std::min(4 * n, (arena_.bytes - 3 * moved_by) / stride));
    shuffle(offsets.change(), seed_ + number);
    offsets.change().resize(n);
    std::ranges::sort(offsets.change());
    return somewhere(std::move(offsets), stride, moved_by);
}

Arena CompactTest::new_arena() const {
    return meter_.arena_up_to(16 * largest, robust_ ? meter_.large_page() : meter_.page());
}

/// Cycles of all loads where nobody has used their lines, and the number of loads.
std::pair<double, double> CompactTest::first_use(const Offsets& offsets) {
    const auto loads = static_cast<double>(offsets.size());
    return {meter_.run(new_arena(), {offsets}, {0, 1}).cycles * loads, loads};
}

bool CompactTest::somewhere(Offsets offsets, std::uint64_t stride, std::uint64_t move) {
    if (compact(offsets, stride)) return true;
    if (!robust_ || offsets.size() > most_moved) return false;
    for (int times = 0; times < 2; ++times) {
        if (std::ranges::max(offsets) + move + location > arena_.bytes) return false;
        offsets = moved(offsets, move);
        if (compact(offsets, stride)) return true;
    }
    return false;
}

bool CompactTest::compact(Offsets offsets, std::uint64_t stride) {
    if (robust_) shuffle(offsets.change(), seed_);
    if (!longer(offsets)) return true;
    if (!robust_ || offsets.size() * stride <= arena_.page) return false;
    // The pages may be to blame.
    if (stride < least_blameless) return compact(one_of_each_piece(offsets), least_blameless);
    const auto [time, blameless] = meter_.settled_in_turn(arena_, offsets, without_conflicts(offsets));
    return time <= blameless + meter_.tolerance(blameless);
}

/// Where a location does not stay, a lap has at least one miss, which takes as long as a hit and more.
bool CompactTest::longer(const Offsets& offsets) {
    const double miss = robust_ ? hit_ / static_cast<double>(offsets.size()) : 0;
    if (!meter_.takes_longer(arena_, offsets, hit_, miss)) return false;
    if (least_laps_ > 0 && !meter_.takes_longer(arena_, offsets, hit_, miss, least_laps_)) return false;
    if (!robust_ || meter_.noise() == 0) return true;
    // What a hit takes now: the core's clock may be judged otherwise than at first, by so much.
    const double now = std::min(meter_.settled(arena_, {0}), hit_ * (1 + meter_.misjudged));
    return now <= hit_ || meter_.takes_longer(arena_, offsets, now, miss);
}

/// The same pages, each as often, but as few lines of each as there are words for its locations; these lie in other
/// sets than those of the pages before.
Offsets CompactTest::without_conflicts(const Offsets& offsets) const {
    std::map<std::uint64_t, std::uint64_t> of_page;  ///< locations
    for (const std::uint64_t offset : offsets) ++of_page[offset / arena_.page];
    std::map<std::uint64_t, std::uint64_t> next;  ///< word of a page, counted from the begin of a piece
    std::uint64_t piece = 0;
    for (const auto& [page, locations] : of_page) {
        next[page] = piece * words_of_piece;
        piece += (locations + words_of_piece - 1) / words_of_piece;
    }
    Offsets found = offsets;
    for (std::uint64_t& offset : found.change()) {
        const std::uint64_t page = offset / arena_.page;
        offset = page * arena_.page + next[page]++ * location % arena_.page;
    }
    return found;
}

}  // namespace cachetally

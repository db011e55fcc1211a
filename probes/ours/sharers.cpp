// SPDX-License-Identifier: BSD-3-Clause
// Which processors take each other's lines out of a level.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/units.hpp"
#include "probes/ours/cores.hpp"

namespace cachetally {
namespace {

constexpr double filled = 0.75;            ///< share of a level: one set fits, two do not
constexpr double room_below = 2;           ///< times the level, that the one below holds at least
constexpr double least_visible = 0.15;     ///< share by which times rise where lines are gone
constexpr double kept = 0.25, gone = 0.5;  ///< shares of the rise after lines of one's own
constexpr unsigned rounds_with_noise = 5, trials_with_noise = 3;
constexpr std::uint64_t small_set = std::uint64_t{64} << 10;  ///< bytes, for which ordinary pages do

class Sharers {
public:
    Sharers(Meter& meter, std::uint64_t bytes, std::uint64_t line)
        : meter_(meter),
          arena_(meter.target().make_arena(bytes, bytes <= small_set ? meter.page() : meter.large_page())),
          lines_(random_string(bytes, line, meter.seed())) {}
    ~Sharers() { meter_.target().release(arena_); }
    Sharers(const Sharers&) = delete;
    Sharers& operator=(const Sharers&) = delete;

    /// Throws ProbeError where it is not clear.
    bool share(unsigned one, unsigned other) {
        const Alone& alone = alone_of(one, other);
        const double rise = alone.after_own - alone.undisturbed;
        double least = 1;
        for (unsigned i = 0; i < trials(); ++i) {
            const double cycles = after(one, other, lines_);
            least = std::min(least, (cycles - alone.undisturbed) / rise);
            if (least <= kept) return false;
        }
        if (least >= gone) return true;
        throw ProbeError(
            "after loads of processor {}, those of {} take {:.2f} of what they take more after others of its own: too "
            "much "
            "for none of its lines, too little for all",
            other, one, least);
    }

    ProcessorGroups groups(std::size_t& compared) {
        ProcessorGroups found;
        for (const unsigned processor : meter_.capabilities().processors) {
            const auto same = std::ranges::find_if(
                found, [&](const std::vector<unsigned>& group) { return share(group.front(), processor); });
            if (same == found.end())
                found.push_back({processor});
            else
                same->push_back(processor);
            ++compared;
        }
        return found;
    }

private:
    struct Alone {
        double undisturbed = 0, after_own = 0;  ///< cycles per load
    };

    unsigned trials() const { return meter_.noise() > 0 ? trials_with_noise : 1; }

    double after(unsigned one, unsigned other, const Offsets& lines) {
        const unsigned rounds = meter_.noise() > 0 ? rounds_with_noise : 1;
        return meter_.run_after(arena_, {one, {lines_}}, {other, {lines}}, rounds).cycles;
    }

    /// The least of a few trials: what disturbs only lengthens.
    double least_after(unsigned one, unsigned other, const Offsets& lines) {
        double least = after(one, other, lines);
        for (unsigned i = 1; i < trials(); ++i) least = std::min(least, after(one, other, lines));
        return least;
    }

    const Alone& alone_of(unsigned one, unsigned other) {
        const auto known = alone_.find(one);
        if (known != alone_.end()) return known->second;
        const Alone alone{least_after(one, other, {0}), least_after(one, one, lines_)};
        if (alone.after_own < alone.undisturbed * (1 + least_visible))
            throw ProbeError(
                "on processor {} loads take {:.2f} cycles, and {:.2f} after others that should take their lines: lines "
                "that are gone would not be seen",
                one, alone.undisturbed, alone.after_own);
        return alone_[one] = alone;
    }

    Meter& meter_;
    Arena arena_;
    Offsets lines_;
    std::map<unsigned, Alone> alone_;
};

void say_sharers(TestReport& report, const std::string& level, const ProcessorGroups& groups) {
    const std::string method = "three quarters of the level, and as many other lines on another processor";
    const auto [least, most] = std::ranges::minmax(groups, {}, &std::vector<unsigned>::size);
    if (least.size() == most.size())
        report.answer(level, "shared_by", std::uint64_t{least.size()}, "processors", method);
    else
        report.refuse(level, "shared_by",
                      "copies of the level differ: from {} to {} of the processors that may be used", least.size(),
                      most.size());
    report.answer(level, "shared_among", in_words(groups), method);
}

}  // namespace

void find_sharers(Meter& meter, TestReport& report, const LevelToFill& level, std::uint64_t line) {
    const auto refuse = [&](const std::string& reason) { report.refuse(level.name, {"shared_by"}, reason); };
    if (level.capacity <= 0)
        return refuse("its capacity, which is to be filled, was not found" +
                      (level.reason.empty() ? "" : " (" + level.reason + ")"));
    if (level.next_at_most > 0 && level.next_at_most < room_below * level.capacity)
        return refuse(
            "the level below is less than twice as large: lines that go there may go for want of room in that one");
    std::size_t compared = 0;
    try {
        const auto bytes = static_cast<std::uint64_t>(filled * level.capacity) / line * line;
        Sharers sharers(meter, std::max(bytes, line), line);
        say_sharers(report, level.name, sharers.groups(compared));
    } catch (const BudgetSpent& error) {
        refuse(fmt::format("{}: {} of {} processors were compared", error.what(), compared,
                           meter.capabilities().processors.size()));
    } catch (const ProbeError& error) {
        refuse(error.what());
    }
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Which level prefetches what: by the lines of a 4 KiB block that are found early after a few loads of it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "probes/ours/answering_level.hpp"
#include "probes/ours/prefetch_model.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t block = 4096;              ///< bytes, beyond which no prefetcher goes
constexpr std::uint64_t blocks_apart = 5 * block;  ///< so far that no run of lines goes from one to the next
constexpr std::uint64_t most_blocks = 8, pages_of_any_tlb = 6;
constexpr int least_lines = 32;  ///< of a block, in which distances can be told
constexpr double early = 0.35;   ///< share of memory's time that a line of any level saves
constexpr double near = 0.1;     ///< share of a latency, within which it is that of a level
constexpr double clear = 0.3;    ///< share of the difference to the next level that an error may be
constexpr std::uint8_t unclear = 0xff;

/// Loads of a block that come before those that are timed.
struct Lesson {
    const char* name;
    BlockLines loads;
};

BlockLines in_steps(int from, int step, int count) {
    BlockLines loads;
    for (int i = 0; i < count; ++i) loads.push_back(from + i * step);
    return loads;
}

/// Some are so short that what is fetched is fetched at once, which tells degree and distance apart, also of lines of
/// twice and four times the length; others so long that a prefetcher which begins late begins.
std::vector<Lesson> lessons_of(int lines) {
    constexpr int margin = 4, apart = 3;
    const int longer = lines >= 128 ? 12 : 6, most = lines >= 64 ? longer + 4 : longer + 2;
    return {{"one load", {lines / 2}},
            {"ascending lines", in_steps(margin, 1, 3)},
            {"ascending lines", in_steps(margin, 1, longer)},
            {"ascending lines", in_steps(margin, 1, most)},
            {"descending lines", in_steps(lines - 1 - margin, -1, most)},
            {"every third line", in_steps(margin, apart, 4)},
            {"every third line", in_steps(margin, apart, 6)}};
}

class EarlyLines {
public:
    EarlyLines(Meter& meter, const L1Geometry& l1, const KnownLatencies& known)
        : meter_(meter), line_(l1.line), known_(known) {
        const std::uint64_t page = meter.large_page();
        const bool large = page > meter.page();
        const std::uint64_t most = large ? most_blocks : pages_of_any_tlb;
        apart_ = large ? blocks_apart : (blocks_apart + page - 1) / page * page;
        // Lines at the same place of their blocks may meet in one set.
        blocks_ = std::clamp<std::uint64_t>(l1.ways / 2, 1, most);
        arena_ = meter.arena_up_to((blocks_ + 2) * apart_, page);
    }

    /// Where each line of a block is found after a lesson: a level from 0, their number for memory, or unclear. Those
    /// of the lesson are not asked for.
    std::vector<std::uint8_t> after(const Lesson& lesson, int lines) {
        std::vector<int> others;
        for (int line = 0; line < lines; ++line)
            if (std::ranges::find(lesson.loads, line) == lesson.loads.end()) others.push_back(line);
        std::vector<std::uint8_t> found(static_cast<std::size_t>(lines), in_memory());
        for (const std::vector<int>& group : early_groups(lesson, others))
            for (const int line : group) found[static_cast<std::size_t>(line)] = level_of(time(lesson, {line}));
        return found;
    }

    std::uint8_t in_memory() const { return static_cast<std::uint8_t>(known_.cycles.size()); }

private:
    /// Each block is asked for one line, so that what is timed teaches nothing: in turn for these.
    MeanTime time(const Lesson& lesson, const std::vector<int>& asked) {
        std::vector<std::uint64_t> loads, probes;
        for (std::uint64_t i = 0; i < blocks_; ++i) {
            const auto place = [&](int line) { return (i + 1) * apart_ + static_cast<std::uint64_t>(line) * line_; };
            for (const int line : lesson.loads) loads.push_back(place(line));
            probes.push_back(place(asked[i % asked.size()]));
        }
        const Offsets prime(std::move(loads)), probe(std::move(probes));
        return mean_time(meter_, arena_, {{prime}, {probe}, 1, 1, Renewal::taken_out});
    }

    /// Lines of which any is found early, as many together as there are blocks.
    std::vector<std::vector<int>> early_groups(const Lesson& lesson, const std::vector<int>& lines) {
        std::vector<std::vector<int>> groups;
        std::vector<MeanTime> times;
        for (std::size_t first = 0; first < lines.size(); first += blocks_) {
            const std::size_t end = std::min<std::size_t>(lines.size(), first + blocks_);
            groups.emplace_back(lines.begin() + static_cast<std::ptrdiff_t>(first),
                                lines.begin() + static_cast<std::ptrdiff_t>(end));
            times.push_back(time(lesson, groups.back()));
            memory_ = std::max(memory_, times.back().cycles);
        }
        std::vector<std::vector<int>> with_early;
        const double saved = early * memory_ / static_cast<double>(blocks_);
        for (std::size_t i = 0; i < groups.size(); ++i)
            if (times[i].cycles < memory_ - saved + times[i].error) with_early.push_back(groups[i]);
        return with_early;
    }

    std::uint8_t level_of(const MeanTime& time) const {
        if (time.cycles >= memory_ * (1 - near) - time.error && time.error < clear * early * memory_)
            return in_memory();
        for (std::size_t level = 0; level < known_.cycles.size(); ++level) {
            const double own = known_.cycles[level];
            double gap = memory_ - own;
            if (level > 0) gap = std::min(gap, own - known_.cycles[level - 1]);
            if (level + 1 < known_.cycles.size()) gap = std::min(gap, known_.cycles[level + 1] - own);
            if (time.error < clear * gap &&
                std::abs(time.cycles - own) <= std::min(clear * gap, near * own + time.error))
                return static_cast<std::uint8_t>(level);
        }
        return unclear;
    }

    Meter& meter_;
    std::uint64_t line_, apart_ = 0, blocks_ = 0;
    const KnownLatencies& known_;
    Arena arena_;
    double memory_ = 0;
};

std::string in_words(const Lesson& lesson, const std::vector<std::uint8_t>& found, std::uint8_t memory) {
    std::string text;
    for (std::size_t line = 0; line < found.size(); ++line)
        if (found[line] == unclear)
            text += fmt::format(" {}?", line);
        else if (found[line] != memory)
            text += fmt::format(" {} (L{})", line, found[line] + 1);
    return fmt::format("after {} ({} to {}): {}", lesson.name, lesson.loads.front(), lesson.loads.back(),
                       text.empty() ? "no line is early" : "early are" + text);
}

/// Whether lines are where the guess has them after each lesson.
bool fits(const PrefetchGuess& guess, const std::vector<Lesson>& lessons,
          const std::vector<std::vector<std::uint8_t>>& found) {
    for (std::size_t i = 0; i < lessons.size(); ++i) {
        const auto lines = static_cast<int>(found[i].size());
        std::vector<std::uint8_t> expected = where_lines_are(guess, lessons[i].loads, lines);
        for (const int line : lessons[i].loads)  // which are not asked for
            expected[static_cast<std::size_t>(line)] = found[i][static_cast<std::size_t>(line)];
        if (expected != found[i]) return false;
    }
    return true;
}

constexpr char method[] = "lines of 4 KiB that are found early after a few loads";

/// What all guesses that fit say of a level.
void answer_level(std::size_t level, std::span<const PrefetchGuess> fitting, TestReport& report) {
    const std::string name = fmt::format("L{}", level + 1);
    std::set<std::string> kinds;
    std::set<int> degrees, distances;
    for (const PrefetchGuess& guess : fitting) {
        if (guess.kind != "none" && guess.level < level)
            return report.refuse(name, "prefetch", "a prefetcher of L{} asks it for most lines before a load does",
                                 guess.level + 1);
        const bool own = guess.kind != "none" && guess.level == level;
        kinds.insert(own ? guess.kind : "none");
        degrees.insert(guess.degree);
        distances.insert(guess.distance);
    }
    if (kinds.size() > 1)
        return report.refuse(
            name, "prefetch", "{} would bring the same lines",
            kinds.contains("adjacent_line") ? "adjacent_line, and lines of twice the length," : "several kinds");
    const std::string& kind = *kinds.begin();
    report.answer(name, "prefetch", kind, method);
    if (kind == "none" || kind == "adjacent_line") return;
    const std::string unit = kind == "stride" ? "strides" : "lines";
    if (degrees.size() == 1)
        report.answer(name, "prefetch_degree", static_cast<std::uint64_t>(*degrees.begin()), "lines", method);
    else
        report.refuse(name, "prefetch_degree", "several degrees would bring the same lines");
    if (distances.size() == 1)
        report.answer(name, "prefetch_distance", static_cast<std::uint64_t>(*distances.begin()), unit, method);
    else
        report.refuse(name, "prefetch_distance", "several distances would bring the same lines");
}

}  // namespace

TestReport prefetch_kinds_robust(Meter& meter, const L1Geometry& l1, const std::optional<TestReport>& levels) {
    TestReport report;
    const KnownLatencies known(l1, levels);
    const auto lines = static_cast<int>(block / l1.line);
    if (lines < least_lines)
        return refused(std::move(report), "L1", {"prefetch"},
                       "few lines are in 4 KiB, beyond which no prefetcher goes");
    const std::vector<Lesson> lessons = lessons_of(lines);
    EarlyLines early_lines(meter, l1, known);
    std::vector<std::vector<std::uint8_t>> found;
    for (const Lesson& lesson : lessons) {
        found.push_back(early_lines.after(lesson, lines));
        report.decisions.push_back(in_words(lesson, found.back(), early_lines.in_memory()));
    }
    const std::vector<PrefetchGuess> guesses = prefetch_guesses(known.cycles.size());
    std::vector<PrefetchGuess> fitting;
    std::ranges::copy_if(guesses, std::back_inserter(fitting),
                         [&](const PrefetchGuess& guess) { return fits(guess, lessons, found); });
    // What never brings a line is none.
    const bool none = std::ranges::count(fitting, "none", &PrefetchGuess::kind) > 0;
    if (none)
        std::erase_if(fitting,
                      [](const PrefetchGuess& guess) { return guess.kind != "none" && guess.kind != "adjacent_line"; });
    for (std::size_t level = 0; level < known.cycles.size(); ++level) {
        if (fitting.empty())
            report.refuse(fmt::format("L{}", level + 1), "prefetch",
                          "the lines that are early are not those that one next_line, adjacent_line, stride or stream "
                          "prefetcher brings");
        else
            answer_level(level, fitting, report);
    }
    return report;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/prefetch_model.hpp"

#include <algorithm>

namespace cachetally {
namespace {

constexpr int most_degree = 4, most_distance = 8;
constexpr int longest_line = 4;  ///< in lines of L1

/// Levels that nothing was loaded into yet, and one block.
class Block {
public:
    Block(const PrefetchGuess& guess, int lines)
        : guess_(guess),
          lines_(lines),
          levels_(guess.line.size()),
          has_(levels_, std::vector<bool>(static_cast<std::size_t>(lines))),
          fetched_early_(static_cast<std::size_t>(lines)) {}

    void load(int line) {
        const std::size_t found = level_of(line);
        for (std::size_t level = 0; level < found; ++level) insert(level, line);
        if (found < guess_.level || guess_.kind == "none") return;  // levels above have it: the prefetcher sees nothing
        const int first = first_of(guess_.level, line);
        const bool trigger = found > guess_.level || fetched_early_[static_cast<std::size_t>(first)];
        fetched_early_[static_cast<std::size_t>(first)] = false;
        for (const int wanted : wanted_after(line, trigger)) fetch(wanted);
    }

    std::size_t level_of(int line) const {
        std::size_t level = 0;
        while (level < levels_ && !has_[level][static_cast<std::size_t>(line)]) ++level;
        return level;
    }

private:
    int first_of(std::size_t level, int line) const { return line / guess_.line[level] * guess_.line[level]; }

    void insert(std::size_t level, int line) {
        const int first = first_of(level, line);
        for (int i = first; i < first + guess_.line[level]; ++i) has_[level][static_cast<std::size_t>(i)] = true;
    }

    void fetch(int line) {
        if (line < 0 || line >= lines_ || has_[guess_.level][static_cast<std::size_t>(line)]) return;
        for (std::size_t level = guess_.level; level < levels_; ++level) insert(level, line);
        fetched_early_[static_cast<std::size_t>(first_of(guess_.level, line))] = true;
    }

    std::vector<int> ahead(int from, int step) const {
        std::vector<int> all;
        for (int i = 0; i < guess_.degree; ++i) all.push_back(from + step * (guess_.distance + i));
        return all;
    }

    std::vector<int> wanted_after(int line, bool trigger) {
        const int length = guess_.line[guess_.level], first = first_of(guess_.level, line);
        if (guess_.kind == "stride") return after_stride(line);
        if (!trigger) return {};
        if (guess_.kind == "next_line") return ahead(first, length);
        if (guess_.kind == "adjacent_line") return {first / length % 2 == 0 ? first + length : first - length};
        return after_run(first / length, length);
    }

    /// Of the same page, so that one entry is all there is.
    std::vector<int> after_stride(int line) {
        const int stride = line - last_;
        const bool begun = last_ >= 0;
        last_ = line;
        if (!begun) return {};
        if (stride == stride_)
            confidence_ = std::min(confidence_ + 1, 3);
        else if (confidence_ = std::max(confidence_ - 1, 0); confidence_ == 0)
            stride_ = stride;
        return confidence_ >= 2 && stride_ != 0 ? ahead(line, stride_) : std::vector<int>{};
    }

    struct Run {
        int last = 0, direction = 0, advances = 0;
    };

    /// `line`: in lines of the level. There are more entries than runs.
    std::vector<int> after_run(int line, int length) {
        for (Run& run : runs_) {
            const int step = line - run.last, along = step * run.direction;
            const bool begins = run.direction == 0 && (step == 1 || step == -1);
            const bool goes_on = run.direction != 0 && along >= 1 && along <= guess_.distance + guess_.degree;
            if (!begins && !goes_on) continue;
            if (begins) run.direction = step;
            run.last = line;
            if (++run.advances < 2) return {};
            return ahead(line * length, run.direction * length);
        }
        runs_.push_back({line});
        return {};
    }

    const PrefetchGuess& guess_;
    int lines_;
    std::size_t levels_;
    std::vector<std::vector<bool>> has_;
    std::vector<bool> fetched_early_;  ///< by the first line of L1 in a line of the level; not loaded since
    int last_ = -1, stride_ = 0, confidence_ = 0;
    std::vector<Run> runs_;
};

/// Lengths of lines, of L1 first: each as long as the one before it, or twice that.
std::vector<std::vector<int>> lengths(std::size_t levels) {
    std::vector<std::vector<int>> all{{1}};
    for (std::size_t level = 1; level < levels; ++level) {
        std::vector<std::vector<int>> longer;
        for (const std::vector<int>& above : all)
            for (int length = above.back(); length <= std::min(longest_line, 2 * above.back()); length *= 2) {
                longer.push_back(above);
                longer.back().push_back(length);
            }
        all = std::move(longer);
    }
    return all;
}

}  // namespace

std::vector<PrefetchGuess> prefetch_guesses(std::size_t levels) {
    std::vector<PrefetchGuess> all;
    for (const std::vector<int>& line : lengths(levels)) {
        all.push_back({.line = line});
        for (std::size_t level = 0; level < levels; ++level) {
            all.push_back({"adjacent_line", level, 1, 1, line});
            for (const char* kind : {"next_line", "stride", "stream"})
                for (int degree = 1; degree <= most_degree; ++degree)
                    for (int distance = 1; distance <= most_distance; ++distance)
                        all.push_back({kind, level, degree, distance, line});
        }
    }
    return all;
}

std::vector<std::uint8_t> where_lines_are(const PrefetchGuess& guess, const BlockLines& loads, int lines_of_block) {
    Block block(guess, lines_of_block);
    for (const int line : loads) block.load(line);
    std::vector<std::uint8_t> found;
    for (int line = 0; line < lines_of_block; ++line) found.push_back(static_cast<std::uint8_t>(block.level_of(line)));
    return found;
}

}  // namespace cachetally

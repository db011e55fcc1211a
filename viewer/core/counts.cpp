// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/core/counts.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "viewer/core/scale.hpp"

namespace cachetally {
namespace {

constexpr double column_rounding = 1e-9, wider = 1.000001;

/// What a line or block adds to the columns in which it lies.
struct Addition {
    double touched = 0, sum = 0, least = 0, most = 0;
};

void put(CountColumns& into, const ColumnView& view, double from, double to, const Addition& added) {
    if (to <= view.x0 || from >= view.x1) return;
    const double width = (view.x1 - view.x0) / static_cast<double>(view.count);
    const double begin = std::max(0.0, std::floor((from - view.x0) / width + column_rounding));
    if (begin >= static_cast<double>(view.count)) return;
    const auto first = static_cast<std::size_t>(begin);
    std::size_t end = first + 1;
    if (to - from > width * wider) {
        const double last = std::ceil((to - view.x0) / width - column_rounding);  // may be more than 32 bits hold
        end = static_cast<std::size_t>(std::min(static_cast<double>(view.count), last));
    }
    into.touched[first] += added.touched;
    into.sum[first] += added.sum;
    for (std::size_t i = first; i < end; ++i) {
        into.least[i] = std::min(into.least[i], added.least);
        into.most[i] = std::max(into.most[i], added.most);
    }
}

void judge(CountColumns& into, std::vector<double> values, CountKind kind) {
    if (kind == CountKind::miss_rate || values.empty()) return;
    into.clip = clip_of(values);
    into.above = static_cast<double>(
        std::count_if(values.begin(), values.end(), [&](double value) { return value > into.clip; }));
}

/// Puts columns together.
void put_pixel(PixelColumns& into, const MadeColumns& columns, std::size_t begin, std::size_t end) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double touched = 0, sum = 0, least = infinity, most = -infinity;
    for (std::size_t i = begin; i < end; ++i) {
        if (columns.least[i] == infinity) continue;
        touched += columns.touched[i];
        sum += columns.sum[i];
        least = std::min(least, columns.least[i]);
        most = std::max(most, columns.most[i]);
    }
    // a line that is wider than a column counts in the first of them alone
    const double mean = touched > 0 ? sum / touched : most;
    const bool any = least < infinity;
    into.mean.push_back(any ? mean : std::numeric_limits<double>::quiet_NaN());
    into.least.push_back(least);
    into.most.push_back(most);
    into.sum.push_back(sum);
    into.smallest = std::min(into.smallest, least);
    into.largest = std::max(into.largest, most);
    if (!any) return;
    if (const double positive = least > 0 ? least : mean > 0 ? mean : most; positive > 0)
        into.positive = std::min(into.positive, positive);
}

double value_of(CountKind kind, const CountedLine& line) { return value_of(kind, line.first, line.second); }

void put_line(CountColumns& into, const ColumnView& view, CountKind kind, double offset, double unit,
              const CountedLine& line) {
    const double value = value_of(kind, line);
    const bool rate = kind == CountKind::miss_rate;
    put(into, view, offset, offset + unit, {rate ? line.first : 1, rate ? line.second : value, value, value});
}

/// Puts a line among those with most, behind those that are equal.
void insert(std::vector<CountedLine>& worst, CountKind kind, std::size_t most, const CountedLine& line) {
    const double value = value_of(kind, line);
    if (most == 0 || (worst.size() >= most && value <= value_of(kind, worst.back()))) return;
    const auto behind = std::upper_bound(worst.begin(), worst.end(), value, [&](double own, const CountedLine& each) {
        return own > value_of(kind, each);
    });
    worst.insert(behind, line);
    if (worst.size() > most) worst.pop_back();
}

}  // namespace

double value_of(CountKind kind, double first, double second) {
    if (kind == CountKind::misses) return second;
    if (kind == CountKind::hits) return std::max(0.0, first - second);
    if (kind == CountKind::miss_rate) return first > 0 ? second / first : 0;
    return first;
}

CountColumns::CountColumns(std::size_t count)
    : touched(count), sum(count), least(count, std::numeric_limits<double>::infinity()), most(count) {}

PixelColumns pixels_of(const MadeColumns& columns, double x0, double x1, std::size_t pixels) {
    const auto count = static_cast<double>(columns.sum.size());
    const double width = (columns.x1 - columns.x0) / count, step = (x1 - x0) / static_cast<double>(pixels);
    PixelColumns found;
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
        const double at = (x0 + static_cast<double>(pixel) * step - columns.x0) / width;
        const double begin = std::clamp(std::floor(at + column_rounding), 0.0, count);
        const double end = std::min(count, std::max(begin + 1, std::floor(at + step / width + column_rounding)));
        if (pixel == 0) found.stretch.first = columns.x0 + begin * width;
        found.stretch.second = columns.x0 + end * width;
        put_pixel(found, columns, static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
    }
    return found;
}

LineCounts::LineCounts(AxisLines lines, bool two)
    : lines_(std::move(lines)), first_(lines_.count()), second_(two ? lines_.count() : 0) {}

void LineCounts::add(const CountRows& rows) {
    for (std::size_t i = 0; i < rows.count(); ++i) {
        const double first = rows.first[i], second = rows.second_of(i), lines = rows.lines_of(i);
        total_ += first;
        total_second_ += second;
        lines_.visit(rows.address[i], rows.lines_of(i), [&](AxisLines::Number begin, AxisLines::Number count) {
            for (auto line = begin; line < begin + count; ++line) {
                first_[line] += first / lines;
                if (!second_.empty()) second_[line] += second / lines;
            }
        });
    }
}

std::vector<double> LineCounts::values(CountKind kind, std::pair<double, double> sight) const {
    const auto [from, to] = lines_.range(sight.first, sight.second);
    std::vector<double> found;
    for (auto line = from; line < to; ++line)
        if (const double value = value_of(kind, first(line), second(line)); value > 0) found.push_back(value);
    return found;
}

CountColumns LineCounts::columns(CountKind kind, const ColumnView& view) const {
    CountColumns into(view.count);
    into.total = value_of(kind, total_, total_second_);
    judge(into, values(kind, view.sight), kind);
    const auto [from, to] = lines_.range(view.x0, view.x1);
    const auto unit = static_cast<double>(lines_.unit());
    for (auto line = from; line < to;) {
        const std::size_t stretch = lines_.stretch_of(line);
        double offset = lines_.offset_of(line, stretch);
        for (const auto stop = std::min(to, lines_.of(stretch).second); line < stop; ++line, offset += unit) {
            if (first(line) > 0 || second(line) > 0)
                put_line(into, view, kind, offset, unit, {0, first(line), second(line)});
        }
    }
    return into;
}

SelectedLines LineCounts::selected(CountKind kind, std::size_t most, std::uint64_t sets) const {
    SelectedLines found;
    found.sets.resize(sets);
    const std::uint64_t unit = lines_.unit();
    const auto& stretches = lines_.axis().stretches;
    for (std::size_t s = 0; s < stretches.size(); ++s) {
        const auto [begin, end] = lines_.of(s);
        const bool cut_off = stretches[s].rest && lines_.base(s) < stretches[s].base && end - begin > 1;
        for (auto line = begin + (cut_off ? 1 : 0); line < end; ++line) {  // one that begins before is no part of it
            const CountedLine own{lines_.base(s) + (line - begin) * unit, first(line), second(line)};
            if (own.first <= 0 && own.second <= 0) continue;
            ++found.lines;
            found.first += own.first;
            found.second += own.second;
            if (sets > 0) ++found.sets[own.address / unit % sets];
            insert(found.worst, kind, most, own);
        }
    }
    return found;
}

CountColumns pyramid_columns(const AxisLines& blocks, const PyramidBlocks& pyramid, CountKind kind,
                             const ColumnView& view) {
    CountColumns into(view.count);
    double weights = 0;
    for (std::size_t i = 0; i < pyramid.sum.size(); ++i) {
        const double touched = pyramid.weight.empty() ? pyramid.lines : pyramid.weight[i];
        into.total += pyramid.sum[i];
        weights += touched;
        if (const auto block = blocks.line_of(pyramid.address[i])) {
            const auto [from, to] = blocks.part_of(*block);
            put(into, view, from, to, {touched, pyramid.sum[i], pyramid.least[i], pyramid.most[i]});
        }
    }
    std::vector<double> values;
    std::copy_if(into.most.begin(), into.most.end(), std::back_inserter(values), [](double each) { return each > 0; });
    judge(into, std::move(values), kind);
    if (kind == CountKind::miss_rate) into.total = weights > 0 ? into.total / weights : 0;
    return into;
}

std::vector<CountedLine> counted_lines(const AxisLines& lines, const CountRows& rows,
                                       std::span<const std::uint32_t> phases) {
    std::vector<std::uint32_t> chosen(phases.begin(), phases.end());
    std::sort(chosen.begin(), chosen.end());
    std::vector<CountedLine> found;
    for (std::size_t i = 0; i < rows.count(); ++i)
        if ((chosen.empty() || std::binary_search(chosen.begin(), chosen.end(), rows.phase[i])) &&
            lines.line_of(rows.address[i]))
            found.push_back({rows.address[i], rows.first[i], rows.second_of(i)});
    std::stable_sort(found.begin(), found.end(),
                     [](const CountedLine& a, const CountedLine& b) { return a.address < b.address; });
    std::size_t count = 0;
    for (const CountedLine& line : found) {
        if (count > 0 && found[count - 1].address == line.address) {
            found[count - 1].first += line.first;
            found[count - 1].second += line.second;
        } else {
            found[count++] = line;
        }
    }
    found.resize(count);
    return found;
}

CountColumns columns_of(const AxisLines& lines, std::span<const CountedLine> counted, CountKind kind,
                        const ColumnView& view) {
    CountColumns into(view.count);
    for (const CountedLine& line : counted)
        if (const auto number = lines.line_of(line.address))
            put_line(into, view, kind, lines.offset_of(*number, lines.stretch_of(*number)),
                     static_cast<double>(lines.unit()), line);
    judge(into, values_of(counted, kind), kind);
    return into;
}

std::vector<double> values_of(std::span<const CountedLine> counted, CountKind kind) {
    std::vector<double> found;
    for (const CountedLine& line : counted)
        if (const double value = value_of(kind, line); value > 0) found.push_back(value);
    return found;
}

std::vector<CountedLine> worst_of(std::span<const CountedLine> counted, CountKind kind, std::size_t most) {
    std::vector<CountedLine> worst;
    for (const CountedLine& line : counted) insert(worst, kind, most, line);
    return worst;
}

PhaseSums::PhaseSums(std::size_t phases, std::optional<AxisLines> part)
    : part_(std::move(part)), first_(phases), second_(phases) {}

void PhaseSums::add(const CountRows& rows) {
    const auto lines_in = [&](std::size_t row) {
        double count = 0;
        part_->visit(rows.address[row], rows.lines_of(row), [&](AxisLines::Number line, AxisLines::Number more) {
            const std::size_t stretch = part_->stretch_of(line);
            const auto& [base, bytes, start, rest] = part_->axis().stretches[stretch];
            count += static_cast<double>(more) - (rest && part_->offset_of(line, stretch) < start ? 1 : 0);
        });
        return count;
    };
    for (std::size_t i = 0; i < rows.count(); ++i) {
        const double share = part_ ? lines_in(i) / rows.lines_of(i) : 1;
        if (rows.phase[i] >= first_.size()) continue;
        first_[rows.phase[i]] += rows.first[i] * share;
        second_[rows.phase[i]] += rows.second_of(i) * share;
    }
}

void FunctionSums::add(const CountRows& rows) {
    for (std::size_t i = 0; i < rows.count(); ++i)
        if (lines_.line_of(rows.address[i]))
            sums_[std::min<std::size_t>(rows.function[i], sums_.size() - 1)] += rows.first[i];
}

BlockRows::BlockRows(const CountRows& rows, std::uint32_t lines, std::uint64_t unit) {
    for (std::size_t i = 0; i < rows.count(); ++i) {
        const std::uint64_t address = rows.address[i] - rows.address[i] % (lines * unit);
        const bool same = !address_.empty() && address == address_.back() &&
                          (rows.phase.empty() || rows.phase[i] == phase_.back()) &&
                          (rows.function.empty() || rows.function[i] == function_.back());
        if (!same) {
            address_.push_back(address);
            span_.push_back(lines);
            if (!rows.phase.empty()) phase_.push_back(rows.phase[i]);
            if (!rows.function.empty()) function_.push_back(rows.function[i]);
            first_.push_back(0);
            second_.push_back(0);
        }
        first_.back() += rows.first[i];
        second_.back() += rows.second_of(i);
    }
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// The core as the page calls it (viewer/web/src/core.ts).
#include <array>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "viewer/core/groups.hpp"
#include "viewer/core/heat.hpp"
#include "viewer/core/phases.hpp"
#include "viewer/core/scale.hpp"
#include "viewer/core/value_scale.hpp"
#include "viewer/core/wasm/words.hpp"

#define CACHETALLY_PAGE(name) __attribute__((export_name(#name))) name

namespace cachetally::wasm {
namespace {

/// An array in the module's memory, as the page describes it there.
template <typename Element>
struct Array {
    const Element* data;
    std::size_t size;

    operator std::span<const Element>() const { return {data, size}; }  // NOLINT(google-explicit-constructor)
};
using Words64 = Array<std::uint64_t>;
using Words32 = Array<std::uint32_t>;
using Numbers = Array<double>;

/// Rows are added to what it collects.
template <typename Collected>
class Sums : public Held {
public:
    explicit Sums(Collected collected) : collected_(std::move(collected)) {}

    void add(const CountRows& rows, std::uint64_t unit) override {
        if constexpr (std::is_same_v<Collected, Extents>)
            collected_.add(rows.address, rows.span, unit);
        else
            collected_.add(rows);
    }
    Collected& collected() { return collected_; }

private:
    Collected collected_;
};

template <typename Collected>
Held* held(Collected collected) {
    return new Sums<Collected>(std::move(collected));
}

template <typename Collected>
Collected& in(Held* sums) {
    return static_cast<Sums<Collected>*>(sums)->collected();
}

AxisLines lines_on(const Words64& axis, double unit) { return {axis_from(axis), static_cast<std::uint64_t>(unit)}; }

/// The ends of a stretch, its columns, and the ends of what is in sight.
ColumnView view_from(const Numbers& view) {
    const double* at = view.data;
    return {at[0], at[1], static_cast<std::size_t>(at[2]), {at[3], at[4]}};
}

}  // namespace

extern "C" {

void* CACHETALLY_PAGE(reserve)(std::size_t bytes) { return std::malloc(bytes); }
void CACHETALLY_PAGE(release)(void* memory) { std::free(memory); }
void CACHETALLY_PAGE(forget)(Held* held) { delete held; }
const std::uint64_t* CACHETALLY_PAGE(words)(Answer* answer) { return answer->words().data(); }
std::size_t CACHETALLY_PAGE(count)(Answer* answer) { return answer->words().size(); }

/// Adds rows to sums; of more than one line in `block` as blocks of so many lines.
void CACHETALLY_PAGE(add)(Held* sums, const Words64& address, const Words32& span, const Words32& phase,
                          const Words32& function, const Numbers& first, const Numbers& second, double unit,
                          std::uint32_t block) {
    const CountRows rows{address, span, phase, function, first, second};
    const auto bytes = static_cast<std::uint64_t>(unit);
    if (block > 1)
        sums->add(BlockRows(rows, block, bytes).rows(), bytes);
    else
        sums->add(rows, bytes);
}

Held* CACHETALLY_PAGE(extents)() { return held(Extents()); }
Answer* CACHETALLY_PAGE(found)(Held* extents) {
    auto* answer = new Answer;
    for (const ByteRange& each : in<Extents>(extents).found()) answer->put_address(each.first).put_address(each.last);
    return answer;
}
Answer* CACHETALLY_PAGE(axis)(const Words64& ranges, double unit) {
    return answer_of(axis_of(ranges_from(ranges), static_cast<std::uint64_t>(unit)));
}
Answer* CACHETALLY_PAGE(cut)(const Words64& axis, double x0, double x1) {
    return answer_of(cachetally::cut(axis_from(axis), x0, x1));
}
/// Of each mark the place, the address, and the middle of its label or NaN.
Answer* CACHETALLY_PAGE(marks)(const Words64& axis, double x0, double x1, double apart, double letter) {
    auto* answer = new Answer;
    for (const auto& [place, address, label] : address_marks(axis_from(axis), x0, x1, apart, letter))
        answer->put(place).put_address(address).put(label.value_or(std::numeric_limits<double>::quiet_NaN()));
    return answer;
}
Answer* CACHETALLY_PAGE(holes)(const Words64& axis, double x0, double x1, double least) {
    auto* answer = new Answer;
    answer->put_all(holes_of(axis_from(axis), x0, x1, least));
    return answer;
}
double CACHETALLY_PAGE(lines)(const Words64& axis, double unit) {
    return static_cast<double>(lines_on(axis, unit).count());
}

Held* CACHETALLY_PAGE(counts)(const Words64& axis, double unit, bool two) {
    return held(LineCounts(lines_on(axis, unit), two));
}
Answer* CACHETALLY_PAGE(columns)(Held* counts, CountKind kind, const Numbers& view) {
    auto* answer = new Answer;
    put_columns(*answer, in<LineCounts>(counts).columns(kind, view_from(view)));
    return answer;
}
/// Of columns of ends[0] .. ends[1] what so many pixels of ends[2] .. ends[3] show: the largest, the smallest, the
/// least above 0, the stretch that the columns take; means, least, most and sums by pixel.
Answer* CACHETALLY_PAGE(pixels)(const Numbers& ends, std::size_t pixels, const Numbers& touched, const Numbers& sum,
                                const Numbers& least, const Numbers& most) {
    const double* at = ends.data;
    const PixelColumns found = pixels_of({at[0], at[1], touched, sum, least, most}, at[2], at[3], pixels);
    auto* answer =
        new Answer({found.largest, found.smallest, found.positive, found.stretch.first, found.stretch.second});
    answer->put_all(found.mean).put_all(found.least).put_all(found.most).put_all(found.sum);
    return answer;
}
Answer* CACHETALLY_PAGE(selected)(Held* counts, CountKind kind, std::size_t most, std::uint32_t sets) {
    const SelectedLines found = in<LineCounts>(counts).selected(kind, most, sets);
    auto* answer = new Answer({found.lines, found.first, found.second});
    answer->put_all(found.sets);
    put_lines(*answer, found.worst);
    return answer;
}
/// The error, and columns of the exact counts, of those in groups, and of how much they differ.
Answer* CACHETALLY_PAGE(grouped)(Held* counts, std::uint32_t group, const Words64& data, const Numbers& view) {
    const LineCounts& exact = in<LineCounts>(counts);
    const GroupedCounts found = cachetally::grouped(exact, group, ranges_from(data));
    auto* answer = new Answer({found.error});
    for (const LineCounts* each : {&exact, &found.approximate, &found.difference})
        put_columns(*answer, each->columns(CountKind::count, view_from(view)));
    return answer;
}
Answer* CACHETALLY_PAGE(pyramid)(const Words64& axis, double unit, CountKind kind, const Numbers& view,
                                 const Words64& address, const Numbers& weight, const Numbers& sum,
                                 const Numbers& least, const Numbers& most, double lines) {
    auto* answer = new Answer;
    const PyramidBlocks blocks{address, weight, sum, least, most, lines};
    put_columns(*answer, pyramid_columns(lines_on(axis, unit), blocks, kind, view_from(view)));
    return answer;
}
Answer* CACHETALLY_PAGE(worst)(const Words64& axis, double unit, const Words64& address, const Words32& phase,
                               const Numbers& first, const Numbers& second, const Words32& phases, CountKind kind,
                               std::size_t most) {
    auto* answer = new Answer;
    const CountRows rows{address, {}, phase, {}, first, second};
    put_lines(*answer, worst_of(counted_lines(lines_on(axis, unit), rows, phases), kind, most));
    return answer;
}

/// Of all rows, or of those on an axis.
Held* CACHETALLY_PAGE(phase_sums)(std::size_t phases, bool all, const Words64& axis, double unit) {
    return held(PhaseSums(phases, all ? std::nullopt : std::optional(lines_on(axis, unit))));
}
Answer* CACHETALLY_PAGE(by_phase)(Held* sums) {
    auto* answer = new Answer;
    answer->put_all(in<PhaseSums>(sums).first()).put_all(in<PhaseSums>(sums).second());
    return answer;
}
Held* CACHETALLY_PAGE(function_sums)(std::size_t functions, const Words64& axis, double unit) {
    return held(FunctionSums(lines_on(axis, unit), functions));
}
Answer* CACHETALLY_PAGE(by_function)(Held* sums) {
    auto* answer = new Answer;
    answer->put_all(in<FunctionSums>(sums).sums());
    return answer;
}

Held* CACHETALLY_PAGE(heat)(const Words64& axis, double unit, double x0, double x1, std::size_t columns,
                            std::uint32_t phases, bool two) {
    return held(HeatSums(lines_on(axis, unit), x0, x1, columns, phases, two));
}
void CACHETALLY_PAGE(add_grid)(Held* heat, const Words32& phases, const Words64& address, const Numbers& first,
                               const Numbers& second, const Words64& lines_address, const Numbers& lines) {
    in<HeatSums>(heat).add(HeatGrid{phases, address, first, second, lines_address, lines});
}
/// How many rows; the first phase of each, and one behind the last; sums and weights.
Answer* CACHETALLY_PAGE(cells)(Held* heat, CountKind kind) {
    const HeatCells cells = in<HeatSums>(heat).cells(kind);
    auto* answer = new Answer({static_cast<double>(cells.rows())});
    answer->put_all(cells.edges).put_all(cells.sum).put_all(cells.weight);
    return answer;
}

/// The first phase of each row, and one behind the last.
Answer* CACHETALLY_PAGE(edges)(std::uint32_t phases) {
    auto* answer = new Answer;
    answer->put_all(phase_edges(phases));
    return answer;
}
/// The ends of the scale, the largest, how many are above; how many shades there are; the cells.
Answer* CACHETALLY_PAGE(shades)(const Numbers& sum, const Numbers& weight, const Numbers& other_sum,
                                const Numbers& other_weight, bool differences, DrawnScale scale) {
    const CellValues beside{other_sum, other_weight, differences};
    const CellShades found = shades_of({sum, weight, differences}, scale, other_sum.size > 0 ? &beside : nullptr);
    auto* answer = new Answer({found.least, found.end, found.most, found.above, heat_shades});
    answer->put_all(found.cells);
    return answer;
}
/// Whether there are several to choose from; how many phases and peaks; whether the others' rate is higher; all three.
Answer* CACHETALLY_PAGE(worst_phases)(const Words32& among, const Numbers& misses, const Numbers& accesses,
                                      const Words32& name, double alike, double stands_out, double majority) {
    const WorstPhases found = cachetally::worst_phases(among, {misses, accesses, name}, {alike, stands_out, majority});
    const std::array sizes{found.phases.size(), found.peaks.size()};
    auto* answer = new Answer({found.several ? 1.0 : 0.0});
    answer->put_all(sizes)
        .put(found.others_higher ? 1 : 0)
        .put_all(found.phases)
        .put_all(found.peaks)
        .put_all(found.others);
    return answer;
}
double CACHETALLY_PAGE(clip_of)(const Numbers& values) {
    return cachetally::clip_of({values.data, values.data + values.size});
}
double CACHETALLY_PAGE(end_of_scale)(double clip, double most, DrawnScale scale) {
    return cachetally::end_of_scale(clip, most, scale);
}
/// Its spread, ends and unit; then what is named.
Answer* CACHETALLY_PAGE(value_scale)(double least, double most, double small, double large, DrawnScale scale,
                                     bool centred, bool tight, double ticks) {
    const ValueScale found = cachetally::value_scale({least, most, small, large}, {scale, centred, tight, ticks});
    auto* answer = new Answer({static_cast<double>(found.spread), found.bottom, found.top, found.unit});
    answer->put_all(found.ticks);
    return answer;
}

}  // extern "C"
}  // namespace cachetally::wasm

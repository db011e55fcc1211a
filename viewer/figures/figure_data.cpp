// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/figures/figure_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "monitor/attribution/attribution_file.hpp"
#include "viewer/core/counts.hpp"
#include "viewer/core/heat.hpp"
#include "viewer/core/scale.hpp"
#include "viewer/figures/figure_choice.hpp"

namespace cachetally {
namespace {

constexpr std::size_t histogram_columns = 900, heat_columns = 512;  // heat: as the page's heatColumns
constexpr std::size_t most_pictures = 40;

// nearly, of the letters of addresses: what a panel has beside it, of column widths of a paper, and how many fit
constexpr double beside_panel = 0.17, beside_heat = 0.33, letters_of_column = 60;
constexpr double letters_apart = 22;  ///< from mark to mark
constexpr double least_gap = 0.15;    ///< letters, of a hole that is marked

CountKind kind_of(const FigureRequest& request) {
    const std::string what = drawn_counts(request);
    return what == "misses" || cause_named(what) ? CountKind::misses
           : what == "hits"                      ? CountKind::hits
           : what == "missrate"                  ? CountKind::miss_rate
                                                 : CountKind::accesses;
}

DrawnScale scale_of(const FigureRequest& request) {
    return has_flag(request, "--log")      ? DrawnScale::logarithmic
           : has_flag(request, "--linear") ? DrawnScale::linear
                                           : DrawnScale::automatic;
}

AddressAxis axis_of_levels(const std::vector<LevelLines>& levels) {
    Extents extents;
    std::uint64_t unit = 1;
    for (const LevelLines& lines : levels) {
        extents.add(lines.address, {}, lines.line_bytes);
        unit = std::max<std::uint64_t>(unit, lines.line_bytes);
    }
    return axis_of(extents.found(), unit);
}

/// Of all levels, whichever is drawn, as on the page.
AddressAxis axis_of_all(const InputFile& file, FigureRequest request) {
    request.kind = "histogram";
    std::erase_if(request.options, [](const std::string& option) {
        return option.starts_with("--level=") || option.starts_with("--what=");
    });
    return axis_of_levels(chosen_levels(file, request));
}

CountRows rows_of(const LevelLines& lines) {
    return {lines.address, {}, lines.phase, {}, lines.accesses, lines.misses};
}

/// Where the scale of some values ends; rates are never cut.
double end_of(const std::vector<double>& values, CountKind kind, DrawnScale scale) {
    const double most = values.empty() ? 0 : *std::ranges::max_element(values);
    return kind == CountKind::miss_rate ? most : end_of_scale(clip_of(values), most, scale);
}

/// Means and largest values by column, and of all lines the least above 0, the largest, and how many exceed the end of
/// the scale. Rates are in percent.
void write_picture(Group group, const AxisLines& lines, const std::vector<CountedLine>& counted, CountKind kind,
                   double end) {
    const double length = lines.axis().bytes, factor = kind == CountKind::miss_rate ? 100 : 1;
    const CountColumns columns = columns_of(lines, counted, kind, {0, length, histogram_columns, {0, length}});
    const std::vector<double> values = values_of(counted, kind);
    std::vector<double> mean(histogram_columns, std::numeric_limits<double>::quiet_NaN()), most = mean;
    for (std::size_t i = 0; i < histogram_columns; ++i) {
        if (std::isinf(columns.least[i])) continue;
        most[i] = factor * columns.most[i];
        mean[i] = columns.touched[i] > 0 ? factor * columns.sum[i] / columns.touched[i] : most[i];
    }
    const auto above = std::ranges::count_if(values, [&](double each) { return each > end; });
    group.write("mean", mean);
    group.write("most", most);
    group.set_attribute("lines", std::uint64_t{counted.size()});
    group.set_attribute("least", values.empty() ? 0 : factor * *std::ranges::min_element(values));
    group.set_attribute("largest", values.empty() ? 0 : factor * *std::ranges::max_element(values));
    group.set_attribute("end", factor * end);
    group.set_attribute("above", static_cast<std::uint64_t>(above));
}

unsigned columns_of_paper(const FigureRequest& request) { return option_of(request, "--columns") == "1" ? 1 : 2; }

/// How many pictures of phases stand side by side.
unsigned pictures_across(const FigureRequest& request, std::size_t phases) {
    return columns_of_paper(request) + (phases > 4 ? 1 : 0);
}

/// Bytes of the axis that a letter takes under a panel of which so many stand side by side.
double letter_of(const AddressAxis& axis, const FigureRequest& request, unsigned across) {
    const double panel = columns_of_paper(request) / static_cast<double>(across);
    return axis.bytes / (letters_of_column * (panel - (request.kind == "heat" ? beside_heat : beside_panel)));
}

/// Marks and labels of addresses, and where there are holes.
void write_marks(Group& group, const AddressAxis& axis, double letter) {
    std::vector<double> place, label;
    std::vector<std::uint64_t> address;
    for (const AddressMark& mark : address_marks(axis, 0, axis.bytes, letters_apart * letter, letter)) {
        place.push_back(mark.place);
        address.push_back(mark.address);
        label.push_back(mark.label.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    Group marks = group.create_group("marks");
    marks.write("place", place);
    marks.write("address", address);
    marks.write("label", label);
    group.write("holes", holes_of(axis, 0, axis.bytes, least_gap * letter));
}

void write_axis(Group& root, const AddressAxis& axis, const InputFile& file, double letter) {
    std::vector<std::uint64_t> base;
    std::vector<double> bytes, start, from, to;
    for (const AxisStretch& stretch : axis.stretches) {
        base.push_back(stretch.base);
        bytes.push_back(stretch.bytes);
        start.push_back(stretch.start);
    }
    constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();
    std::vector<Region> structures = drawn_structures(file);
    const std::vector<Region> heap = read_heap_blocks(file.root());
    structures.insert(structures.end(), heap.begin(), heap.end());
    for (const Region& region : structures) {
        const auto place = place_on(axis, {region.base, region.base + (region.bytes - 1)});
        from.push_back(place ? place->first : nowhere);
        to.push_back(place ? place->second : nowhere);
    }
    Group group = root.create_group("axis");
    group.set_attribute("bytes", axis.bytes);
    for (const auto& [name, column] : {std::pair{"bytes", &bytes}, {"start", &start}}) group.write(name, *column);
    group.write("base", base);
    Group places = root.create_group("structures");
    places.write("from", from);
    places.write("to", to);
    write_marks(group, axis, letter);
}

/// What is drawn of which levels; `busy`: what else could be. The lines of TLBs are pages.
void write_levels(Group& root, const std::vector<LevelLines>& levels, const std::vector<std::string>& busy,
                  const InputFile& file) {
    const std::vector<std::string> tlbs =
        file.root().has("tlbs") ? file.root().open_group("tlbs").texts_attribute("names") : std::vector<std::string>{};
    std::vector<std::string> names, units;
    std::vector<std::uint32_t> line_bytes;
    for (const LevelLines& lines : levels) {
        names.push_back(lines.level);
        units.emplace_back(std::ranges::find(tlbs, lines.level) == tlbs.end() ? "line" : "page");
        line_bytes.push_back(lines.line_bytes);
    }
    root.set_attribute("levels", names);
    root.set_attribute("units", units);
    root.set_attribute("busy", busy);
    root.write("line_bytes", line_bytes);
}

void write_histogram(Group& root, const std::vector<LevelLines>& levels, const AddressAxis& axis,
                     const std::vector<std::uint32_t>& phases, const FigureRequest& request) {
    const CountKind kind = kind_of(request);
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const AxisLines lines(axis, levels[i].line_bytes);
        const std::vector<CountedLine> counted = counted_lines(lines, rows_of(levels[i]), phases);
        write_picture(root.create_group(fmt::format("picture{}", i)), lines, counted, kind,
                      end_of(values_of(counted, kind), kind, scale_of(request)));
    }
}

std::vector<std::uint32_t> phases_with_rows(const LevelLines& level) {
    const std::set<std::uint32_t> phases(level.phase.begin(), level.phase.end());
    return {phases.begin(), phases.end()};
}

/// A picture by phase, on one scale, and one of all phases.
void write_phases(Group& root, const LevelLines& level, const AddressAxis& axis,
                  const std::vector<std::uint32_t>& phases, const FigureRequest& request) {
    if (phases.size() > most_pictures)
        throw StorageError("{} phases are too many for one figure; choose some with --phases, or the kind 'heat'",
                           phases.size());
    const CountKind kind = kind_of(request);
    const AxisLines lines(axis, level.line_bytes);
    std::vector<std::vector<CountedLine>> pictures;
    std::vector<double> together;
    for (const std::uint32_t phase : phases) {
        pictures.push_back(counted_lines(lines, rows_of(level), std::span(&phase, 1)));
        const std::vector<double> values = values_of(pictures.back(), kind);
        together.insert(together.end(), values.begin(), values.end());
    }
    const double end = end_of(together, kind, scale_of(request));
    pictures.push_back(counted_lines(lines, rows_of(level), {}));
    const double whole = end_of(values_of(pictures.back(), kind), kind, scale_of(request));
    for (std::size_t i = 0; i < pictures.size(); ++i)
        write_picture(root.create_group(fmt::format("picture{}", i)), lines, pictures[i], kind,
                      i < phases.size() ? end : whole);
    root.write("phases", phases);
}

void write_heat(Group& root, const LevelLines& lines, const AddressAxis& axis, std::uint32_t phases,
                const FigureRequest& request) {
    HeatSums sums(AxisLines(axis, lines.line_bytes), 0, axis.bytes, heat_columns, phases, true);
    sums.add(rows_of(lines));
    const HeatCells cells = sums.cells(kind_of(request));
    const CellShades shades = shades_of({cells.sum, cells.weight}, scale_of(request));
    root.write("edges", cells.edges);
    root.write_table<std::uint8_t>("cells", shades.cells, cells.rows(), cells.columns);
    root.set_attribute("least", shades.least);
    root.set_attribute("end", shades.end);
    root.set_attribute("most", shades.most);
    root.set_attribute("above", shades.above);
    root.set_attribute("shades", std::uint64_t{heat_shades});
    root.set_attribute("logarithmic", shades.logarithmic);
}

}  // namespace

std::string drawn_counts(const FigureRequest& request) {
    const std::string what = option_of(request, "--what");
    return !what.empty() ? what : "misses";
}

bool is_of_counts(const FigureRequest& request) {
    return request.kind == "histogram" || request.kind == "phases" || request.kind == "heat";
}

void write_figure_data(const FigureRequest& request, const std::string& path) {
    const InputFile file(request.file, request.trust);
    const std::string text = option_of(request, "--phases");
    std::vector<std::uint32_t> phases = text.empty() ? std::vector<std::uint32_t>{} : phases_in(file, text);
    const std::vector<LevelLines> levels = chosen_levels(file, request);
    if (request.kind == "phases" && phases.empty()) phases = phases_with_rows(levels.front());
    const unsigned across = request.kind == "phases" ? pictures_across(request, phases.size()) : 1;
    const AddressAxis axis = axis_of_all(file, request);
    ResultFile result(path);
    const bool all = request.kind == "histogram";
    write_levels(result.root(), levels, all ? std::vector<std::string>{} : busy_levels(file, request), file);
    write_axis(result.root(), axis, file, letter_of(axis, request, across));
    result.root().set_attribute("across", across);
    result.root().set_attribute("phases", phases_of(file));
    if (request.kind == "histogram")
        write_histogram(result.root(), levels, axis, phases, request);
    else if (request.kind == "phases")
        write_phases(result.root(), levels.front(), axis, phases, request);
    else
        write_heat(result.root(), levels.front(), axis, phases_of(file), request);
    result.finish();
}

std::string chosen_phases(const FigureRequest& request) {
    const std::string text = option_of(request, "--phases");
    if (text.empty()) return "";
    const InputFile file(request.file, request.trust);
    return fmt::format("{}", fmt::join(phases_in(file, text), ","));
}

}  // namespace cachetally

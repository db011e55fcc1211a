// SPDX-License-Identifier: BSD-3-Clause
#include "advice/suggestions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "base/text.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t largest_padded = 1 << 16;  ///< whose elements get lines of their own
constexpr std::uint64_t page_bytes = 4096;

std::string bytes_of(std::uint64_t bytes) { return fmt::format("{} B", with_separators(bytes)); }

/// Collects suggestions for one structure and cache.
class Collector {
public:
    Collector(const SurveyedStructure& structure, const KnownStructures& known) : structure_(structure) {
        if (const auto array = known.arrays.find(structure.name); array != known.arrays.end()) {
            grids_.push_back(array->second);
            rows_.push_back(array->second.columns * array->second.element);
        }
        if (const auto element = known.elements.find(structure.name); element != known.elements.end())
            elements_.push_back(element->second);
        const std::uint64_t declared = std::uint64_t{structure.row_elements} * structure.element_bytes;
        if (declared > 0) {
            if (grids_.empty()) rows_.push_back(declared);
            elements_.push_back(declared);
        }
        for (const Stride& stride : structure.strides) {
            // between any two elements of declared rows
            const std::uint64_t whole_rows =
                declared == 0 ? stride.bytes : (stride.bytes + declared / 2) / declared * declared;
            if (grids_.empty()) rows_.push_back(whole_rows);
            elements_.push_back(stride.bytes);
        }
        if (structure.element_bytes > 1) elements_.push_back(structure.element_bytes);
        unique(rows_);
        unique(elements_);
    }

    void take(const CacheConfig& cache, std::size_t number, const CauseCounts& causes) {
        cache_ = number;
        line_ = cache.line;
        const std::uint64_t all = std::accumulate(causes.begin(), causes.end(), std::uint64_t{0});
        const auto share = [&](MissCause cause) { return causes[static_cast<unsigned>(cause)] * 10 >= all; };
        if (share(MissCause::conflict)) against_conflicts(cache.ways == 0 ? 0 : cache.size / cache.ways);
        if (share(MissCause::invalidated)) against_sharing();
        in_other_order();
        in_fewer_lines();
        aligned();
    }

    std::vector<Suggestion> found;

private:
    static void unique(std::vector<std::uint64_t>& values) {
        std::vector<std::uint64_t> once;
        for (const std::uint64_t value : values)
            if (value != 0 && std::ranges::find(once, value) == once.end()) once.push_back(value);
        values = std::move(once);
    }

    void add(const std::string& text, StructureChange change) {
        if (!texts_.insert(text).second) return;
        change.structure = 0;  // known to the caller
        change.extents = structure_.extents;
        found.push_back({std::move(change), text, cache_});
    }

    void against_conflicts(std::uint64_t way) {
        for (const std::uint64_t row : rows_)
            if (row >= line_ && row < structure_.bytes())
                add(fmt::format("pad rows of {} by {}", bytes_of(row), bytes_of(line_)),
                    {.shape = Shape::padded(row, line_)});
        for (const std::uint64_t shift : {std::uint64_t{line_}, way / 2})
            if (shift >= line_) add(fmt::format("move it up by {}", bytes_of(shift)), {.shift = shift});
    }

    /// Each element gets a line of its own, or the structure.
    void against_sharing() {
        const std::uint64_t bytes = structure_.bytes();
        std::vector<std::uint64_t> elements(elements_);
        elements.push_back(structure_.size);
        unique(elements);
        for (const std::uint64_t element : elements)
            if (bytes <= largest_padded && element < bytes && element % line_ != 0)
                add(fmt::format("pad elements of {} to {}", bytes_of(element), bytes_of(round_up(element, line_))),
                    {.shape = Shape::padded(element, round_up(element, line_) - element), .alignment = line_});
        if (bytes <= largest_padded)
            add(fmt::format("give it lines of its own, aligned to {}", bytes_of(line_)), {.alignment = line_});
    }

    std::uint64_t element_in(std::uint64_t row) const {
        if (structure_.element_bytes > 1) return structure_.element_bytes;
        const auto stride = std::ranges::find(structure_.strides, row, &Stride::bytes);
        return std::max(stride == structure_.strides.end() ? std::uint16_t{1} : stride->size, structure_.size);
    }

    void in_other_order() {
        std::vector<Shape::Grid> grids(grids_);
        for (const std::uint64_t row : rows_) {
            if (!grids_.empty() || row <= line_) continue;
            const std::uint64_t element = element_in(row);
            if (row % element == 0) grids.push_back({structure_.extents.front().bytes / row, row / element, element});
        }
        for (const Shape::Grid& grid : grids) {
            if (grid.rows < 2 || grid.columns < 2) continue;
            const std::string matrix = fmt::format("{} x {} of {}", grid.rows, grid.columns, bytes_of(grid.element));
            add(fmt::format("store it by columns ({})", matrix), {.shape = Shape::transposed(grid)});
            for (const std::uint64_t bytes : {std::uint64_t{line_}, page_bytes}) tile(grid, matrix, bytes);
        }
    }

    /// Tiles of so many bytes, as square as they can be.
    void tile(const Shape::Grid& grid, const std::string& matrix, std::uint64_t bytes) {
        const std::uint64_t elements = std::bit_floor(bytes / grid.element);
        if (elements < 4) return;
        const std::uint64_t rows = std::uint64_t{1} << (std::bit_width(elements) - 1) / 2;
        if (rows >= grid.rows && elements / rows >= grid.columns) return;
        add(fmt::format("store it in tiles of {} x {} ({})", rows, elements / rows, matrix),
            {.shape = Shape::tiled(grid, rows, elements / rows), .alignment = bytes});
    }

    /// Hot fields apart from the others, or before them.
    void in_fewer_lines() {
        for (const std::uint64_t element : elements_) {
            if (element > longest_element || element >= structure_.bytes()) continue;
            const std::vector<Shape::Field> fields = fields_of(element);
            const auto bytes_of_group = [&](unsigned group) {
                std::uint64_t bytes = 0;
                for (const Shape::Field& field : fields) bytes += field.group == group ? field.bytes : 0;
                return bytes;
            };
            const std::uint64_t hot = bytes_of_group(0);
            if (fields.empty() || hot == 0 || hot * 2 > element) continue;
            add(fmt::format("split elements of {}: hot {} apart ({})", bytes_of(element), bytes_of(hot),
                            places(fields)),
                {.shape = Shape::split(element, fields)});
            if (element > line_ && hot > structure_.size) reorder(element, fields);
        }
    }

    void reorder(std::uint64_t element, std::vector<Shape::Field> fields) {
        std::vector<std::size_t> placing;
        for (const unsigned group : {0U, 1U})
            for (std::size_t i = 0; i < fields.size(); ++i)
                if (fields[i].group == group) placing.push_back(i);
        const std::string which = places(fields);
        for (Shape::Field& field : fields) field.group = 0;
        add(fmt::format("reorder elements of {}: hot fields first ({})", bytes_of(element), which),
            {.shape = Shape::split(element, fields, placing)});
    }

    /// Group 0: what is used at least an eighth as often as what is used most. No reference is in two fields.
    std::vector<Shape::Field> fields_of(std::uint64_t element) const {
        const std::vector<SurveyedStructure::Use> uses = structure_.use_by_granule(element);
        std::uint64_t most = 0;
        for (const SurveyedStructure::Use& use : uses) most = std::max(most, use.references);
        std::vector<Shape::Field> fields;
        const std::uint64_t granule = uses.empty() ? 1 : element / uses.size();
        for (std::size_t i = 0; i < uses.size(); ++i) {
            const unsigned group = uses[i].references * 8 >= most ? 0 : 1;
            const bool goes_on = i > 0 && uses[i - 1].joined;
            if (goes_on) fields.back().group = std::min(fields.back().group, group);
            if (goes_on || (i > 0 && fields.back().group == group && group == 1))
                fields.back().bytes += granule;
            else
                fields.push_back({i * granule, granule, group});
        }
        return fields;
    }

    /// "bytes 0-7, 16-19"
    static std::string places(const std::vector<Shape::Field>& fields) {
        constexpr std::size_t most = 6;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
        for (const Shape::Field& field : fields) {
            if (field.group != 0) continue;
            if (!ranges.empty() && ranges.back().second == field.offset)
                ranges.back().second += field.bytes;
            else
                ranges.emplace_back(field.offset, field.offset + field.bytes);
        }
        std::string text = "bytes ";
        for (std::size_t i = 0; i < std::min(ranges.size(), most); ++i)
            text += fmt::format("{}{}-{}", i == 0 ? "" : ", ", ranges[i].first, ranges[i].second - 1);
        return text + (ranges.size() > most ? ", ..." : "");
    }

    void aligned() {
        const bool is_small = structure_.bytes() <= 4 * line_;
        const auto is_off = [&](const Extent& extent) { return extent.base % line_ != 0; };
        if (std::ranges::any_of(structure_.extents, is_off) && (is_small || !elements_.empty()))
            add(fmt::format("align it to {}", bytes_of(line_)), {.alignment = line_});
        for (const std::uint64_t element : elements_)
            if (element < line_ && element > structure_.size && line_ % element != 0)
                add(fmt::format("pad elements of {} to {}", bytes_of(element), bytes_of(std::bit_ceil(element))),
                    {.shape = Shape::padded(element, std::bit_ceil(element) - element), .alignment = line_});
    }

    const SurveyedStructure& structure_;
    std::vector<Shape::Grid> grids_;  ///< that the user knows
    std::vector<std::uint64_t> rows_, elements_;
    std::set<std::string> texts_;
    std::size_t cache_ = 0;
    std::uint32_t line_ = 64;
};

}  // namespace

std::uint64_t StructureMisses::of(std::size_t cache) const {
    return std::accumulate(causes[cache].begin(), causes[cache].end(), std::uint64_t{0});
}

std::vector<Suggestion> suggestions(const SurveyedStructure& structure, const StructureMisses& misses,
                                    const MachineDescription& machine, const std::vector<std::uint64_t>& all,
                                    const KnownStructures& known) {
    if (structure.extents.empty()) return {};
    Collector collector(structure, known);
    for (std::size_t cache = 0; cache < machine.caches.size(); ++cache)
        if (misses.of(cache) != 0 && misses.of(cache) * 100 >= all[cache])
            collector.take(machine.caches[cache], cache, misses.causes[cache]);
    for (Suggestion& suggestion : collector.found) suggestion.change.structure = misses.structure;
    return std::move(collector.found);
}

}  // namespace cachetally

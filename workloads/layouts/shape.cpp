// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/layouts/shape.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

#include "workloads/layouts/structures.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;

/// A whole matrix of tiles; 0 if it is too large.
std::uint64_t bytes_of(const Shape::Grid& grid) {
    std::uint64_t bytes = 0;
    const bool over = __builtin_mul_overflow(grid.rows, grid.columns, &bytes) ||
                      __builtin_mul_overflow(bytes, grid.element, &bytes) || bytes > most_bytes;
    return over ? 0 : bytes;
}

/// Of a field, as far as its place tells.
std::uint64_t alignment_of(const Shape::Field& field) {
    const std::uint64_t by_place = field.offset == 0 ? 8 : std::uint64_t{1} << std::countr_zero(field.offset);
    return std::min({by_place, std::uint64_t{8}, std::bit_floor(field.bytes)});
}

}  // namespace

Shape Shape::padded(std::uint64_t row_bytes, std::uint64_t pad) {
    if (row_bytes == 0) throw std::invalid_argument("rows of 0 bytes cannot be padded");
    Shape shape;
    shape.map_ = Padded{row_bytes, pad};
    return shape;
}

Shape Shape::tiled(const Grid& grid, std::uint64_t tile_rows, std::uint64_t tile_columns) {
    if (grid.element == 0 || tile_rows == 0 || tile_columns == 0 || bytes_of(grid) == 0)
        throw std::invalid_argument("a matrix has 1 byte to 2^40 bytes, and tiles are not empty");
    tile_rows = std::min(tile_rows, grid.rows);
    tile_columns = std::min(tile_columns, grid.columns);
    const std::uint64_t down = divide_round_up(grid.rows, tile_rows),
                        across = divide_round_up(grid.columns, tile_columns);
    Shape shape;
    shape.map_ = Tiled{grid, tile_rows, tile_columns, across, down * across * tile_rows * tile_columns * grid.element};
    return shape;
}

Shape Shape::split(std::uint64_t element_bytes, const std::vector<Field>& fields,
                   const std::vector<std::size_t>& placing) {
    std::uint64_t end = 0;
    Split split{element_bytes, {}, {}};
    for (const Field& field : fields) {
        if (field.offset != end || field.bytes == 0 || field.group > fields.size())
            throw std::invalid_argument("fields must follow each other, each of 1 byte at least");
        end += field.bytes;
        split.parts.push_back({field.offset, field.bytes, field.group, 0});
        split.stride.resize(std::max<std::size_t>(split.stride.size(), field.group + 1));
    }
    if (element_bytes == 0 || end != element_bytes)
        throw std::invalid_argument("fields must cover all bytes of the element");
    std::vector<std::size_t> order(placing);
    if (order.empty()) {
        order.resize(fields.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
    }
    std::vector<std::size_t> sorted(order);
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < fields.size(); ++i)
        if (sorted.size() != fields.size() || sorted[i] != i)
            throw std::invalid_argument("each field has one place in the new order");
    std::vector<std::uint64_t> alignment(split.stride.size(), 1);
    for (const std::size_t i : order) {
        Split::Part& part = split.parts[i];
        const std::uint64_t unit = alignment_of(fields[i]);
        part.place = round_up(split.stride[part.group], unit);
        split.stride[part.group] = part.place + part.bytes;
        alignment[part.group] = std::max(alignment[part.group], unit);
    }
    for (std::size_t group = 0; group < alignment.size(); ++group)
        split.stride[group] = round_up(split.stride[group], alignment[group]);
    Shape shape;
    shape.map_ = std::move(split);
    return shape;
}

Shape::Piece Shape::at(std::uint64_t offset, std::uint64_t bytes) const {
    return std::visit([&](const auto& map) { return at(map, offset, bytes); }, map_);
}

Shape::Piece Shape::at(const Same&, std::uint64_t offset, std::uint64_t bytes) { return {offset, bytes - offset}; }

Shape::Piece Shape::at(const Padded& map, std::uint64_t offset, std::uint64_t bytes) {
    const std::uint64_t row = offset / map.row, column = offset % map.row;
    return {offset + row * map.pad, std::min(map.row - column, bytes - offset)};
}

Shape::Piece Shape::at(const Tiled& map, std::uint64_t offset, std::uint64_t bytes) {
    const Grid& grid = map.grid;
    const std::uint64_t element = offset / grid.element, within = offset % grid.element;
    const std::uint64_t row = element / grid.columns, column = element % grid.columns;
    if (row >= grid.rows) {  // behind the matrix
        const std::uint64_t behind = offset - bytes_of(grid);
        return {map.bytes + behind, bytes - offset};
    }
    const std::uint64_t tile = row / map.tile_rows * map.tiles_across + column / map.tile_columns;
    const std::uint64_t in_row = column % map.tile_columns;
    const std::uint64_t place = (tile * map.tile_rows + row % map.tile_rows) * map.tile_columns + in_row;
    const std::uint64_t together = std::min(map.tile_columns - in_row, grid.columns - column);
    return {place * grid.element + within, std::min(together * grid.element - within, bytes - offset)};
}

Shape::Piece Shape::at(const Split& map, std::uint64_t offset, std::uint64_t bytes) {
    const std::uint64_t number = offset / map.element, within = offset % map.element;
    const std::uint64_t elements = divide_round_up(bytes, map.element);
    const auto part = std::prev(std::ranges::upper_bound(map.parts, within, {}, &Split::Part::offset));
    std::uint64_t before = 0;  // of the groups before, each beginning at a multiple of 64 bytes
    for (std::size_t group = 0; group < part->group; ++group) before += round_up(map.stride[group] * elements, 64);
    return {before + number * map.stride[part->group] + part->place + (within - part->offset),
            std::min(part->offset + part->bytes - within, bytes - offset)};
}

std::uint64_t Shape::bytes(std::uint64_t bytes) const {
    if (const auto* const padded = std::get_if<Padded>(&map_))
        return bytes + divide_round_up(bytes, padded->row) * padded->pad;
    if (const auto* const tiled = std::get_if<Tiled>(&map_)) return tiled->bytes + bytes;
    if (const auto* const split = std::get_if<Split>(&map_)) {
        std::uint64_t sum = 0;
        for (const std::uint64_t stride : split->stride)
            sum += round_up(stride * divide_round_up(bytes, split->element), 64);
        return sum;
    }
    return bytes;
}

}  // namespace cachetally

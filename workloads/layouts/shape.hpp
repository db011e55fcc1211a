// SPDX-License-Identifier: BSD-3-Clause
// Shape: another order of the bytes within a data structure, as a map of offsets.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace cachetally {

/// Maps each offset in a structure to another; no two to the same.
class Shape {
public:
    /// Bytes from an offset on that stay together.
    struct Piece {
        std::uint64_t offset = 0, bytes = 0;
    };
    /// Bytes of each element, and where they go: into an array of their own, with other fields of the same group.
    struct Field {
        std::uint64_t offset = 0, bytes = 0;
        unsigned group = 0;
        friend bool operator==(const Field&, const Field&) = default;
    };

    /// All stays as it is.
    Shape() = default;

    /// `pad` bytes behind each row. Throws std::invalid_argument for rows of none.
    static Shape padded(std::uint64_t row_bytes, std::uint64_t pad);

    /// A matrix in rows, stored tile by tile, both in rows; at the edges tiles are whole. Tiles of one column and all
    /// rows are the transposed matrix. What is behind the last row follows as rows more. Throws std::invalid_argument
    /// for sizes of 0 and beyond 2^40 bytes.
    struct Grid {
        std::uint64_t rows = 1, columns = 1, element = 1;
    };
    static Shape tiled(const Grid& grid, std::uint64_t tile_rows, std::uint64_t tile_columns);
    static Shape transposed(const Grid& grid) { return tiled(grid, grid.rows, 1); }

    /// An array of structs in several arrays, one after the other, one for each group of fields; each field is aligned
    /// as before, by at most 8 bytes. `fields` cover the element, ascending by offset. Reordering is a single group in
    /// another order: fields lie in the order in which `placing` has their numbers (empty: as they are). Throws
    /// std::invalid_argument where they do not cover it.
    static Shape split(std::uint64_t element_bytes, const std::vector<Field>& fields,
                       const std::vector<std::size_t>& placing = {});

    /// Where a byte goes in a structure of so many bytes.
    Piece at(std::uint64_t offset, std::uint64_t bytes) const;

    /// Of the new structure, at most; `bytes` of the old one.
    std::uint64_t bytes(std::uint64_t bytes) const;

private:
    struct Same {};
    struct Padded {
        std::uint64_t row, pad;
    };
    struct Tiled {
        Grid grid;
        std::uint64_t tile_rows, tile_columns, tiles_across, bytes;  ///< bytes: of the matrix, old and new
    };
    struct Split {
        struct Part {
            std::uint64_t offset, bytes, group, place;  ///< place: in the group's element
        };
        std::uint64_t element;
        std::vector<Part> parts;            ///< ascending by offset
        std::vector<std::uint64_t> stride;  ///< by group
    };
    std::variant<Same, Padded, Tiled, Split> map_;

    static Piece at(const Same&, std::uint64_t offset, std::uint64_t bytes);
    static Piece at(const Padded&, std::uint64_t offset, std::uint64_t bytes);
    static Piece at(const Tiled&, std::uint64_t offset, std::uint64_t bytes);
    static Piece at(const Split&, std::uint64_t offset, std::uint64_t bytes);
};

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// The program of LU without what its data are: blocked dense LU factorisation without pivoting, in the structure of
// SPLASH-2 LU (Woo et al. 1995). The kernel instantiates it with data that make references, examples/prediction with
// plain memory. Internal to the room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cachetally::lu {

/// Statements that make references.
enum Site : std::uint32_t { init = 1, touch, pivot, multiplier, daxpy_a, daxpy_b, stack_push, stack_use };
enum Function : std::uint32_t { f_init, f_touch, f_lu0, f_bdiv, f_bmodd, f_bmod };

/// Where the element (0, 0) of a block lies in the array, and the distance between its columns.
struct Block {
    std::uint64_t origin;
    std::uint64_t stride;
    std::uint64_t rows, columns;

    std::uint64_t at(std::uint64_t row, std::uint64_t column) const { return origin + row + column * stride; }
};

/// An n x n matrix in blocks, stored in one piece by columns, or (`contiguous`) block by block.
struct Blocks {
    std::uint64_t n, block;
    bool contiguous = false;

    std::uint64_t count() const { return (n + block - 1) / block; }  ///< blocks per side
    std::uint64_t elements() const { return contiguous ? count() * count() * block * block : n * n; }
    std::uint64_t extent(std::uint64_t number) const { return std::min(block, n - number * block); }

    Block at(std::uint64_t row, std::uint64_t column) const {
        if (contiguous) return {(column * count() + row) * block * block, block, extent(row), extent(column)};
        return {row * block + column * block * n, n, extent(row), extent(column)};
    }

    /// Where the element (i, j) of the matrix lies in the array.
    std::uint64_t index(std::uint64_t i, std::uint64_t j) const {
        return at(i / block, j / block).at(i % block, j % block);
    }
};

/// n x n random elements by columns, with a dominant diagonal: no pivoting is needed.
std::vector<double> random_matrix(std::uint64_t n, std::uint64_t seed);

/// What one processor does. `Data` are the matrix and what happens beside it:
///   double read(index, site), void write(index, value, site)   an element
///   void call()                                                before each daxpy
///   void enter(function), leave(), barrier(next phase)
///   bool owns(row, column)                                     whether the block is this processor's
template <class Data>
class Program {
public:
    Program(const Blocks& blocks, Data& data) : blocks_(blocks), count_(blocks.count()), data_(data) {}

    /// Every processor reads its own blocks once, so that later phases see no cold misses.
    void touch_blocks() {
        data_.enter(f_touch);
        for (std::uint64_t column = 0; column < count_; ++column)
            for (std::uint64_t row = 0; row < count_; ++row) {
                if (!data_.owns(row, column)) continue;
                const Block block = blocks_.at(row, column);
                for (std::uint64_t j = 0; j < block.columns; ++j)
                    for (std::uint64_t i = 0; i < block.rows; ++i) data_.read(block.at(i, j), touch);
            }
        data_.leave();
    }

    void factorise() {
        for (std::uint64_t k = 0; k < count_; ++k) {
            if (data_.owns(k, k)) eliminate(f_lu0, blocks_.at(k, k), blocks_.at(k, k), 1);
            data_.barrier("perimeter");
            update_perimeter(k);
            data_.barrier(k + 1 < count_ ? "interior, next diagonal" : "");
            update_interior(k);
        }
    }

private:
    void update_perimeter(std::uint64_t k) {
        const Block diagonal = blocks_.at(k, k);
        for (std::uint64_t row = k + 1; row < count_; ++row)
            if (data_.owns(row, k)) update(f_bdiv, blocks_.at(row, k), diagonal, blocks_.at(row, k), 1);
        for (std::uint64_t column = k + 1; column < count_; ++column)
            if (data_.owns(k, column)) eliminate(f_bmodd, diagonal, blocks_.at(k, column), 0);
    }

    void update_interior(std::uint64_t k) {
        for (std::uint64_t row = k + 1; row < count_; ++row)
            for (std::uint64_t column = k + 1; column < count_; ++column)
                if (data_.owns(row, column))
                    update(f_bmod, blocks_.at(row, k), blocks_.at(k, column), blocks_.at(row, column), 0);
    }

    /// lu0 and bmodd: divides the rows of `target` by the pivots (U has the unit diagonal, L keeps them) and eliminates
    /// below them; `lead` is 1 for the diagonal block itself, which begins right of the pivot, else 0.
    void eliminate(Function function, const Block& pivots, const Block& target, std::uint64_t lead) {
        data_.enter(function);
        for (std::uint64_t k = 0; k < pivots.columns; ++k)
            for (std::uint64_t j = lead * (k + 1); j < target.columns; ++j) {
                const std::uint64_t at = target.at(k, j);
                const double above = data_.read(at, pivot);
                const double factor = above / data_.read(pivots.at(k, k), pivot);
                data_.write(at, factor, pivot);
                daxpy(at + 1, pivots.at(k, k) + 1, pivots.rows - k - 1, -factor);
            }
        data_.leave();
    }

    /// bdiv (`upper` is the diagonal block, right of whose pivots it begins: `lead` is 1) and bmod (0).
    void update(Function function, const Block& left, const Block& upper, const Block& target, std::uint64_t lead) {
        data_.enter(function);
        for (std::uint64_t k = 0; k < left.columns; ++k)
            for (std::uint64_t j = lead * (k + 1); j < target.columns; ++j) {
                const double factor = data_.read(upper.at(k, j), multiplier);
                daxpy(target.at(0, j), left.at(0, k), target.rows, -factor);
            }
        data_.leave();
    }

    /// a[0 .. length) += alpha * b[0 .. length)
    void daxpy(std::uint64_t a, std::uint64_t b, std::uint64_t length, double alpha) {
        data_.call();
        for (std::uint64_t i = 0; i < length; ++i) {
            const double old = data_.read(a + i, daxpy_a);
            data_.write(a + i, old + alpha * data_.read(b + i, daxpy_b), daxpy_a);
        }
    }

    const Blocks blocks_;
    const std::uint64_t count_;
    Data& data_;
};

}  // namespace cachetally::lu

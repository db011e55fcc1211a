// SPDX-License-Identifier: BSD-3-Clause
// LU: blocked dense LU factorisation without pivoting, in the structure of SPLASH-2 LU (Woo et al. 1995).
#include <algorithm>
#include <cmath>

#include "workloads/kernels/kernels.hpp"
#include "workloads/kernels/processor.hpp"

namespace cachetally {
namespace lu {
namespace {

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

class Lu final : public Workload {
public:
    explicit Lu(const OptionValues& options)
        : Workload(processors_of(options), {"init", "touch", "lu0", "bdiv", "bmodd", "bmod"}),
          n_(options.number("n")),
          block_(options.number("block")),
          blocks_((n_ + block_ - 1) / block_),
          contiguous_(options.is("layout", "contiguous")),
          initialise_(options.is("initialise", "on")),
          stack_references_(options.is("stack", "on") ? options.number("stack_references") : 0),
          seed_(options.number("seed")) {
        if (block_ > n_) options.reject("block", "is larger than n; make it at most n");
        const std::uint64_t elements = contiguous_ ? blocks_ * blocks_ * block_ * block_ : n_ * n_;
        a_ = layout().array<double>("A", elements, options.number("base_offset"));
        layout().reserve_host(n_ * n_ * sizeof(double));
        for (unsigned number = 0; number < processors(); ++number)
            stacks_.push_back(stack_references_ > 0 ? layout().stack(number) : 0);
        split_processors();
        fill();
    }

    void run(Processor& p) override {
        if (p.number() == 0 && initialise_) write_matrix(p);
        p.barrier();
        touch_blocks(p);
        p.barrier();
        for (std::uint64_t k = 0; k < blocks_; ++k) {
            if (owns(p, k, k)) eliminate(p, f_lu0, block_at(k, k), block_at(k, k), 1);
            p.barrier();
            update_perimeter(p, k);
            p.barrier();
            update_interior(p, k);
        }
        p.barrier();
    }

    /// |A x - L (U x)| for a random x: n^2 work instead of n^3.
    KernelCheck check() const override {
        Random random(seed_ + 1);
        std::vector<double> x(n_), ux(n_, 0.0), ax(n_, 0.0);
        for (double& value : x) value = uniform(random);
        double norm = 0, residual = 0;
        for (std::uint64_t i = 0; i < n_; ++i) {
            double row = 0;
            for (std::uint64_t j = 0; j < n_; ++j) {
                ax[i] += original_[i + j * n_] * x[j];
                row += std::abs(original_[i + j * n_]);
                if (j >= i) ux[i] += (j == i ? 1.0 : a_.host()[index(i, j)]) * x[j];
            }
            norm = std::max(norm, row);
        }
        for (std::uint64_t i = 0; i < n_; ++i) {
            double lux = 0;
            for (std::uint64_t j = 0; j <= i; ++j) lux += a_.host()[index(i, j)] * ux[j];
            residual = worse(residual, ax[i] - lux);
        }
        return {"max |A x - L U x| / |A|", residual / norm, 1e-15 * static_cast<double>(n_ + 16)};
    }

    double expected_references() const override {
        const auto n = static_cast<double>(n_), block = static_cast<double>(block_);
        return n * n * n + n * n * n / 3 / block * (1 + static_cast<double>(stack_references_)) + 2 * n * n;
    }

    std::uint64_t fingerprint() const override {
        std::vector<double> values;
        for (std::uint64_t j = 0; j < n_; ++j)
            for (std::uint64_t i = 0; i < n_; ++i) values.push_back(a_.host()[index(i, j)]);
        return fingerprint_of(std::span<const double>(values));
    }

private:
    /// As square a grid as the number of processors allows (SPLASH-2).
    void split_processors() {
        grid_rows_ = static_cast<unsigned>(std::sqrt(static_cast<double>(processors())));
        while (processors() % grid_rows_ != 0) --grid_rows_;
        grid_columns_ = processors() / grid_rows_;
    }

    bool owns(const Processor& p, std::uint64_t row, std::uint64_t column) const {
        return row % grid_columns_ + column % grid_rows_ * grid_columns_ == p.number();
    }

    std::uint64_t extent(std::uint64_t block) const { return std::min(block_, n_ - block * block_); }

    Block block_at(std::uint64_t row, std::uint64_t column) const {
        if (contiguous_) return {(column * blocks_ + row) * block_ * block_, block_, extent(row), extent(column)};
        return {row * block_ + column * block_ * n_, n_, extent(row), extent(column)};
    }

    std::uint64_t index(std::uint64_t i, std::uint64_t j) const {
        return block_at(i / block_, j / block_).at(i % block_, j % block_);
    }

    /// Random elements with a dominant diagonal: no pivoting is needed.
    void fill() {
        Random random(seed_);
        original_.resize(n_ * n_);
        for (std::uint64_t j = 0; j < n_; ++j)
            for (std::uint64_t i = 0; i < n_; ++i)
                original_[i + j * n_] = uniform(random) + (i == j ? static_cast<double>(n_) : 0.0);
        for (std::uint64_t j = 0; j < n_; ++j)
            for (std::uint64_t i = 0; i < n_; ++i) a_.host()[index(i, j)] = original_[i + j * n_];
    }

    void write_matrix(Processor& p) {
        p.enter(f_init);
        for (std::uint64_t j = 0; j < n_; ++j)
            for (std::uint64_t i = 0; i < n_; ++i) a_.write(p, index(i, j), original_[i + j * n_], init);
        p.leave();
    }

    /// Every processor reads its own blocks once, so that later phases see no cold misses.
    void touch_blocks(Processor& p) {
        p.enter(f_touch);
        for (std::uint64_t column = 0; column < blocks_; ++column)
            for (std::uint64_t row = 0; row < blocks_; ++row) {
                if (!owns(p, row, column)) continue;
                const Block block = block_at(row, column);
                for (std::uint64_t j = 0; j < block.columns; ++j)
                    for (std::uint64_t i = 0; i < block.rows; ++i) a_.read(p, block.at(i, j), touch);
            }
        p.leave();
    }

    void update_perimeter(Processor& p, std::uint64_t k) {
        const Block diagonal = block_at(k, k);
        for (std::uint64_t row = k + 1; row < blocks_; ++row)
            if (owns(p, row, k)) update(p, f_bdiv, block_at(row, k), diagonal, block_at(row, k), 1);
        for (std::uint64_t column = k + 1; column < blocks_; ++column)
            if (owns(p, k, column)) eliminate(p, f_bmodd, diagonal, block_at(k, column), 0);
    }

    void update_interior(Processor& p, std::uint64_t k) {
        for (std::uint64_t row = k + 1; row < blocks_; ++row)
            for (std::uint64_t column = k + 1; column < blocks_; ++column)
                if (owns(p, row, column))
                    update(p, f_bmod, block_at(row, k), block_at(k, column), block_at(row, column), 0);
    }

    /// lu0 and bmodd: divides the rows of `target` by the pivots (U has the unit diagonal, L keeps them) and eliminates
    /// below them; `lead` is 1 for the diagonal block itself, which begins right of the pivot, else 0.
    void eliminate(Processor& p, Function function, const Block& pivots, const Block& target, std::uint64_t lead) {
        p.enter(function);
        for (std::uint64_t k = 0; k < pivots.columns; ++k)
            for (std::uint64_t j = lead * (k + 1); j < target.columns; ++j) {
                const std::uint64_t at = target.at(k, j);
                const double above = a_.read(p, at, pivot);
                const double factor = above / a_.read(p, pivots.at(k, k), pivot);
                a_.write(p, at, factor, pivot);
                daxpy(p, at + 1, pivots.at(k, k) + 1, pivots.rows - k - 1, -factor);
            }
        p.leave();
    }

    /// bdiv (`upper` is the diagonal block, right of whose pivots it begins: `lead` is 1) and bmod (0).
    void update(Processor& p, Function function, const Block& left, const Block& upper, const Block& target,
                std::uint64_t lead) {
        p.enter(function);
        for (std::uint64_t k = 0; k < left.columns; ++k)
            for (std::uint64_t j = lead * (k + 1); j < target.columns; ++j) {
                const double factor = a_.read(p, upper.at(k, j), multiplier);
                daxpy(p, target.at(0, j), left.at(0, k), target.rows, -factor);
            }
        p.leave();
    }

    /// a[0 .. length) += alpha * b[0 .. length)
    void daxpy(Processor& p, std::uint64_t a, std::uint64_t b, std::uint64_t length, double alpha) {
        call(p);
        for (std::uint64_t i = 0; i < length; ++i) {
            const double old = a_.read(p, a + i, daxpy_a);
            a_.write(p, a + i, old + alpha * a_.read(p, b + i, daxpy_b), daxpy_a);
        }
    }

    /// What a call without optimisation does on the stack: words of the caller's frame are read and as many pushed
    /// below them, each word once (docs/workloads.md).
    void call(Processor& p) {
        Address top = stacks_[p.number()];
        const std::uint64_t reads = stack_references_ / 2;
        for (std::uint64_t i = 0; i < reads; ++i) p.load(top -= 4, 4, stack_use);
        for (std::uint64_t i = reads; i < stack_references_; ++i) p.store(top -= 4, 4, stack_push);
    }

    std::uint64_t n_, block_, blocks_;
    bool contiguous_, initialise_;
    std::uint64_t stack_references_, seed_;
    unsigned grid_rows_ = 1, grid_columns_ = 1;
    Array<double> a_;
    std::vector<double> original_;
    std::vector<Address> stacks_;
};

}  // namespace
}  // namespace lu

Kernel lu_kernel() {
    return {{"lu",
             "blocked dense LU factorisation without pivoting (SPLASH-2 LU)",
             {number_option("n", 128, "rows and columns of the matrix of doubles", 1, 1 << 15),
              number_option("block", 16, "rows and columns of a block, at most n", 1, 1 << 15),
              choice_option("layout", "the matrix in one piece, or block by block", {"noncontiguous", "contiguous"}),
              choice_option("initialise", "trace the writing of the matrix", {"on", "off"}),
              choice_option("stack", "references to the stack at each call of daxpy", {"on", "off"}),
              number_option("stack_references", 18, "words of the stack touched per call", 0, 512),
              number_option("base_offset", 40, "bytes from a page boundary to the matrix", 0, 4095),
              number_option("seed", 1, "of the random matrix", 0, UINT64_MAX), processors_option()}},
            make_program<lu::Lu>};
}

}  // namespace cachetally

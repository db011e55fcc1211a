// SPDX-License-Identifier: BSD-3-Clause
// OCEAN-style solver: red-black Gauss-Seidel with multigrid on square grids, rows split among the processors, as the
// equation solver of SPLASH-2 OCEAN (Woo et al. 1995; Brandt 1977).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "workloads/kernels/kernels.hpp"
#include "workloads/kernels/processor.hpp"

namespace cachetally {
namespace ocean {
namespace {

enum Site : std::uint32_t {
    init = 1,
    relax_u,
    relax_f,
    residual_u,
    residual_f,
    residual_r,
    restrict_r,
    restrict_f,
    clear,
    correct_u,
    correct_c
};
enum Function : std::uint32_t { f_init, f_relax, f_residual, f_restrict, f_interpolate };

using Index = std::uint64_t;

/// -laplace(u) = f on the inner points of a square grid of points 0 .. cells; u = 0 on the border.
struct Grid {
    std::uint64_t cells = 0;
    Array<double> u, f, r;  ///< solution, right-hand side; residual, but not of the coarsest

    std::uint64_t at(std::uint64_t row, std::uint64_t column) const { return row * (cells + 1) + column; }
    double h2() const { return 1.0 / static_cast<double>(cells * cells); }
};

class Ocean final : public Workload {
public:
    static void check(const OptionValues& options) {
        const std::uint64_t n = options.number("n"), levels = options.number("levels");
        const std::uint64_t least = std::uint64_t{1} << (levels - 1), multiple = std::max<std::uint64_t>(2, n / least);
        if (n % least != 0 || n / least < 2)
            options.reject("levels", fmt::format("needs n to be a multiple of 2^(levels-1), and at least 2^levels, "
                                                 "such as n={}",
                                                 multiple * least));
        if (processors_of(options) > n - 1)
            options.reject("processors", "is more than the inner rows; make it at most n - 1");
    }

    explicit Ocean(const OptionValues& options)
        : Workload(processors_of(options), {"init", "relax", "residual", "restrict", "interpolate"}),
          sweeps_(options.number("sweeps")),
          cycles_(options.number("cycles")) {
        const std::uint64_t n = options.number("n"), levels = options.number("levels");
        for (std::uint64_t level = 0; level < levels; ++level) add_grid(n >> level, level, level + 1 == levels);
        wanted_.resize(grids_[0].u.size());
        for (std::uint64_t i = 1; i < n; ++i)
            for (std::uint64_t j = 1; j < n; ++j) wanted_[grids_[0].at(i, j)] = solution(i, j, n);
    }

    void run(Processor& p) override {
        initialise(p);
        for (std::uint64_t cycle = 0; cycle < cycles_; ++cycle) {
            for (std::size_t level = 0; level + 1 < grids_.size(); ++level) descend(p, level);
            smooth(p, grids_.back());
            for (std::size_t level = grids_.size() - 1; level-- > 0;) ascend(p, level);
        }
        p.barrier();
    }

    /// How far the solution still is from that of the discrete equations, which is known; 1 at the beginning, where
    /// u = 0. A cycle must reduce it at least by half with multigrid; plain relaxation never increases it.
    KernelCheck check() const override {
        double left = 0, initial = 0;
        for (std::uint64_t i = 0; i < wanted_.size(); ++i) {
            left = worse(left, grids_[0].u.host()[i] - wanted_[i]);
            initial = worse(initial, wanted_[i]);
        }
        const double bound = grids_.back().cells <= 4 ? std::pow(0.5, static_cast<double>(cycles_)) : 1.0;
        return {"max |u - solution| / max |solution|", left / initial, std::max(bound, 1e-15 / grids_[0].h2())};
    }

    double expected_references() const override {
        double total = 0;
        for (const Grid& grid : grids_) {
            const auto points = static_cast<double>((grid.cells - 1) * (grid.cells - 1));
            const bool last = &grid == &grids_.back();
            total += 2 * static_cast<double>(grid.u.size());
            total += static_cast<double>(cycles_) * points *
                     (last ? 6.0 * static_cast<double>(sweeps_) : 12.0 * static_cast<double>(sweeps_) + 14.0);
        }
        return total;
    }

    std::uint64_t fingerprint() const override { return fingerprint_of(grids_[0].u.host()); }

private:
    void add_grid(std::uint64_t cells, std::uint64_t level, bool coarsest) {
        const std::string suffix = std::to_string(level);
        const std::uint64_t points = cells + 1;
        Grid& grid = grids_.emplace_back();
        grid.cells = cells;
        grid.u = layout().matrix<double>("u" + suffix, points, points);
        grid.f = layout().matrix<double>("f" + suffix, points, points);
        if (!coarsest) grid.r = layout().matrix<double>("r" + suffix, points, points);
    }

    /// Any smooth and any rough part would do; zero on the border.
    static double solution(std::uint64_t i, std::uint64_t j, std::uint64_t n) {
        const double x = static_cast<double>(i) / static_cast<double>(n),
                     y = static_cast<double>(j) / static_cast<double>(n);
        return std::sin(std::numbers::pi * x) * std::sin(2 * std::numbers::pi * y) + x * (1 - x) * y * y * (1 - y);
    }

    /// f at a point such that wanted_ solves the discrete equations.
    double right_hand_side(std::uint64_t i, std::uint64_t j) const {
        const Grid& grid = grids_[0];
        const double* w = wanted_.data() + grid.at(i, j);
        const auto row = static_cast<std::ptrdiff_t>(grid.cells + 1);
        return (4 * w[0] - w[-row] - w[-1] - w[1] - w[row]) / grid.h2();
    }

    void initialise(Processor& p) {
        p.enter(f_init);
        for (Grid& grid : grids_) {
            const Share rows = share_of(grid.cells + 1, p.number(), processors());
            for (std::uint64_t i = rows.begin; i < rows.end; ++i)
                for (std::uint64_t j = 0; j <= grid.cells; ++j) {
                    const bool inside = &grid == grids_.data() && i > 0 && i < grid.cells && j > 0 && j < grid.cells;
                    grid.u.write(p, grid.at(i, j), 0.0, init);
                    grid.f.write(p, grid.at(i, j), inside ? right_hand_side(i, j) : 0.0, init);
                }
        }
        p.leave();
    }

    void descend(Processor& p, std::size_t level) {
        smooth(p, grids_[level]);
        p.barrier("residual");
        compute_residual(p, grids_[level]);
        p.barrier("restrict");
        restrict_residual(p, grids_[level], grids_[level + 1]);
    }

    void ascend(Processor& p, std::size_t level) {
        p.barrier("interpolate");
        interpolate(p, grids_[level + 1], grids_[level]);
        smooth(p, grids_[level]);
    }

    void smooth(Processor& p, Grid& grid) {
        for (std::uint64_t sweep = 0; sweep < sweeps_; ++sweep)
            for (const std::uint64_t colour : {0, 1}) {
                p.barrier(colour == 0 ? "relax red" : "relax black");
                relax(p, grid, colour);
            }
    }

    /// Visits the inner points of the processor's rows: every `step`th of a row, from `first(i)` on.
    template <class First, class Visit>
    void for_inner(Processor& p, Function function, const Grid& grid, std::uint64_t step, First first, Visit visit) {
        const Share rows = share_of(grid.cells - 1, p.number(), processors());
        p.enter(function);
        for (std::uint64_t i = rows.begin + 1; i <= rows.end; ++i)
            for (std::uint64_t j = first(i); j < grid.cells; j += step) visit(i, j);
        p.leave();
    }
    template <class Visit>
    void for_inner(Processor& p, Function function, const Grid& grid, Visit visit) {
        for_inner(
            p, function, grid, 1, [](Index) { return 1; }, visit);
    }

    /// Above, left, right, below.
    static double sum_of_neighbours(Processor& p, const Grid& grid, Index i, Index j, Site site) {
        double sum = grid.u.read(p, grid.at(i - 1, j), site);
        sum += grid.u.read(p, grid.at(i, j - 1), site);
        sum += grid.u.read(p, grid.at(i, j + 1), site);
        return sum + grid.u.read(p, grid.at(i + 1, j), site);
    }

    /// Points with row + column of one parity depend on the other parity only: order does not matter.
    void relax(Processor& p, Grid& grid, std::uint64_t colour) {
        const auto first = [colour](Index i) { return 1 + (i + 1 + colour) % 2; };
        for_inner(p, f_relax, grid, 2, first, [&](Index i, Index j) {
            double sum = sum_of_neighbours(p, grid, i, j, relax_u);
            sum += grid.h2() * grid.f.read(p, grid.at(i, j), relax_f);
            grid.u.write(p, grid.at(i, j), sum / 4, relax_u);
        });
    }

    void compute_residual(Processor& p, Grid& grid) {
        for_inner(p, f_residual, grid, [&](Index i, Index j) {
            double sum = sum_of_neighbours(p, grid, i, j, residual_u);
            sum -= 4 * grid.u.read(p, grid.at(i, j), residual_u);
            const double f = grid.f.read(p, grid.at(i, j), residual_f);
            grid.r.write(p, grid.at(i, j), f + sum / grid.h2(), residual_r);
        });
    }

    /// Full weighting onto the coarser grid, whose solution (a correction) begins at 0.
    void restrict_residual(Processor& p, const Grid& fine, Grid& coarse) {
        for_inner(p, f_restrict, coarse, [&](Index i, Index j) {
            double sum = 0;
            for (Index di = 0; di < 3; ++di)
                for (Index dj = 0; dj < 3; ++dj)
                    sum += (di == 1 ? 2 : 1) * (dj == 1 ? 2 : 1) *
                           fine.r.read(p, fine.at(2 * i + di - 1, 2 * j + dj - 1), restrict_r);
            coarse.f.write(p, coarse.at(i, j), sum / 16, restrict_f);
            coarse.u.write(p, coarse.at(i, j), 0.0, clear);
        });
    }

    /// Bilinear; each fine point reads the 1, 2 or 4 coarse points around it.
    void interpolate(Processor& p, const Grid& coarse, Grid& fine) {
        for_inner(p, f_interpolate, fine, [&](Index i, Index j) {
            double sum = 0;
            for (Index ci = i / 2; ci <= (i + 1) / 2; ++ci)
                for (Index cj = j / 2; cj <= (j + 1) / 2; ++cj) sum += coarse.u.read(p, coarse.at(ci, cj), correct_c);
            const double count = (1.0 + static_cast<double>(i % 2)) * (1.0 + static_cast<double>(j % 2));
            fine.u.write(p, fine.at(i, j), fine.u.read(p, fine.at(i, j), correct_u) + sum / count, correct_u);
        });
    }

    std::uint64_t sweeps_, cycles_;
    std::vector<Grid> grids_;  ///< from fine to coarse
    std::vector<double> wanted_;
};

}  // namespace
}  // namespace ocean

Kernel ocean_kernel() {
    return {{"ocean",
             "red-black Gauss-Seidel multigrid solver on a square grid (the solver of SPLASH-2 OCEAN)",
             {number_option("n", 128, "cells along a side of the finest grid", 2, 1 << 14),
              number_option("levels", 6, "grids, each half as fine as the one before", 1, 14),
              number_option("sweeps", 2, "relaxations before and after a coarser grid", 1, 1000),
              number_option("cycles", 4, "V-cycles", 1, 1 << 30), processors_option()}},
            make_program<ocean::Ocean>,
            ocean::Ocean::check};
}

}  // namespace cachetally

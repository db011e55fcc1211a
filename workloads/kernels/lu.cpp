// SPDX-License-Identifier: BSD-3-Clause
// LU as a kernel: the program of lu_program.hpp on data that make references.
#include <algorithm>
#include <cmath>

#include "workloads/kernels/kernels.hpp"
#include "workloads/kernels/lu_program.hpp"
#include "workloads/kernels/processor.hpp"

namespace cachetally {
namespace lu {

std::vector<double> random_matrix(std::uint64_t n, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> result(n * n);
    for (std::uint64_t j = 0; j < n; ++j)
        for (std::uint64_t i = 0; i < n; ++i)
            result[i + j * n] = uniform(random) + (i == j ? static_cast<double>(n) : 0.0);
    return result;
}

namespace {

/// As square a grid of processors as their number allows (SPLASH-2).
struct Grid {
    explicit Grid(unsigned processors) : rows(static_cast<unsigned>(std::sqrt(static_cast<double>(processors)))) {
        while (processors % rows != 0) --rows;
        columns = processors / rows;
    }
    unsigned rows, columns = 1;
};

/// The data of one processor: each access is a reference.
class Referenced {
public:
    Referenced(Processor& p, Array<double>& a, Grid grid, Address stack, std::uint64_t stack_references)
        : p_(p), a_(a), grid_(grid), stack_(stack), stack_references_(stack_references) {}

    double read(std::uint64_t i, Site site) { return a_.read(p_, i, site); }
    void write(std::uint64_t i, double value, Site site) { a_.write(p_, i, value, site); }
    void enter(Function function) { p_.enter(function); }
    void leave() { p_.leave(); }
    void barrier(std::string_view next_phase) { p_.barrier(next_phase); }
    bool owns(std::uint64_t row, std::uint64_t column) const {
        return row % grid_.columns + column % grid_.rows * grid_.columns == p_.number();
    }

    /// What a call without optimisation does on the stack: words of the caller's frame are read and as many pushed
    /// below them, each word once (docs/workloads.md).
    void call() {
        Address top = stack_;
        const std::uint64_t reads = stack_references_ / 2;
        for (std::uint64_t i = 0; i < reads; ++i) p_.load(top -= 4, 4, stack_use);
        for (std::uint64_t i = reads; i < stack_references_; ++i) p_.store(top -= 4, 4, stack_push);
    }

private:
    Processor& p_;
    Array<double>& a_;
    Grid grid_;
    Address stack_;
    std::uint64_t stack_references_;
};

class Lu final : public Workload {
public:
    static void check(const OptionValues& options) {
        if (options.number("block") > options.number("n"))
            options.reject("block", "is larger than n; make it at most n");
    }

    explicit Lu(const OptionValues& options)
        : Workload(processors_of(options), {"init", "touch", "lu0", "bdiv", "bmodd", "bmod"}),
          n_(options.number("n")),
          blocks_{n_, options.number("block"), options.is("layout", "contiguous")},
          initialise_(options.is("initialise", "on")),
          stack_references_(options.is("stack", "on") ? options.number("stack_references") : 0),
          seed_(options.number("seed")),
          grid_(processors()) {
        const std::uint64_t offset = options.number("base_offset");
        a_ = blocks_.contiguous ? layout().array<double>("A", blocks_.elements(), offset)
                                : layout().matrix<double>("A", n_, n_, offset);
        layout().reserve_host(n_ * n_ * sizeof(double));
        for (unsigned number = 0; number < processors(); ++number)
            stacks_.push_back(stack_references_ > 0 ? layout().stack(number) : 0);
        original_ = random_matrix(n_, seed_);
        for (std::uint64_t j = 0; j < n_; ++j)
            for (std::uint64_t i = 0; i < n_; ++i) a_.host()[index(i, j)] = original_[i + j * n_];
    }

    void run(Processor& p) override {
        Referenced data(p, a_, grid_, stacks_[p.number()], stack_references_);
        Program<Referenced> program(blocks_, data);
        if (p.number() == 0 && initialise_) write_matrix(p);
        p.barrier("touch blocks");
        program.touch_blocks();
        p.barrier("diagonal");
        program.factorise();
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
        const auto n = static_cast<double>(n_), block = static_cast<double>(blocks_.block);
        return n * n * n + n * n * n / 3 / block * (1 + static_cast<double>(stack_references_)) + 2 * n * n;
    }

    std::uint64_t fingerprint() const override {
        std::vector<double> values;
        for (std::uint64_t j = 0; j < n_; ++j)
            for (std::uint64_t i = 0; i < n_; ++i) values.push_back(a_.host()[index(i, j)]);
        return fingerprint_of(std::span<const double>(values));
    }

private:
    std::uint64_t index(std::uint64_t i, std::uint64_t j) const { return blocks_.index(i, j); }

    void write_matrix(Processor& p) {
        p.enter(f_init);
        for (std::uint64_t j = 0; j < n_; ++j)
            for (std::uint64_t i = 0; i < n_; ++i) a_.write(p, index(i, j), original_[i + j * n_], init);
        p.leave();
    }

    std::uint64_t n_;
    Blocks blocks_;
    bool initialise_;
    std::uint64_t stack_references_, seed_;
    Grid grid_;
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
            make_program<lu::Lu>,
            lu::Lu::check};
}

}  // namespace cachetally

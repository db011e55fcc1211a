// SPDX-License-Identifier: BSD-3-Clause
// Matrix multiplication C = A B, row-major: the plain triple loop, and blocked (Lam, Rothberg and Wolf 1991).
#include <algorithm>

#include "workloads/kernels/kernels.hpp"
#include "workloads/kernels/processor.hpp"

namespace cachetally {
namespace matmul {
namespace {

enum Site : std::uint32_t { init = 1, read_a, read_b, update_c };
enum Function : std::uint32_t { f_init, f_multiply };

class Matmul final : public Workload {
public:
    static void check(const OptionValues& options) {
        if (processors_of(options) > options.number("n"))
            options.reject("processors", "is more than n; make it at most n");
    }

    explicit Matmul(const OptionValues& options)
        : Workload(processors_of(options), {"init", "multiply"}),
          n_(options.number("n")),
          block_(options.number("block")),
          blocked_(options.is("variant", "blocked")),
          seed_(options.number("seed")),
          a_(layout().matrix<double>("A", n_, n_)),
          b_(layout().matrix<double>("B", n_, n_)),
          c_(layout().matrix<double>("C", n_, n_)) {}

    void run(Processor& p) override {
        const Share rows = share_of(n_, p.number(), processors());
        p.enter(f_init);
        for (std::uint64_t i = rows.begin; i < rows.end; ++i) write_row(p, i);
        p.leave();
        p.barrier("multiply");
        p.enter(f_multiply);
        if (blocked_)
            multiply_blocks(p, rows);
        else
            multiply_rows(p, rows);
        p.leave();
        p.barrier();
    }

    /// Freivalds 1979: C x against A (B x) for a random x.
    KernelCheck check() const override {
        Random random(~seed_);
        std::vector<double> x(n_), bx(n_, 0.0);
        for (double& value : x) value = uniform(random);
        for (std::uint64_t i = 0; i < n_; ++i)
            for (std::uint64_t j = 0; j < n_; ++j) bx[i] += b_.host()[i * n_ + j] * x[j];
        double residual = 0;
        for (std::uint64_t i = 0; i < n_; ++i) {
            double difference = 0, scale = 0;
            for (std::uint64_t j = 0; j < n_; ++j) {
                difference += c_.host()[i * n_ + j] * x[j] - a_.host()[i * n_ + j] * bx[j];
                scale += a_.host()[i * n_ + j] * bx[j];
            }
            residual = worse(residual, difference / scale);
        }
        return {"max |C x - A B x| / |A B x|", residual, 1e-15 * static_cast<double>(n_ + 16)};
    }

    double expected_references() const override {
        const auto n = static_cast<double>(n_), blocks = static_cast<double>((n_ + block_ - 1) / block_);
        return blocked_ ? 3 * n * n + n * n * blocks + 3 * n * n * n : 2 * n * n + n * n + 2 * n * n * n;
    }

    std::uint64_t fingerprint() const override { return fingerprint_of(c_.host()); }

private:
    /// Row i has its own generator, so that the matrices do not depend on who writes it.
    void write_row(Processor& p, std::uint64_t i) {
        Random random(splitmix64(seed_) + i);
        for (std::uint64_t j = 0; j < n_; ++j) {
            a_.write(p, i * n_ + j, uniform(random), init);
            b_.write(p, i * n_ + j, uniform(random), init);
            if (blocked_) c_.write(p, i * n_ + j, 0.0, init);
        }
    }

    void multiply_rows(Processor& p, Share rows) {
        for (std::uint64_t i = rows.begin; i < rows.end; ++i)
            for (std::uint64_t j = 0; j < n_; ++j) {
                double sum = 0;
                for (std::uint64_t k = 0; k < n_; ++k) {
                    const double a = a_.read(p, i * n_ + k, read_a);
                    sum += a * b_.read(p, k * n_ + j, read_b);
                }
                c_.write(p, i * n_ + j, sum, update_c);
            }
    }

    void multiply_blocks(Processor& p, Share rows) {
        for (std::uint64_t kk = 0; kk < n_; kk += block_)
            for (std::uint64_t jj = 0; jj < n_; jj += block_)
                for (std::uint64_t i = rows.begin; i < rows.end; ++i)
                    for (std::uint64_t k = kk; k < std::min(kk + block_, n_); ++k) {
                        const double a = a_.read(p, i * n_ + k, read_a);
                        for (std::uint64_t j = jj; j < std::min(jj + block_, n_); ++j) {
                            const double c = c_.read(p, i * n_ + j, update_c);
                            c_.write(p, i * n_ + j, c + a * b_.read(p, k * n_ + j, read_b), update_c);
                        }
                    }
    }

    std::uint64_t n_, block_;
    bool blocked_;
    std::uint64_t seed_;
    Array<double> a_, b_, c_;
};

}  // namespace
}  // namespace matmul

Kernel matmul_kernel() {
    return {{"matmul",
             "dense matrix multiplication, naive or blocked",
             {number_option("n", 128, "rows and columns of the matrices of doubles", 1, 1 << 14),
              choice_option("variant", "the triple loop i, j, k, or blocks of B that stay in the cache",
                            {"naive", "blocked"}),
              number_option("block", 32, "rows and columns of a block (blocked)", 1, 1 << 14),
              number_option("seed", 1, "of the random matrices", 0, UINT64_MAX), processors_option()}},
            make_program<matmul::Matmul>,
            matmul::Matmul::check};
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// FFT: the six-step complex one-dimensional FFT of SPLASH-2 (Bailey 1990; Woo et al. 1995).
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "workloads/kernels/kernels.hpp"
#include "workloads/kernels/processor.hpp"

namespace cachetally {
namespace fft {
namespace {

using Complex = std::complex<double>;

enum Site : std::uint32_t { init = 1, transpose_from, transpose_to, reverse, butterfly, root, twiddle };
enum Function : std::uint32_t { f_init, f_transpose, f_rows, f_twiddle };

/// Complex numbers as pairs of doubles: each part is a reference of its own, as in the original.
class ComplexArray {
public:
    ComplexArray() = default;
    explicit ComplexArray(Array<double> parts) : parts_(std::move(parts)) {}

    Complex read(Processor& p, std::uint64_t i, std::uint32_t site) const {
        const double real = parts_.read(p, 2 * i, site);
        return {real, parts_.read(p, 2 * i + 1, site)};
    }
    void write(Processor& p, std::uint64_t i, Complex value, std::uint32_t site) {
        parts_.write(p, 2 * i, value.real(), site);
        parts_.write(p, 2 * i + 1, value.imag(), site);
    }
    Complex host(std::uint64_t i) const { return {parts_.host()[2 * i], parts_.host()[2 * i + 1]}; }
    void set_host(std::uint64_t i, Complex value) {
        parts_.host()[2 * i] = value.real();
        parts_.host()[2 * i + 1] = value.imag();
    }
    std::span<const double> parts() const { return parts_.host(); }

private:
    Array<double> parts_;
};

/// Written out: std::complex also looks after infinities, which costs a call.
Complex times(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Complex unit_root(std::uint64_t k, std::uint64_t n) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    return {std::cos(angle), std::sin(angle)};
}

class Fft final : public Workload {
public:
    static void check(const OptionValues& options) {
        const std::uint64_t n = options.number("n"), side = std::uint64_t{1} << log2_exact(n) / 2;
        if (!is_power_of_two(n) || side * side != n)
            options.reject("n", "is not a power of 4; write for instance 16K, 64K or 256K");
        if (processors_of(options) > side)
            options.reject("processors", "is more than the root of n; each needs a row of the square");
    }

    explicit Fft(const OptionValues& options)
        : Workload(processors_of(options), {"init", "transpose", "fft1d", "twiddle"}),
          n_(options.number("n")),
          side_(std::uint64_t{1} << log2_exact(n_) / 2),
          block_(options.number("block")),
          seed_(options.number("seed")) {
        x_ = ComplexArray(layout().matrix<double>("x", n_, 2));
        trans_ = ComplexArray(layout().matrix<double>("trans", n_, 2));
        roots_ = ComplexArray(layout().matrix<double>("umain", side_ / 2, 2));
        twiddles_ = ComplexArray(layout().matrix<double>("umain2", n_, 2));
        for (std::uint64_t k = 0; k < side_ / 2; ++k) roots_.set_host(k, unit_root(k, side_));
        for (std::uint64_t row = 0; row < side_; ++row)
            for (std::uint64_t column = 0; column < side_; ++column)
                twiddles_.set_host(row * side_ + column, unit_root(row * column % n_, n_));
    }

    void run(Processor& p) override {
        const Share rows = share_of(side_, p.number(), processors());
        write_input(p, rows);
        p.barrier("transpose");
        transpose(p, rows, x_, trans_);
        p.barrier("transform rows, twiddle");
        transform_rows(p, rows, trans_, true);
        p.barrier("transpose");
        transpose(p, rows, trans_, x_);
        p.barrier("transform rows");
        transform_rows(p, rows, x_, false);
        p.barrier("transpose");
        transpose(p, rows, x_, trans_);
        p.barrier();
    }

    /// The inverse transform of the result by another algorithm, against the input.
    KernelCheck check() const override {
        std::vector<Complex> values(n_);
        for (std::uint64_t i = 0; i < n_; ++i) values[i] = std::conj(trans_.host(i));
        recursive_transform(values);
        double residual = 0;
        for (std::uint64_t i = 0; i < n_; ++i)
            residual = worse(residual, std::abs(std::conj(values[i]) / static_cast<double>(n_) - input(i)));
        return {"largest difference of the inverse transform from the input", residual, 1e-15 * (4 + log2_exact(n_))};
    }

    double expected_references() const override {
        const auto n = static_cast<double>(n_);
        // input; three transposes; twice: reversal (about), butterflies, and once the twiddles
        return 2 * n + 3 * 4 * n + 2 * (4 * n + 5 * n * log2_exact(side_)) + 6 * n;
    }

    std::uint64_t fingerprint() const override { return fingerprint_of(trans_.parts()); }

private:
    Complex input(std::uint64_t i) const {
        Random random(splitmix64(seed_) + i);
        const double real = uniform(random);
        return {real, uniform(random)};
    }

    void write_input(Processor& p, Share rows) {
        p.enter(f_init);
        for (std::uint64_t i = rows.begin * side_; i < rows.end * side_; ++i) x_.write(p, i, input(i), init);
        p.leave();
    }

    /// Rows of `to` are the processor's; in blocks, as far as these fit.
    void transpose(Processor& p, Share rows, const ComplexArray& from, ComplexArray& to) {
        p.enter(f_transpose);
        for (std::uint64_t row = rows.begin; row < rows.end; row += block_)
            for (std::uint64_t column = 0; column < side_; column += block_)
                for (std::uint64_t i = row; i < std::min(row + block_, rows.end); ++i)
                    for (std::uint64_t j = column; j < std::min(column + block_, side_); ++j)
                        to.write(p, i * side_ + j, from.read(p, j * side_ + i, transpose_from), transpose_to);
        p.leave();
    }

    void transform_rows(Processor& p, Share rows, ComplexArray& data, bool twiddled) {
        for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
            p.enter(f_rows);
            reverse_bits(p, data, row * side_);
            butterflies(p, data, row * side_);
            p.leave();
            if (twiddled) multiply_twiddles(p, data, row * side_);
        }
    }

    void reverse_bits(Processor& p, ComplexArray& data, std::uint64_t origin) {
        for (std::uint64_t i = 0, reversed = 0; i < side_; ++i) {
            if (i < reversed) {
                const Complex low = data.read(p, origin + i, reverse);
                data.write(p, origin + i, data.read(p, origin + reversed, reverse), reverse);
                data.write(p, origin + reversed, low, reverse);
            }
            std::uint64_t carry = side_ / 2;  // counts up from the top bit down
            for (; carry != 0 && (reversed & carry) != 0; carry /= 2) reversed ^= carry;
            reversed |= carry;
        }
    }

    void butterflies(Processor& p, ComplexArray& data, std::uint64_t origin) {
        for (std::uint64_t half = 1; half < side_; half *= 2)
            for (std::uint64_t group = 0; group < side_; group += 2 * half)
                for (std::uint64_t k = 0; k < half; ++k) {
                    const std::uint64_t low = origin + group + k, high = low + half;
                    const Complex w = roots_.read(p, k * (side_ / 2 / half), root);
                    const Complex odd = times(w, data.read(p, high, butterfly));
                    const Complex even = data.read(p, low, butterfly);
                    data.write(p, high, even - odd, butterfly);
                    data.write(p, low, even + odd, butterfly);
                }
    }

    void multiply_twiddles(Processor& p, ComplexArray& data, std::uint64_t origin) {
        p.enter(f_twiddle);
        for (std::uint64_t i = origin; i < origin + side_; ++i) {
            const Complex w = twiddles_.read(p, i, twiddle);
            data.write(p, i, times(w, data.read(p, i, twiddle)), twiddle);
        }
        p.leave();
    }

    /// Decimation in time by recursion, roots computed anew: shares nothing with the code above.
    static void recursive_transform(std::vector<Complex>& values) {
        const std::size_t n = values.size();
        if (n == 1) return;
        std::vector<Complex> even(n / 2), odd(n / 2);
        for (std::size_t i = 0; i < n / 2; ++i) {
            even[i] = values[2 * i];
            odd[i] = values[2 * i + 1];
        }
        recursive_transform(even);
        recursive_transform(odd);
        for (std::size_t k = 0; k < n / 2; ++k) {
            const Complex term = times(unit_root(k, n), odd[k]);
            values[k] = even[k] + term;
            values[k + n / 2] = even[k] - term;
        }
    }

    std::uint64_t n_, side_, block_, seed_;
    ComplexArray x_, trans_, roots_, twiddles_;
};

}  // namespace
}  // namespace fft

Kernel fft_kernel() {
    return {{"fft",
             "complex one-dimensional FFT in six steps (SPLASH-2 FFT)",
             {number_option("n", 65536, "complex numbers, a power of 4", 4, 1 << 26),
              number_option("block", 4, "rows and columns of a block in the transposes", 1, 4096),
              number_option("seed", 1, "of the input", 0, UINT64_MAX), processors_option()}},
            make_program<fft::Fft>,
            fft::Fft::check};
}

}  // namespace cachetally

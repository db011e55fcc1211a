// SPDX-License-Identifier: BSD-3-Clause
// A kernel: sum adds up an array. Belongs into workloads/kernels/; its row is ROW(sum).
#include "workloads/kernels/kernels.hpp"
#include "workloads/kernels/processor.hpp"

namespace cachetally {
namespace {

class Sum final : public Workload {
public:
    explicit Sum(const OptionValues& options)
        : Workload(processors_of(options), {"sum"}),
          n_(options.number("n")),
          numbers_(layout().array<double>("numbers", n_)),
          sums_(processors(), 0.0) {}

    void run(Processor& p) override {
        const Share share = share_of(n_, p.number(), processors());
        p.enter(0);
        for (std::uint64_t i = share.begin; i < share.end; ++i) numbers_.write(p, i, 1.0, 1);
        for (std::uint64_t i = share.begin; i < share.end; ++i) sums_[p.number()] += numbers_.read(p, i, 2);
        p.leave();
    }

    KernelCheck check() const override {
        double left = static_cast<double>(n_);
        for (const double sum : sums_) left -= sum;
        return {"difference from the number of elements", worse(0, left), 0};
    }
    double expected_references() const override { return 2 * static_cast<double>(n_); }
    std::uint64_t fingerprint() const override { return fingerprint_of(numbers_.host()); }

private:
    std::uint64_t n_;
    Array<double> numbers_;
    std::vector<double> sums_;
};

}  // namespace

Kernel sum_kernel() {
    return {{"sum",
             "the sum of an array",
             {number_option("n", 1024, "elements", 1, std::uint64_t{1} << 30), processors_option()}},
            [](const OptionValues& options) -> std::unique_ptr<Workload> { return std::make_unique<Sum>(options); }};
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// STREAM: copy, scale, add and triad over three long arrays (McCalpin 1995).
#include "workloads/kernels/kernels.hpp"
#include "workloads/kernels/processor.hpp"

namespace cachetally {
namespace stream {
namespace {

enum Site : std::uint32_t { init = 1, copy_site, scale_site, add_site, triad_site };
enum Function : std::uint32_t { f_init, f_copy, f_scale, f_add, f_triad };

class Stream final : public Workload {
public:
    static void check(const OptionValues& options) {
        if (processors_of(options) > options.number("n"))
            options.reject("processors", "is more than n; make it at most n");
    }

    explicit Stream(const OptionValues& options)
        : Workload(processors_of(options), {"init", "copy", "scale", "add", "triad"}),
          n_(options.number("n")),
          repetitions_(options.number("repetitions")),
          only_(options.choice("kernel")),
          a_(layout().array<double>("a", n_)),
          b_(layout().array<double>("b", n_)),
          c_(layout().array<double>("c", n_)) {}

    void run(Processor& p) override {
        const Share share = share_of(n_, p.number(), processors());
        p.enter(f_init);
        for (std::uint64_t i = share.begin; i < share.end; ++i) {
            a_.write(p, i, initial_a, init);
            b_.write(p, i, initial_b, init);
            c_.write(p, i, initial_c, init);
        }
        p.leave();
        for (std::uint64_t repetition = 0; repetition < repetitions_; ++repetition) run_once(p, share);
        p.barrier();
    }

    /// Every element goes the same way, which is followed here once.
    KernelCheck check() const override {
        double a = initial_a, b = initial_b, c = initial_c;
        for (std::uint64_t repetition = 0; repetition < repetitions_; ++repetition) {
            if (does("copy")) c = a;
            if (does("scale")) b = scalar * c;
            if (does("add")) c = a + b;
            if (does("triad")) a = b + scalar * c;
        }
        double residual = 0;
        for (const double x : a_.host()) residual = worse(residual, x - a);
        for (const double x : b_.host()) residual = worse(residual, x - b);
        for (const double x : c_.host()) residual = worse(residual, x - c);
        return {"largest difference from the value that all elements have", residual, 0};
    }

    double expected_references() const override {
        const double each =
            (does("copy") ? 2 : 0) + (does("scale") ? 2 : 0) + (does("add") ? 3 : 0) + (does("triad") ? 3 : 0);
        return static_cast<double>(n_) * (3 + each * static_cast<double>(repetitions_));
    }

    std::uint64_t fingerprint() const override {
        return fingerprint_of(a_.host()) ^ splitmix64(fingerprint_of(b_.host())) ^
               splitmix64(splitmix64(fingerprint_of(c_.host())));
    }

private:
    bool does(std::string_view kernel) const { return only_ == "all" || only_ == kernel; }

    /// Writes `element(i)` to all elements of the share.
    template <class Element>
    void fill(Processor& p, Share share, Function function, Site site, Array<double>& to, Element element) {
        p.barrier(functions()[function]);
        p.enter(function);
        for (std::uint64_t i = share.begin; i < share.end; ++i) to.write(p, i, element(i), site);
        p.leave();
    }

    void run_once(Processor& p, Share share) {
        using Index = std::uint64_t;
        if (does("copy")) fill(p, share, f_copy, copy_site, c_, [&](Index i) { return a_.read(p, i, copy_site); });
        if (does("scale"))
            fill(p, share, f_scale, scale_site, b_, [&](Index i) { return scalar * c_.read(p, i, scale_site); });
        if (does("add"))
            fill(p, share, f_add, add_site, c_, [&](Index i) {
                const double a = a_.read(p, i, add_site);
                return a + b_.read(p, i, add_site);
            });
        if (does("triad"))
            fill(p, share, f_triad, triad_site, a_, [&](Index i) {
                const double b = b_.read(p, i, triad_site);
                return b + scalar * c_.read(p, i, triad_site);
            });
    }

    static constexpr double initial_a = 1, initial_b = 2, initial_c = 0;
    /// sqrt(2) - 1: one round multiplies a by 2s + s^2 = 1, so that no number of repetitions overflows.
    static constexpr double scalar = 0.41421356237309503;

    std::uint64_t n_, repetitions_;
    std::string only_;
    Array<double> a_, b_, c_;
};

}  // namespace
}  // namespace stream

Kernel stream_kernel() {
    return {
        {"stream",
         "copy, scale, add and triad over three arrays of doubles (STREAM)",
         {number_option("n", 262144, "elements per array", 1, std::uint64_t{1} << 32),
          number_option("repetitions", 4, "rounds of the kernels", 1, std::uint64_t{1} << 40),
          choice_option("kernel", "which of the four", {"all", "copy", "scale", "add", "triad"}), processors_option()}},
        make_program<stream::Stream>,
        stream::Stream::check};
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// RADIX: integer radix sort in the structure of SPLASH-2 RADIX (Woo et al. 1995; Blelloch et al. 1991).
#include <algorithm>

#include "workloads/kernels/kernels.hpp"
#include "workloads/kernels/processor.hpp"

namespace cachetally {
namespace radix {
namespace {

enum Site : std::uint32_t {
    init = 1,
    clear,
    count_key,
    count_rank,
    sum_rank,
    sum_total,
    scan,
    permute_key,
    cursor,
    target
};
enum Function : std::uint32_t { f_init, f_count, f_prefix, f_permute };

class Radix final : public Workload {
public:
    static void check(const OptionValues& options) {
        if (!is_power_of_two(options.number("radix")))
            options.reject("radix", "is not a power of two; write for instance 1024");
        if (processors_of(options) > options.number("keys"))
            options.reject("processors", "is more than keys; make it at most keys");
    }

    explicit Radix(const OptionValues& options)
        : Workload(processors_of(options), {"init", "count", "prefix", "permute"}),
          n_(options.number("keys")),
          radix_(options.number("radix")),
          max_key_(options.number("max_key")),
          seed_(options.number("seed")) {
        for (std::uint64_t reach = 1; reach < max_key_; reach *= radix_) ++passes_;
        keys_[0] = layout().array<std::uint32_t>("key_from", n_);
        keys_[1] = layout().array<std::uint32_t>("key_to", n_);
        rank_ = layout().matrix<std::uint32_t>("rank", processors(), radix_);
        total_ = layout().array<std::uint32_t>("total", radix_);
        cursor_ = layout().matrix<std::uint32_t>("cursor", processors(), radix_);
    }

    void run(Processor& p) override {
        const Share keys = share_of(n_, p.number(), processors());
        p.enter(f_init);
        Random random(seed_);  // everyone draws the whole sequence: the keys do not depend on the processors
        for (std::uint64_t i = 0; i < keys.end; ++i) {
            const auto key = static_cast<std::uint32_t>(random.below(max_key_));
            if (i >= keys.begin) keys_[0].write(p, i, key, init);
        }
        p.leave();
        for (unsigned pass = 0; pass < passes_; ++pass) sort_digit(p, keys, pass);
        p.barrier();
    }

    /// Inversions between neighbours, and whether the keys are those that were drawn.
    KernelCheck check() const override {
        const auto sorted = keys_[passes_ % 2].host();
        double wrong = 0;
        for (std::uint64_t i = 1; i < n_; ++i) wrong += sorted[i - 1] > sorted[i] ? 1 : 0;
        std::uint64_t balance = 0;
        Random random(seed_);
        for (const std::uint32_t key : sorted) balance += splitmix64(key) - splitmix64(random.below(max_key_));
        return {"keys out of order, or not a permutation", wrong + (balance == 0 ? 0 : 1), 0};
    }

    double expected_references() const override {
        const auto n = static_cast<double>(n_), ranks = static_cast<double>(radix_ * processors());
        return n + passes_ * (n * 7 + ranks * 6 + static_cast<double>(radix_));
    }

    std::uint64_t fingerprint() const override { return fingerprint_of(keys_[passes_ % 2].host()); }

private:
    std::uint64_t digit(std::uint32_t key, unsigned pass) const {
        return key >> pass * log2_exact(radix_) & (radix_ - 1);
    }

    void sort_digit(Processor& p, Share keys, unsigned pass) {
        p.barrier("count digits");
        count(p, keys, pass);
        p.barrier("prefix over processors");
        prefix_over_processors(p);
        p.barrier("permute");
        prefix_over_digits(p);
        permute(p, keys, pass);
    }

    /// The histogram of the own keys.
    void count(Processor& p, Share keys, unsigned pass) {
        p.enter(f_count);
        const std::uint64_t own = p.number() * radix_;
        for (std::uint64_t d = 0; d < radix_; ++d) rank_.write(p, own + d, 0, clear);
        for (std::uint64_t i = keys.begin; i < keys.end; ++i) {
            const std::uint64_t d = own + digit(keys_[pass % 2].read(p, i, count_key), pass);
            rank_.write(p, d, rank_.read(p, d, count_rank) + 1, count_rank);
        }
        p.leave();
    }

    /// For a share of the digits: how many such keys lower processors have, and all together.
    void prefix_over_processors(Processor& p) {
        p.enter(f_prefix);
        const Share digits = share_of(radix_, p.number(), processors());
        for (std::uint64_t d = digits.begin; d < digits.end; ++d) {
            std::uint32_t sum = 0;
            for (unsigned q = 0; q < processors(); ++q) {
                const std::uint32_t own = rank_.read(p, q * radix_ + d, sum_rank);
                rank_.write(p, q * radix_ + d, sum, sum_rank);
                sum += own;
            }
            total_.write(p, d, sum, sum_total);
        }
        p.leave();
    }

    /// Where the own keys of each digit begin.
    void prefix_over_digits(Processor& p) {
        p.enter(f_prefix);
        const std::uint64_t own = p.number() * radix_;
        std::uint32_t below = 0;
        for (std::uint64_t d = 0; d < radix_; ++d) {
            cursor_.write(p, own + d, below + rank_.read(p, own + d, scan), scan);
            below += total_.read(p, d, scan);
        }
        p.leave();
    }

    void permute(Processor& p, Share keys, unsigned pass) {
        p.enter(f_permute);
        const std::uint64_t own = p.number() * radix_;
        for (std::uint64_t i = keys.begin; i < keys.end; ++i) {
            const std::uint32_t key = keys_[pass % 2].read(p, i, permute_key);
            const std::uint64_t d = own + digit(key, pass);
            const std::uint32_t place = cursor_.read(p, d, cursor);
            keys_[1 - pass % 2].write(p, place, key, target);
            cursor_.write(p, d, place + 1, cursor);
        }
        p.leave();
    }

    std::uint64_t n_, radix_, max_key_, seed_;
    unsigned passes_ = 0;
    Array<std::uint32_t> keys_[2], rank_, total_, cursor_;
};

}  // namespace
}  // namespace radix

Kernel radix_kernel() {
    return {{"radix",
             "integer radix sort (SPLASH-2 RADIX)",
             {number_option("keys", 65538, "keys of 4 bytes", 1, std::uint64_t{1} << 31),
              number_option("radix", 1024, "digits, a power of two", 2, 1 << 20),
              number_option("max_key", 524288, "keys are less than this", 2, std::uint64_t{1} << 32),
              number_option("seed", 1, "of the keys", 0, UINT64_MAX), processors_option()}},
            make_program<radix::Radix>,
            radix::Radix::check};
}

}  // namespace cachetally

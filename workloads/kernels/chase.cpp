// SPDX-License-Identifier: BSD-3-Clause
// Pointer chase: dependent loads along one random cycle through all nodes.
#include <numeric>

#include "workloads/kernels/kernels.hpp"
#include "workloads/kernels/processor.hpp"

namespace cachetally {
namespace chase {
namespace {

enum Site : std::uint32_t { init = 1, follow };
enum Function : std::uint32_t { f_init, f_chase };

/// The cycle of one processor: node i lies `stride` bytes after node i - 1 and begins with the pointer to the next.
struct Chain {
    Address base = 0;
    std::vector<std::uint32_t> next;
    std::vector<bool> seen;     ///< in the first lap
    std::uint64_t visited = 0;  ///< nodes seen for the first time
    std::uint32_t last = 0;
};

class Chase final : public Workload {
public:
    static void check(const OptionValues& options) {
        const std::uint64_t nodes = options.number("size") / options.number("stride");
        if (nodes == 0) options.reject("size", "is less than stride; make it at least stride");
        if (nodes > std::uint64_t{1} << 31) options.reject("size", "gives more than 2^31 nodes; use a larger stride");
    }

    explicit Chase(const OptionValues& options)
        : Workload(processors_of(options), {"init", "chase"}),
          stride_(options.number("stride")),
          nodes_(options.number("size") / stride_),
          laps_(options.number("laps")) {
        const std::uint64_t seed = options.number("seed");
        for (unsigned number = 0; number < processors(); ++number) {
            Chain& chain = chains_.emplace_back();
            chain.base =
                layout().place("chain" + std::to_string(number), nodes_ * stride_, static_cast<std::uint32_t>(stride_));
            layout().reserve_host(nodes_ * 5);
            chain.next = random_cycle(nodes_, splitmix64(seed) + number);
            chain.seen.resize(nodes_);
        }
    }

    void run(Processor& p) override {
        Chain& chain = chains_[p.number()];
        p.enter(f_init);
        for (std::uint64_t i = 0; i < nodes_; ++i) p.store(chain.base + i * stride_, 8, init);
        p.leave();
        p.barrier("chase");
        p.enter(f_chase);
        for (std::uint64_t lap = 0; lap < laps_; ++lap)
            for (std::uint64_t i = 0; i < nodes_; ++i) {
                p.load(chain.base + chain.last * stride_, 8, follow);
                if (lap == 0 && !chain.seen[chain.last]) {
                    chain.seen[chain.last] = true;
                    ++chain.visited;
                }
                chain.last = chain.next[chain.last];
            }
        p.leave();
        p.barrier();
    }

    KernelCheck check() const override {
        double missed = 0;
        for (const Chain& chain : chains_)
            missed += static_cast<double>(nodes_ - chain.visited) + (chain.last == 0 ? 0 : 1);
        return {"nodes that a lap missed, and laps that did not end where they began", missed, 0};
    }

    double expected_references() const override {
        return static_cast<double>(processors()) * static_cast<double>(nodes_) * (1 + static_cast<double>(laps_));
    }

    std::uint64_t fingerprint() const override {
        std::uint64_t hash = 0;
        for (const Chain& chain : chains_)
            hash = splitmix64(hash ^ fingerprint_of(std::span<const std::uint32_t>(chain.next)) ^ chain.last);
        return hash;
    }

private:
    /// Sattolo 1986: uniform among the permutations that are one cycle.
    static std::vector<std::uint32_t> random_cycle(std::uint64_t count, std::uint64_t seed) {
        std::vector<std::uint32_t> next(count);
        std::iota(next.begin(), next.end(), 0U);
        Random random(seed);
        for (std::uint64_t i = count; i-- > 1;) std::swap(next[i], next[random.below(i)]);
        return next;
    }

    std::uint64_t stride_, nodes_, laps_;
    std::vector<Chain> chains_;
};

}  // namespace
}  // namespace chase

Kernel chase_kernel() {
    return {{"chase",
             "dependent loads along a random cycle through all lines of an area",
             {number_option("size", 1 << 20, "bytes per processor", 8, std::uint64_t{1} << 40),
              number_option("stride", 64, "bytes from node to node", 8, 1 << 30),
              number_option("laps", 4, "times around the cycle", 1, std::uint64_t{1} << 40),
              number_option("seed", 1, "of the order", 0, UINT64_MAX), processors_option()}},
            make_program<chase::Chase>,
            chase::Chase::check};
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Times LU, and the daxpy of its inner loop by itself, on the machine that it runs on, in cycles of its core:
//   native_lu lu N BLOCK SECONDS      one line of JSON: what a factorisation does, and the least cycles of many
//   native_lu columns BYTES shuffled|sequential SECONDS
//                                     the least cycles per line of 64 bytes of columns that fill BYTES, in this order
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "examples/prediction/native_lu.hpp"
#include "probes/targets/core_clock.hpp"
#include "workloads/kernels/workload.hpp"

namespace cachetally::prediction {
namespace {

/// Nanoseconds of a cycle; the chain is short, so that one in three is undisturbed.
double cycle_ns() {
    constexpr unsigned additions = 20000;
    double least = std::numeric_limits<double>::infinity();
    for (int trial = 0; trial < 3; ++trial) least = std::min(least, additions_ns(additions) / additions);
    return least;
}

/// Takes the least cycles of each step of some work over many trials: what else runs lengthens steps. A step during
/// which the clock changed by over 1 % does not count. (The thread's own time would leave out other programs, but on
/// virtual machines Linux makes it too short, where it takes off what it believes to be stolen.)
class Stopwatch {
public:
    void start() {
        step_ = 0;
        begin();
    }
    /// Ends a step and begins the next one; what happens here does not count.
    [[gnu::noinline]] void split() {
        stop();
        begin();
    }
    void stop() {
        const auto ns = static_cast<double>(now_ns() - begin_);
        const double after = cycle_ns();
        if (step_ == least_.size()) least_.push_back(std::numeric_limits<double>::infinity());
        if (std::max(cycle_, after) <= 1.01 * std::min(cycle_, after))
            least_[step_] = std::min(least_[step_], ns / ((cycle_ + after) / 2));
        ++step_;
    }
    /// Infinite while a step has no trial that counts.
    double cycles() const { return std::accumulate(least_.begin(), least_.end(), 0.0); }

private:
    void begin() {
        cycle_ = cycle_ns();
        begin_ = now_ns();
    }

    std::vector<double> least_;
    std::size_t step_ = 0;
    double cycle_ = 0;
    std::uint64_t begin_ = 0;
};

/// Repeats `trial` for so many seconds, at least three times.
template <class Trial>
double least_cycles(double seconds, Stopwatch& watch, Trial trial) {
    const double begin = static_cast<double>(now_ns()), end = begin + seconds * 1e9;
    for (int trials = 0; trials < 3 || static_cast<double>(now_ns()) < end || !std::isfinite(watch.cycles());
         ++trials) {
        if (static_cast<double>(now_ns()) > end + 60e9)
            throw std::runtime_error("the clock changes all the time; try again when less else runs");
        trial();
    }
    return watch.cycles();
}

/// LU on plain memory, timed in steps of 64 calls on blocks (a third of a millisecond): short ones are less disturbed.
class Timed : public Plain {
public:
    Timed(std::span<double> a, Stopwatch& watch) : Plain(a), watch_(watch) {}
    void start() {
        entered_ = 0;
        watch_.start();
    }
    void enter(lu::Function) {
        if (++entered_ % 64 == 0) watch_.split();
    }
    void stop() { watch_.stop(); }

private:
    Stopwatch& watch_;
    std::uint64_t entered_ = 0;
};

/// A function of its own, whatever is compiled around it.
[[gnu::noinline]] void factorise(const lu::Blocks& blocks, Timed& data) {
    lu::Program<Timed>(blocks, data).factorise();
}

void time_lu(std::uint64_t n, std::uint64_t block, double seconds) {
    if (n < 1 || block < 1 || block > n) throw std::runtime_error("N must be 1 or more, BLOCK 1 to N");
    const lu::Blocks blocks{n, block};
    const std::vector<double> matrix = lu::random_matrix(n, 1);
    Doubles a(blocks.elements());
    Counted counted(a.values());
    fill(a.values(), blocks, matrix);
    lu::Program<Counted>(blocks, counted).factorise();
    Stopwatch watch;
    Timed data(a.values(), watch);
    const double cycles = least_cycles(seconds, watch, [&] {
        fill(a.values(), blocks, matrix);
        data.start();
        factorise(blocks, data);
        data.stop();
    });
    const std::uint64_t result = fingerprint_of(std::span<const double>(a.values()));
    std::printf(
        "{\"n\": %llu, \"references\": %llu, \"iterations\": %llu, \"calls\": %llu, \"divisions\": %llu, "
        "\"cycles\": %.0f, \"fingerprint\": \"%llx\"}\n",
        static_cast<unsigned long long>(n), static_cast<unsigned long long>(counted.references()),
        static_cast<unsigned long long>(counted.iterations()), static_cast<unsigned long long>(counted.calls()),
        static_cast<unsigned long long>(counted.divisions()), cycles, static_cast<unsigned long long>(result));
}

/// LU's daxpy, of columns of 16 doubles in BYTES, each once a lap, onto which the same column is added.
void time_columns(std::uint64_t bytes, bool shuffled, double seconds) {
    constexpr std::uint64_t length = 16, lines = length * sizeof(double) / 64;
    const std::uint64_t columns = bytes / (length * sizeof(double));
    if (columns == 0) throw std::runtime_error("BYTES must be 128 or more");
    Doubles memory(columns * length, 0), added(length, 0);
    std::ranges::fill(memory.values(), 1.0);
    std::ranges::fill(added.values(), 1.0);
    std::vector<std::uint32_t> order(columns);
    std::iota(order.begin(), order.end(), 0U);
    if (shuffled) std::shuffle(order.begin(), order.end(), std::mt19937(1));
    const std::uint64_t laps = 1 + 10000 / columns;  // some tens of microseconds at least
    const auto sweep = [&] {
        double* const b = added.values().data();
        for (std::uint64_t lap = 0; lap < laps; ++lap)
            for (const std::uint32_t column : order) {
                double* const a = memory.values().data() + column * length;
                for (std::uint64_t i = 0; i < length; ++i) a[i] += 1e-9 * b[i];
            }
    };
    Stopwatch watch;
    const double cycles = least_cycles(seconds, watch, [&] {
        watch.start();
        sweep();
        watch.stop();
    });
    std::printf("{\"bytes\": %llu, \"order\": \"%s\", \"cycles_per_line\": %.3f}\n",
                static_cast<unsigned long long>(bytes), shuffled ? "shuffled" : "sequential",
                cycles / static_cast<double>(laps * columns * lines));
}

int run(const std::vector<std::string>& words) {
    if (words.size() == 4 && words[0] == "lu")
        time_lu(std::stoull(words[1]), std::stoull(words[2]), std::stod(words[3]));
    else if (words.size() == 4 && words[0] == "columns" && (words[2] == "shuffled" || words[2] == "sequential"))
        time_columns(std::stoull(words[1]), words[2] == "shuffled", std::stod(words[3]));
    else
        throw std::runtime_error(
            "usage: native_lu lu N BLOCK SECONDS, or native_lu columns BYTES shuffled|sequential SECONDS");
    return 0;
}

}  // namespace
}  // namespace cachetally::prediction

int main(int argc, char** argv) try {
    return cachetally::prediction::run({argv + 1, argv + argc});
} catch (const std::exception& error) {
    std::fprintf(stderr, "native_lu: %s\n", error.what());
    return 1;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "probes/cpu/native_bench.hpp"

#include <algorithm>

#include "probes/cpu/compiler.hpp"
#include "probes/cpu/copies.hpp"
#include "probes/targets/core_clock.hpp"
#include "probes/targets/pinned_thread.hpp"

namespace cachetally {
namespace {

constexpr unsigned chains_of_trial = 3;  ///< the least of which is the clock beside it
constexpr double copies_ns = 25e6;       ///< that copies run side by side
constexpr unsigned copies_attempts = 8;  ///< until they were undisturbed together

using Nano = void (*)(std::uint64_t rounds);

}  // namespace

struct NativeCpuBench::Parts {
    explicit Parts(NativeCpuOptions chosen)
        : options(std::move(chosen)), compiler(options.compiler, [this] { look(); }) {
        const auto widest = compiler.compile(widest_vectors_source());
        widest_floating_point = *static_cast<unsigned*>(widest->find("widest_floating_point"));
        widest_whole = *static_cast<unsigned*>(widest->find("widest_whole"));
        rate = settled_clock();  // last: a wrong compiler is told on every machine
    }

    /// Throws where the time is over, or an end is asked for.
    void look() const {
        if (options.go_on && !options.go_on()) throw ProbingEnded();
        if (now_ns() >= options.end_ns) throw BudgetSpent();
    }

    struct Known {
        Configuration configuration;
        std::shared_ptr<CompiledCode> code;
        Nano run = nullptr;
    };
    const Known* find(const Configuration& configuration) const {
        const auto found = std::ranges::find(known, configuration, &Known::configuration);
        return found == known.end() ? nullptr : &*found;
    }

    void make(std::span<const Configuration> configurations) {
        const std::shared_ptr<CompiledCode> code = compiler.compile(c_source(configurations));
        for (std::size_t i = 0; i < configurations.size(); ++i)
            known.push_back({configurations[i], code, reinterpret_cast<Nano>(code->find(fmt::format("nano_{}", i)))});
    }

    Nano function_of(const Configuration& configuration) {
        if (find(configuration) == nullptr) make({&configuration, 1});
        return find(configuration)->run;
    }

    double read_ns() const { return rate.read_cycles * rate.cycle_ns; }

    PinnedThread pinned;
    NativeCpuOptions options;
    ClockRate rate;
    CCompiler compiler;
    unsigned widest_floating_point = 0, widest_whole = 0;
    std::vector<Known> known;
    std::uint64_t runs = 0;
};

NativeCpuBench::NativeCpuBench(NativeCpuOptions options) : parts_(std::make_unique<Parts>(std::move(options))) {}
NativeCpuBench::~NativeCpuBench() = default;

void NativeCpuBench::keep_until(std::uint64_t end_ns) { parts_->options.end_ns = end_ns; }

double NativeCpuBench::cycle_ns() {
    parts_->look();
    parts_->rate = settled_clock();
    return parts_->rate.cycle_ns;
}

std::string NativeCpuBench::lacks(CpuType type) {
    const unsigned widest = type.floating_point() ? parts_->widest_floating_point : parts_->widest_whole;
    if (type.elements == 1 || type.bytes() <= widest) return {};
    return widest == 0 ? "there are no vector registers that the compiler would use"
                       : fmt::format("vector registers hold {} bytes, not {}", widest, type.bytes());
}

void NativeCpuBench::prepare(std::span<const Configuration> configurations) {
    parts_->look();
    std::vector<Configuration> missing;
    for (const Configuration& each : configurations)
        if (parts_->find(each) == nullptr) missing.push_back(each);
    if (!missing.empty()) parts_->make(missing);
}

Timing NativeCpuBench::time(const Configuration& configuration) {
    Parts& parts = *parts_;
    parts.look();
    const Nano run = parts.function_of(configuration);
    const double read_ns = parts.read_ns();
    ++parts.runs;
    return least_time(
        [&](std::uint64_t rounds) {
            parts.look();
            const std::uint64_t begin = now_ns();
            run(rounds);
            return static_cast<double>(now_ns() - begin) - read_ns;
        },
        [&] {
            double least = cycle_by_additions(read_ns);
            for (unsigned i = 1; i < chains_of_trial; ++i) least = std::min(least, cycle_by_additions(read_ns));
            return least;
        },
        statements_per_round(configuration));
}

bool NativeCpuBench::rounds_once(CpuType type) {
    parts_->look();
    const Configuration configuration = chains_of(Operation::multiply_add, type, 1);
    parts_->function_of(configuration);
    return reinterpret_cast<int (*)()>(parts_->find(configuration)->code->find("rounds_once"))() != 0;
}

std::vector<unsigned> NativeCpuBench::processors() { return parts_->pinned.allowed_before(); }

std::optional<std::vector<double>> NativeCpuBench::side_by_side(const Configuration& configuration,
                                                                std::span<const unsigned> processors) {
    Parts& parts = *parts_;
    const Nano run = parts.function_of(configuration);
    const std::uint64_t rounds = rounds_for(
        [&](std::uint64_t count) {
            const std::uint64_t begin = now_ns();
            run(count);
            return static_cast<double>(now_ns() - begin);
        },
        TrialOptions{}.least_ns);
    ++parts.runs;
    std::optional<std::vector<double>> least;
    for (unsigned i = 0; i < copies_attempts && !least; ++i) {
        parts.look();
        least = least_side_by_side(run_copies([&] { run(rounds); }, rounds * statements_per_round(configuration),
                                              processors, copies_ns, parts.read_ns()));
    }
    return least;
}

std::uint64_t NativeCpuBench::runs() const { return parts_->runs; }

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// NativeCpuBench: the processor that this program runs on, by code that the system's compiler makes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "probes/cpu/bench.hpp"

namespace cachetally {

struct NativeCpuOptions {
    std::string compiler = "cc";
    std::uint64_t end_ns = ~0ULL;           ///< of now_ns(): nothing lasts longer
    std::function<bool()> go_on = nullptr;  ///< where it says no, ProbingEnded is thrown
};

/// Times are taken on the processor on which it is made: the thread stays there until it is gone. Calls end within some
/// milliseconds of keep_until().
class NativeCpuBench final : public CpuBench {
public:
    /// Throws CompileError where the compiler cannot make code that runs here; ProbeError where the clock frequency
    /// cannot be determined (processors that are neither x86-64 nor arm64, and very disturbed ones).
    explicit NativeCpuBench(NativeCpuOptions options = {});
    ~NativeCpuBench() override;

    void keep_until(std::uint64_t end_ns) override;
    double cycle_ns() override;
    std::string lacks(CpuType type) override;
    void prepare(std::span<const Configuration> configurations) override;
    Timing time(const Configuration& configuration) override;
    bool rounds_once(CpuType type) override;
    std::vector<unsigned> processors() override;
    std::optional<std::vector<double>> side_by_side(const Configuration& configuration,
                                                    std::span<const unsigned> processors) override;
    std::uint64_t runs() const override;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace cachetally

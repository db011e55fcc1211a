// SPDX-License-Identifier: BSD-3-Clause
// The tests of a processor: which configurations are timed, and what follows from their times. Where measurements do
// not agree, or a rule of the paper cannot tell, they refuse. (X-Ray, 3; what differs from it is ours, docs/cpu.md)
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "probes/analysis.hpp"
#include "probes/cpu/bench.hpp"
#include "probes/result.hpp"

namespace cachetally {

/// Shares by which numbers may differ.
struct CpuTolerances {
    double agreement = 0.02;   ///< of two halves of the trials, and of two measurements of one thing
    double saturated = 0.02;   ///< an interval that falls by less does not fall
    double spilled = 0.03;     ///< a statement that takes more than that longer waits for memory; halves of the trials
                               ///< must then agree within half of it
    double not_slower = 0.05;  ///< a multiply-add beside a multiplication
    double alone = 0.2;        ///< a copy that takes at most that longer than alone is not slowed down,
    double together = 0.4;     ///< one that takes at least that longer is; between the two nothing is said
};

/// Times of one operation on one type, in cycles; why a number is missing.
struct InstructionTimes {
    std::optional<double> latency = {}, interval = {};
    std::string no_latency = {}, no_interval = {};
    unsigned chains = 0;  ///< with which the interval is reached first
};

/// What the tests have in common: the bench, and instructions that were timed already.
class CpuTests {
public:
    explicit CpuTests(CpuBench& bench, const CpuTolerances& tolerances = {}) : bench_(bench), tolerances_(tolerances) {}

    /// "frequency" in MHz: one over the time of an int32 addition (X-Ray, 3.1), refused where chains of additions and
    /// multiplications give another.
    void frequency(TestReport& report);

    /// "latency" and "initiation_interval" of each operation, in cycles; `level` of findings is "int32 add". (3.2, 3.3)
    void instructions(TestReport& report, CpuType type);

    /// "fma": present, absent. (3.4)
    void fma(TestReport& report, CpuType type);

    /// "registers": variables that a ring of additions keeps in registers. (3.5)
    void registers(TestReport& report, CpuType type);

    /// "processors": copies that run at the same time without being slowed down. (3.6)
    void smp(TestReport& report);

    /// "threads_per_core", and "cores": processors that share one, as in "0+4 1+5"; or none. (3.6)
    void smt(TestReport& report);

    /// Those of an operation, measured once.
    const InstructionTimes& times(Operation operation, CpuType type);

private:
    static std::string disagreement(const Timing& timing, double most);
    void confirm(Operation operation, CpuType type, unsigned chains, std::optional<double>& cycles,
                 std::string& reason);
    InstructionTimes measure(Operation operation, CpuType type);
    bool spills(CpuType type, std::uint64_t variables, double& least);
    Bisected last_ring_in_registers(CpuType type);
    void prepare_chains(CpuType type);

    /// Whether any of these is slowed down beside the others; throws ProbeError where that cannot be told.
    bool slowed_down(std::span<const unsigned> processors);
    double slowest_beside(std::span<const unsigned> processors);
    double alone(unsigned processor);
    const std::vector<std::vector<unsigned>>& cores();
    unsigned partner_of(unsigned processor, std::vector<std::vector<unsigned>>& among);

    CpuBench& bench_;
    CpuTolerances tolerances_;
    std::map<std::pair<std::string, Operation>, InstructionTimes> times_;  ///< by name of the type
    std::map<unsigned, double> alone_;
    std::vector<std::vector<unsigned>>
        cores_;  ///< empty: not measured; the first of each runs undisturbed by the others'
};

/// Whether a multiply-add is one instruction, by its times and those of a multiplication in cycles. (X-Ray, 3.4: by
/// intervals.) That a multiplication and an addition can be made side by side is told apart by how the result is
/// rounded; of whole numbers, which are not, by latencies, and where these differ there is no answer. (ours)
struct FmaAnswer {
    std::string word;  ///< "present", "absent", or empty
    std::string why;   ///< the method, or the reason
};
FmaAnswer fma_answer(const InstructionTimes& multiply, const InstructionTimes& fused, std::optional<bool> rounds_once,
                     double not_slower);

}  // namespace cachetally

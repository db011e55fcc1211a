// SPDX-License-Identifier: BSD-3-Clause
#include "probes/cpu/features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cachetally {
namespace {

constexpr CpuType int32_type{};
/// Numbers of chains, the first of which are compiled together for all operations: more are seldom needed.
constexpr unsigned few_chains[] = {1, 2, 4, 6, 8, 10, 12}, more_chains[] = {16, 20};
constexpr unsigned first_ring = 2, common_ring = 32, longest_ring = 128;
constexpr double loop_cycles = 2;  ///< that the loop around a round of statements may take at most

/// Of vectors of whole numbers the compiler divides one element after the other.
bool has_instruction(Operation operation, CpuType type) {
    return operation != Operation::divide || type.elements == 1 || type.floating_point();
}

std::string level_of(Operation operation, CpuType type) {
    return fmt::format("{} {}", type.name(), name_of(operation));
}

}  // namespace

std::string CpuTests::disagreement(const Timing& timing, double most) {
    if (timing.spread <= most) return {};
    return fmt::format(
        "repeated measurements differ by {:.1f} %, more than {:g} %; try again when the machine is quieter",
        100 * timing.spread, 100 * most);
}

void CpuTests::frequency(TestReport& report) {
    const Timing timing = bench_.time(chains_of(Operation::add, int32_type, 1));
    const std::string reason = disagreement(timing, tolerances_.agreement);
    if (!reason.empty()) return report.refuse("", "frequency", reason);
    const double cycle_ns = bench_.cycle_ns();
    const double difference = std::abs(timing.ns / cycle_ns - 1);
    if (difference > tolerances_.agreement)
        return report.refuse(
            "", "frequency",
            "an addition takes {:.4f} ns as compiled, and a cycle {:.4f} ns by chains of additions and "
            "multiplications; the clock changes, or an addition takes no cycle",
            timing.ns, cycle_ns);
    const double mhz = 1000 / timing.ns, other = 1000 / cycle_ns;
    const double margin = mhz * timing.spread;
    report.answer("", "frequency", mhz, std::min(mhz - margin, other), std::max(mhz + margin, other), "MHz",
                  "time of dependent int32 additions, confirmed by chains of additions and multiplications");
}

void CpuTests::prepare_chains(CpuType type) {
    std::vector<Configuration> configurations;
    for (const Operation operation : cpu_operations)
        for (const unsigned chains : few_chains)
            if (has_instruction(operation, type)) configurations.push_back(chains_of(operation, type, chains));
    bench_.prepare(configurations);
}

const InstructionTimes& CpuTests::times(Operation operation, CpuType type) {
    const std::pair key{type.name(), operation};
    const auto known = times_.find(key);
    if (known != times_.end()) return known->second;
    prepare_chains(type);
    return times_[key] = measure(operation, type);
}

InstructionTimes CpuTests::measure(Operation operation, CpuType type) {
    InstructionTimes found;
    double least = std::numeric_limits<double>::infinity();
    unsigned in_vain = 0;  // one may be so by how units are chosen
    const auto is_saturated = [&](unsigned chains) {
        const Timing timing = bench_.time(chains_of(operation, type, chains));
        const std::string reason = disagreement(timing, tolerances_.agreement);
        if (chains == 1) found.no_latency = reason;
        if (chains == 1 && reason.empty()) found.latency = timing.cycles();
        if (!reason.empty()) {
            found.no_interval = reason;
            return true;
        }
        in_vain = timing.cycles() < least * (1 - tolerances_.saturated) ? 0 : in_vain + 1;
        if (in_vain == 0) found.chains = chains;
        least = std::min(least, timing.cycles());
        return in_vain == 2;
    };
    bool done = std::ranges::any_of(few_chains, is_saturated);
    if (!done) {
        std::vector<Configuration> configurations;
        for (const unsigned chains : more_chains) configurations.push_back(chains_of(operation, type, chains));
        bench_.prepare(configurations);
        done = std::ranges::any_of(more_chains, is_saturated);
    }
    if (found.no_interval.empty() && !done)
        found.no_interval = fmt::format("with {} chains times still fall", more_chains[std::size(more_chains) - 1]);
    if (found.no_interval.empty()) found.interval = least;
    confirm(operation, type, 1, found.latency, found.no_latency);
    confirm(operation, type, found.chains, found.interval, found.no_interval);
    return found;
}

/// Some milliseconds later, as what disturbs may last longer than the trials of one timing.
void CpuTests::confirm(Operation operation, CpuType type, unsigned chains, std::optional<double>& cycles,
                       std::string& reason) {
    if (!cycles) return;
    const double again = bench_.time(chains_of(operation, type, chains)).cycles();
    if (std::abs(again / *cycles - 1) <= tolerances_.agreement) return;
    reason = fmt::format("it takes {:.3g} cycles, and measured again {:.3g}; try again when the machine is quieter",
                         *cycles, again);
    cycles.reset();
}

void CpuTests::instructions(TestReport& report, CpuType type) {
    for (const Operation operation : cpu_operations) {
        const std::string level = level_of(operation, type);
        if (!has_instruction(operation, type)) {
            report.refuse(level, {"latency", "initiation_interval"},
                          "there is no instruction for it: elements are divided one after the other");
            continue;
        }
        const InstructionTimes& found = times(operation, type);
        const double share = tolerances_.agreement;
        if (found.latency)
            report.answer(level, "latency", *found.latency, *found.latency * (1 - share), *found.latency * (1 + share),
                          "cycles", "time of one chain of dependent statements");
        else
            report.refuse(level, "latency", found.no_latency);
        if (found.interval) {
            const double low = *found.interval * (1 - share) -
                               loop_cycles / static_cast<double>(statements_per_round(chains_of(operation, type, 1)));
            report.answer(
                level, "initiation_interval", *found.interval, std::max(0.0, low), *found.interval * (1 + share),
                "cycles",
                fmt::format("least time of a statement of independent chains, reached with {}", found.chains));
        } else {
            report.refuse(level, "initiation_interval", found.no_interval);
        }
    }
}

FmaAnswer fma_answer(const InstructionTimes& multiply, const InstructionTimes& fused, std::optional<bool> rounds_once,
                     double not_slower) {
    if (!multiply.interval) return {"", "mul: " + multiply.no_interval};
    if (!fused.interval) return {"", "fma: " + fused.no_interval};
    const bool slower = *fused.interval > *multiply.interval * (1 + not_slower);
    const std::string intervals = fmt::format("an interval of {:.2f} cycles beside {:.2f} of a multiplication",
                                              *fused.interval, *multiply.interval);
    if (rounds_once) {
        if (slower == !*rounds_once) return {slower ? "absent" : "present", intervals + ", and as often rounded"};
        if (!slower) return {"absent", intervals + ", but rounded twice: an addition runs beside it"};
        return {"", intervals + ", though rounded once as by one instruction"};
    }
    if (slower) return {"absent", intervals};
    if (!multiply.latency || !fused.latency)
        return {"", "latency: " + (multiply.latency ? fused.no_latency : multiply.no_latency)};
    if (*fused.latency <= *multiply.latency * (1 + not_slower)) return {"present", intervals + ", of no more latency"};
    return {"", intervals + fmt::format(", but {:.2f} cycles of latency beside {:.2f}: an addition may run beside it",
                                        *fused.latency, *multiply.latency)};
}

void CpuTests::fma(TestReport& report, CpuType type) {
    const InstructionTimes multiply = times(Operation::multiply, type), fused = times(Operation::multiply_add, type);
    std::optional<bool> rounds_once;
    if (type.floating_point()) rounds_once = bench_.rounds_once(type);
    const FmaAnswer found = fma_answer(multiply, fused, rounds_once, tolerances_.not_slower);
    if (found.word.empty()) return report.refuse(type.name(), "fma", found.why);
    report.answer(type.name(), "fma", found.word, found.why);
}

/// Whether a ring of so many takes longer than the quickest so far.
bool CpuTests::spills(CpuType type, std::uint64_t variables, double& least) {
    const Timing timing = bench_.time(ring_of(type, static_cast<unsigned>(variables)));
    if (const std::string reason = disagreement(timing, tolerances_.spilled / 2); !reason.empty())
        throw ProbeError(reason);
    if (timing.cycles() > least * (1 + tolerances_.spilled)) return true;
    least = std::min(least, timing.cycles());
    return false;
}

Bisected CpuTests::last_ring_in_registers(CpuType type) {
    double least = std::numeric_limits<double>::infinity();
    std::uint64_t most = first_ring;
    while (most <= longest_ring && !spills(type, most, least)) most *= 2;
    if (most > longest_ring)
        throw ProbeError("with {} variables an addition takes no longer than with {}: memory may be as quick",
                         longest_ring, first_ring);
    const Bisected edge =
        bisect(most / 2, most, [&](std::uint64_t variables) { return !spills(type, variables, least); });
    if (spills(type, edge.low, least) || !spills(type, edge.high, least))
        throw ProbeError(
            "that {} variables fit and {} do not was not found again; try again when the machine is quieter", edge.low,
            edge.high);
    return edge;
}

void CpuTests::registers(TestReport& report, CpuType type) {
    std::vector<Configuration> rings;
    for (unsigned i = first_ring; i <= common_ring; i *= 2) rings.push_back(ring_of(type, i));
    bench_.prepare(rings);
    const Bisected edge = last_ring_in_registers(type);
    report.answer(
        type.name(), "registers", edge.low, "registers",
        fmt::format("a ring of additions of {} variables takes longer per addition than of {}", edge.high, edge.low));
}

}  // namespace cachetally

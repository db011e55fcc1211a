// SPDX-License-Identifier: BSD-3-Clause
// A processor on paper: times that follow from numbers that a test writes down.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "probes/cpu/bench.hpp"
#include "probes/cpu/compiler.hpp"
#include "probes/result.hpp"

namespace cachetally::testing {

/// Its clock is 0.5 ns, and it tells operations apart by what their statements look like.
class PaperBench : public CpuBench {
public:
    struct Unit {
        double latency = 1, interval = 1;
    };
    Unit add{1, 0.25}, multiply{3, 1}, divide{12, 6}, fused{4, 1};
    unsigned registers = 13;
    double spill = 4;  ///< cycles that a variable in memory costs
    double spread = 0.001;
    std::set<std::size_t> disturbed;  ///< numbers of statements whose trials disagree
    double chain_ns = 0.5;            ///< of a cycle, by chains outside of configurations
    bool once = true;
    std::string lacking;  ///< of vectors
    std::vector<std::vector<unsigned>> cores{{0}, {1}};
    double beside = 2;                        ///< how much longer a copy takes whose core is shared
    bool busy = false;                        ///< others use the processors
    std::uint64_t end_ns = ~0ULL, clock = 0;  ///< each timing takes a unit of the clock
    std::uint64_t made = 0, asked_together = 0;

    void keep_until(std::uint64_t end) override { end_ns = end; }
    double cycle_ns() override { return chain_ns; }
    std::string lacks(CpuType type) override { return type.elements > 1 ? lacking : ""; }
    void prepare(std::span<const Configuration> all) override {
        if (all.empty()) throw CompileError("nothing to compile");
    }
    Timing time(const Configuration& configuration) override {
        if (clock >= end_ns) throw BudgetSpent();
        ++clock, ++made;
        const std::size_t statements = configuration.statements.size();
        return {cycles_of(configuration) * 0.5, 0.5, disturbed.contains(statements) ? 0.1 : spread};
    }
    bool rounds_once(CpuType) override { return once; }
    std::vector<unsigned> processors() override {
        std::vector<unsigned> all;
        for (const auto& core : cores) all.insert(all.end(), core.begin(), core.end());
        std::ranges::sort(all);
        return all;
    }
    std::optional<std::vector<double>> side_by_side(const Configuration&, std::span<const unsigned> running) override {
        ++asked_together;
        if (busy && running.size() > 1) return std::nullopt;
        std::vector<double> cycles;
        for (const unsigned processor : running) {
            const auto& core = *std::ranges::find_if(
                cores, [&](const auto& each) { return std::ranges::find(each, processor) != each.end(); });
            const auto sharing = std::ranges::count_if(
                core, [&](unsigned each) { return std::ranges::find(running, each) != running.end(); });
            cycles.push_back(0.25 * (sharing > 1 ? beside : 1));
        }
        return cycles;
    }
    std::uint64_t runs() const override { return made; }

private:
    double cycles_of(const Configuration& configuration) const {
        const std::string& statement = configuration.statements.back();
        const auto number = static_cast<double>(configuration.statements.size());
        const bool product = statement.find('*') != std::string::npos, sum = statement.find('+') != std::string::npos;
        if (!product && sum && configuration.initial.size() == configuration.statements.size())
            return add.latency + spill * std::max(0.0, number - registers) / number;
        const Unit& unit = product ? (sum ? fused : multiply) : sum ? add : divide;
        return std::max(unit.latency / number, unit.interval);
    }
};

inline const Finding* finding_of(const TestReport& report, const std::string& level, const std::string& parameter) {
    const auto found = std::ranges::find_if(
        report.findings, [&](const Finding& each) { return each.level == level && each.parameter == parameter; });
    return found == report.findings.end() ? nullptr : &*found;
}

}  // namespace cachetally::testing

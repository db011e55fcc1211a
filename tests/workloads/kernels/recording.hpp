// SPDX-License-Identifier: BSD-3-Clause
// Runs a workload to its end and keeps what it said.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "workloads/kernels/source.hpp"

namespace cachetally::test {

using Options = std::vector<std::string>;

struct Recording {
    /// By phase, then processor.
    std::vector<std::vector<std::vector<Reference>>> phases;
    std::vector<Region> regions;
    KernelCheck verdict;
    std::uint64_t fingerprint = 0;
    std::uint64_t references = 0;
    double expected = 0;

    std::size_t barriers() const { return phases.size() - 1; }

    /// References per phase, all processors together.
    std::vector<std::size_t> counts() const {
        std::vector<std::size_t> result;
        for (const auto& phase : phases) {
            std::size_t count = 0;
            for (const auto& references_of_one : phase) count += references_of_one.size();
            result.push_back(count);
        }
        return result;
    }

    std::vector<Reference> all() const {
        std::vector<Reference> result;
        for (const auto& phase : phases)
            for (const auto& one : phase) result.insert(result.end(), one.begin(), one.end());
        return result;
    }
};

/// In which order streams are asked between two barriers.
enum class Order { ascending, descending, in_turn };

/// Takes one batch; returns its control's kind.
inline Control::Kind take(WorkloadSource& source, unsigned core, std::vector<Reference>& into) {
    const Batch batch = source.next(core);
    into.insert(into.end(), batch.references.begin(), batch.references.end());
    return batch.control.kind;
}

inline bool stops(Control::Kind kind) { return kind == Control::Kind::barrier || kind == Control::Kind::end; }

inline Recording record(const std::string& name, const Options& options, Order order = Order::ascending) {
    WorkloadSource source(make_workload(name, options));
    Recording result;
    result.regions = source.regions();
    result.expected = source.workload().expected_references();
    const unsigned cores = source.cores();
    for (bool ended = false; !ended;) {
        auto& phase = result.phases.emplace_back(cores);
        std::vector<unsigned> waiting;
        for (unsigned core = 0; core < cores; ++core)
            waiting.push_back(order == Order::descending ? cores - 1 - core : core);
        while (!waiting.empty()) {
            const unsigned core = waiting.front();
            const auto kind = take(source, core, phase[core]);
            if (stops(kind))
                waiting.erase(waiting.begin());
            else if (order == Order::in_turn)
                std::rotate(waiting.begin(), waiting.begin() + 1, waiting.end());
            ended = ended || kind == Control::Kind::end;
        }
    }
    result.verdict = source.workload().check();
    result.fingerprint = source.workload().fingerprint();
    result.references = source.references();
    return result;
}

inline Options with(Options options, const std::string& more) {
    options.push_back(more);
    return options;
}

/// Every kernel at a size that takes milliseconds, for 1 .. 16 processors.
struct Small {
    std::string name;
    Options options;
};
inline std::vector<Small> small_runs() {
    return {{"lu", {"n=64", "block=8"}},
            {"lu", {"n=50", "block=7", "layout=contiguous", "initialise=off"}},
            {"radix", {"keys=3001", "radix=64", "max_key=5000"}},
            {"water", {"molecules=27", "steps=2"}},
            {"fft", {"n=1K"}},
            {"ocean", {"n=32", "levels=4"}},
            {"ocean", {"n=17", "levels=1"}},
            {"matmul", {"n=23"}},
            {"matmul", {"n=23", "variant=blocked", "block=5"}},
            {"stream", {"n=1001", "repetitions=3"}},
            {"gups", {"table=1K"}},
            {"chase", {"size=16K", "laps=3"}}};
}

}  // namespace cachetally::test

// SPDX-License-Identifier: BSD-3-Clause
// Recorder: a target that keeps what another one is asked and answers.
#pragma once

#include <string>
#include <vector>

#include "probes/recording/recording.hpp"

namespace cachetally {

class Recorder final : public ProbeTarget {
public:
    /// `target` outlives it.
    Recorder(ProbeTarget& target, std::string name);

    const Recording& recording() const { return recording_; }

    const Capabilities& capabilities() const override { return target_.capabilities(); }
    void keep_to(const Budget& budget) override { target_.keep_to(budget); }
    Arena make_arena(std::uint64_t bytes, std::uint64_t page) override;
    Measurement run(const Arena& arena, const Chase& chase, const Effort& effort) override;
    Measurement prime_and_probe(const Arena& arena, const PrimeProbe& both, const Effort& effort) override;
    std::vector<double> latencies(const Arena& arena, const Chase& chase, unsigned warm_up, unsigned samples) override;
    Measurement stream(const Arena& arena, const Streaming& stream, const Effort& effort) override;
    Measurement transfer(const Arena& arena, unsigned from, const ChaseOn& to, unsigned rounds) override;
    Measurement run_after(const Arena& arena, const ChaseOn& one, const ChaseOn& other, unsigned rounds) override;
    std::vector<std::uint64_t> physical_pages(const Arena& arena) const override {
        return target_.physical_pages(arena);
    }
    void release(const Arena& arena) override { target_.release(arena); }

    /// As of the last answer, so that whoever goes by it does the same when the recording is replayed.
    ProbeCost cost() const override { return cost_; }

private:
    template <class Ask>
    void record(RecordedRun run, const Arena& arena, Ask ask);
    RecordedRun of_chase(RecordedRun run, const Chase& chase);
    std::uint32_t number_of(const Arena& arena) const;

    ProbeTarget& target_;
    ProbeCost cost_;
    Recording recording_;
};

}  // namespace cachetally

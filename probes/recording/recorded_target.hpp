// SPDX-License-Identifier: BSD-3-Clause
// RecordedTarget: a recording as a target. rerun(): its questions, asked of another one.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "probes/recording/recording.hpp"

namespace cachetally {

/// How messages name a recording.
struct RecordingOrigin {
    std::string file = {};      ///< empty: of no file
    std::string first_of = {};  ///< of rerun(): the target that chose the strings; empty: the recording's own
};

/// Answers what was recorded, without the machine. Questions are known by the bytes and pages of their arena, their
/// string and effort: asked several times, they get the answers in the order in which these were recorded, and from the
/// first one again after the last. Tests that ask what was asked when it was recorded, in that order, find the same.
class RecordedTarget final : public ProbeTarget {
public:
    explicit RecordedTarget(Recording recording, RecordingOrigin origin = {});

    const Recording& recording() const { return recording_; }

    const Capabilities& capabilities() const override { return recording_.capabilities; }
    void keep_to(const Budget& budget) override { budget_ = budget; }

    Arena make_arena(std::uint64_t bytes, std::uint64_t page) override;

    /// Throws what the recorded target threw; ProbeError where it was not asked for this.
    Measurement run(const Arena& arena, const Chase& chase, const Effort& effort) override;
    Measurement stream(const Arena& arena, const Streaming& stream, const Effort& effort) override;
    std::vector<double> latencies(const Arena& arena, const Chase& chase, unsigned warm_up, unsigned samples) override;

    Measurement prime_and_probe(const Arena& arena, const PrimeProbe& both, const Effort& effort) override;
    Measurement transfer(const Arena& arena, unsigned from, const ChaseOn& to, unsigned rounds) override;
    Measurement run_after(const Arena& arena, const ChaseOn& one, const ChaseOn& other, unsigned rounds) override;

    void release(const Arena&) override {}

    /// As recorded.
    ProbeCost cost() const override { return cost_; }

private:
    /// What was recorded for a question, and which of it comes next.
    struct Answers {
        std::vector<std::uint32_t> runs;
        std::size_t next = 0;
    };

    /// Of questions of several processors, or of two chases.
    struct Others {
        std::uint32_t processor = 0, other_processor = 0, other_string = 0, parts = 0, used = 0;
        Renewal renewed = Renewal::none;
        std::uint64_t touched = PrimeProbe::nowhere;
        bool stores = false;

        friend auto operator<=>(const Others&, const Others&) = default;
    };
    /// Kind, bytes and page of the arena; string, whether of floating point, chains; kind and bytes of a stream;
    /// effort; others.
    using Question = std::tuple<RecordedRun::Kind, std::uint64_t, std::uint64_t, std::uint32_t, bool, unsigned,
                                Streaming::Kind, std::uint64_t, unsigned, unsigned, double, Others>;
    static Question question_of(const RecordedRun& run, const Arena& arena);
    /// `asked` without what it says of the chase.
    const RecordedRun& next(RecordedRun asked, const Arena& arena, const Chase& chase);
    const RecordedRun& answer(Answers& answers);
    /// Ends a test: `asked` is not in the recording.
    [[noreturn]] void refuse(const std::string& asked) const;

    Recording recording_;
    RecordingOrigin origin_;
    Budget budget_;
    ProbeCost cost_;
    std::size_t arenas_made_ = 0;
    std::map<Question, Answers> answers_;
};

/// The same strings with the same effort, in the same order, on another target. Arenas and runs that it refuses are
/// recorded as refused; nothing is asked after the budget is spent or an end was asked for. What is offered (pages,
/// arenas, the step of the clock) stays as recorded, so that tests ask for the same; events are those of `target`.
Recording rerun(const Recording& recording, ProbeTarget& target, const std::string& name);

}  // namespace cachetally

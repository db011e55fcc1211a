// SPDX-License-Identifier: BSD-3-Clause
// The streams of a source on their way through a hierarchy: what both hosts do alike. They differ in who goes next, and
// in how references reach the hierarchy.
#pragma once

#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cachetally/run.hpp"

namespace cachetally {

/// A time that never comes.
inline constexpr Tick forever = std::numeric_limits<Tick>::max();

/// How a host hands references to a hierarchy; as the members of Hierarchy of the same names.
class ReferenceWay {
public:
    virtual ~ReferenceWay() = default;
    virtual Progress run(unsigned core, std::span<const Reference> references, Tick now, Tick until) = 0;
    virtual Tick run_filtered(unsigned core, std::span<const FilteredBlock> blocks, Tick now) = 0;
};

class Streams {
public:
    static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

    /// Each core begins as many picoseconds late as its number, so that no two are ever at the same time. Throws
    /// std::invalid_argument where there are more streams than cores.
    Streams(Hierarchy& hierarchy, ReferenceSource& source, const RunOptions& options);

    unsigned size() const { return static_cast<unsigned>(streams_.size()); }
    Tick quantum() const { return options_.quantum; }

    /// The local time of a core.
    Tick time(unsigned core) const { return streams_[core].time; }
    bool running(unsigned core) const { return streams_[core].state == State::running; }
    /// Or where cores meet without one.
    bool at_barrier(unsigned core) const {
        return streams_[core].state == State::at_barrier || streams_[core].state == State::at_meeting;
    }

    /// The running core of the least time; nothing where all wait or are at their end.
    std::optional<unsigned> next() const;

    /// The least time of the other running cores, or forever.
    Tick others(unsigned core) const;

    /// When the quantum that a core is in is over; there must be one.
    Tick quantum_end(unsigned core) const { return (streams_[core].time / quantum() + 1) * quantum(); }

    /// True where references of the only core may be handed over by number, and not by time.
    bool timeless(unsigned core) const { return size() == 1 && hierarchy_.plan().cores[core].takes_blocks(); }

    /// True when enough references are made, or somebody ended the run.
    bool over() const;

    /// Lets a core go on while its time is less than `until`, and until `most` references are made (or the block that
    /// these are in), it arrives at a barrier or its end, or the run is over. Throws what the source and `way` throw.
    void advance(unsigned core, Tick until, ReferenceWay& way, std::size_t most = all);

    /// When none is running: all that wait at the barrier go on when the last has arrived, each with its own offset.
    /// False where nobody waits.
    bool pass_barrier();

    /// The run ends here, by an error that is being handled. Where the source failed, what was counted stays; where
    /// memory is full, references are half made, and result() throws.
    void fail(const std::runtime_error& error);

    /// To be called once, at the end.
    RunResult result();

private:
    enum class State : std::uint8_t { running, at_meeting, at_barrier, ended };

    /// One core's stream as far as it has been taken.
    struct Stream {
        Tick time = 0;
        std::span<const Reference> references;
        std::span<const FilteredBlock> blocks;  ///< of more references
        std::uint64_t unseen = 0;               ///< references made since `time` was all the time that they took
        Control control;                        ///< follows the references
        State state = State::running;
        std::uint32_t next_phase = 0;  ///< at a barrier or meeting: of the phase behind it; number of a name + 1, or 0
    };

    void refill(unsigned core);
    void obey(Control& control, unsigned core);
    std::size_t make(unsigned core, Tick until, ReferenceWay& way, std::size_t most);
    std::size_t make_filtered(unsigned core, ReferenceWay& way, std::size_t most);
    void count(std::uint64_t references);
    bool warming() const { return begin_ == forever; }
    void begin_counting();
    void wish();
    Tick latest() const;
    std::uint64_t references_left() const;
    std::uint64_t references_in_phase_left() const;
    void end_phase_between_barriers(unsigned core);
    void complete(unsigned core);
    void complete_all();
    bool may_end(unsigned core, std::size_t references);
    void end_in_time(unsigned core);
    void close_phase(std::uint32_t next_name);
    void name_phases();

    static constexpr std::uint64_t report_interval = 1 << 20;

    Hierarchy& hierarchy_;
    ReferenceSource& source_;
    RunOptions options_;
    std::vector<Stream> streams_;
    std::vector<PhaseResult> phases_;
    std::vector<std::uint32_t> phase_names_{0};  ///< one more, that of the present phase; as Stream::next_phase
    HierarchyCounts phase_start_, counted_from_;
    Tick phase_begin_ = 0;
    Tick begin_ = 0;  ///< of counting; forever during the warmup
    std::uint64_t references_ = 0, next_report_ = report_interval;
    std::uint64_t phase_first_ = 0;  ///< references before the present phase
    bool interrupted_ = false, time_over_ = false;
    std::string failure_;
    std::exception_ptr half_made_;
};

}  // namespace cachetally

#include "sim/engine/engine.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace cachetally {
namespace {

constexpr Tick forever = std::numeric_limits<Tick>::max();

/// One core's stream as far as it has been taken.
struct Stream {
    enum class State : std::uint8_t { running, at_barrier, ended };
    Tick time = 0;
    std::span<const Reference> references;
    std::span<const Stretch> stretches;  ///< of them, or none
    std::size_t sieved = 0;              ///< so many references are in sieved stretches instead
    Control control;                     ///< follows the references
    State state = State::running;
};

/// Runs the streams in the order of their cores' times (DESIGN: least local time, quantum).
class Scheduler {
public:
    Scheduler(Hierarchy& hierarchy, ReferenceSource& source, const RunOptions& options)
        : hierarchy_(hierarchy),
          source_(source),
          options_(options),
          streams_(source.cores()),
          phase_start_(hierarchy.counts()) {
        for (unsigned core = 0; core < streams_.size(); ++core) streams_[core].time = core;
        if (streams_.size() != 1) return;
        LineWish wish = hierarchy_.lines_wished(0);
        wish.sieved = wish.sieved && options_.max_references == 0;  // else it may be necessary to stop anywhere
        source_.wish(wish);
        if (std::thread::hardware_concurrency() > 1) hierarchy_.work_in_background();
    }

    RunResult run() {
        RunResult result;
        try {
            while (!over()) {
                if (const auto core = next_core()) {
                    advance(*core);
                } else if (any(Stream::State::at_barrier)) {
                    pass_barrier(result);
                } else {
                    break;
                }
            }
        } catch (const std::runtime_error& error) {
            result.failure = error.what();
        }
        result.complete = !interrupted_ && result.failure.empty();
        complete_all();
        close_phase(result);
        for (const Stream& stream : streams_) result.core_ends.push_back(stream.time);
        for (unsigned idle = source_.cores(); idle < hierarchy_.cores(); ++idle) result.core_ends.push_back(idle);
        result.counts = hierarchy_.counts();
        return result;
    }

private:
    std::optional<unsigned> next_core() const {
        std::optional<unsigned> least;
        for (unsigned core = 0; core < streams_.size(); ++core)
            if (streams_[core].state == Stream::State::running &&
                (!least || streams_[core].time < streams_[*least].time))
                least = core;
        return least;
    }

    bool over() const {
        return interrupted_ || (options_.max_references != 0 && references_ >= options_.max_references);
    }

    bool any(Stream::State state) const {
        return std::ranges::any_of(streams_, [&](const Stream& stream) { return stream.state == state; });
    }

    /// How far the core with the least time may go: alone to the end, else to the end of its quantum; without
    /// a quantum until another core's time is less.
    Tick limit(unsigned core) const {
        Tick others = forever;
        for (unsigned other = 0; other < streams_.size(); ++other)
            if (other != core && streams_[other].state == Stream::State::running)
                others = std::min(others, streams_[other].time);
        if (others == forever || options_.quantum == 0) return others;
        return (streams_[core].time / options_.quantum + 1) * options_.quantum;
    }

    void advance(unsigned core) {
        Stream& stream = streams_[core];
        const Tick until = limit(core);
        while (stream.state == Stream::State::running && stream.time < until && !over()) {
            if (stream.sieved != 0) {
                stream.time = hierarchy_.run_sieved(core, stream.stretches, stream.time);
                count(std::exchange(stream.sieved, 0));
                continue;
            }
            if (stream.references.empty()) {
                obey(stream.control, core);
                if (stream.state == Stream::State::running) refill(core);
                continue;
            }
            const auto [done, time] = hierarchy_.run(core, stream.references, stream.time, until, stream.stretches);
            stream.time = time;
            stream.references = stream.references.subspan(done);
            stream.stretches = {};
            count(done);
        }
    }

    void refill(unsigned core) {
        Stream& stream = streams_[core];
        const Batch batch = source_.next(core);
        stream.references = batch.references;
        stream.stretches = batch.stretches;
        stream.sieved = batch.sieved;
        stream.control = batch.control;
        const std::uint64_t wanted = options_.max_references - references_;
        if (options_.max_references == 0 || wanted >= stream.references.size()) return;
        stream.references = stream.references.first(wanted);
        stream.stretches = {};
    }

    /// Does what the program says after the references that were made; once.
    void obey(Control& control, unsigned core) {
        Stream& stream = streams_[core];
        switch (control.kind) {
            case Control::Kind::none: break;
            case Control::Kind::barrier: stream.state = Stream::State::at_barrier; break;
            case Control::Kind::end: stream.state = Stream::State::ended; break;
            default: stream.time += hierarchy_.control(control, core, stream.time); break;
        }
        control = {};
    }

    void count(std::uint64_t references) {
        references_ += references;
        if (options_.progress && references_ >= next_report_) {
            next_report_ = references_ + report_interval;
            if (!options_.progress(references_)) interrupted_ = true;
        }
    }

    /// What the hierarchy does in the background takes time, too.
    void complete_all() {
        for (unsigned core = 0; core < streams_.size(); ++core)
            streams_[core].time += hierarchy_.complete(core, streams_[core].time);
    }

    /// All go on when the last has arrived, each with its own offset.
    void pass_barrier(RunResult& result) {
        complete_all();
        Tick latest = 0;
        unsigned waiting = 0;
        for (unsigned core = 0; core < streams_.size(); ++core) {
            if (streams_[core].state != Stream::State::at_barrier) continue;
            latest = std::max(latest, streams_[core].time - core);
            waiting = core;
        }
        close_phase(result);
        latest += hierarchy_.control({Control::Kind::barrier, 0}, waiting, latest);
        for (unsigned core = 0; core < streams_.size(); ++core) {
            if (streams_[core].state != Stream::State::at_barrier) continue;
            streams_[core].state = Stream::State::running;
            streams_[core].time = latest + core;
        }
        phase_begin_ = latest;
    }

    void close_phase(RunResult& result) {
        const HierarchyCounts now = hierarchy_.counts();
        Tick end = phase_begin_;
        for (unsigned core = 0; core < streams_.size(); ++core) end = std::max(end, streams_[core].time - core);
        result.phases.push_back({now - phase_start_, phase_begin_, end});
        phase_start_ = now;
    }

    static constexpr std::uint64_t report_interval = 1 << 20;

    Hierarchy& hierarchy_;
    ReferenceSource& source_;
    const RunOptions& options_;
    std::vector<Stream> streams_;
    HierarchyCounts phase_start_;
    Tick phase_begin_ = 0;
    std::uint64_t references_ = 0, next_report_ = report_interval;
    bool interrupted_ = false;
};

}  // namespace

Tick RunResult::end() const {
    Tick latest = 0;
    for (std::size_t core = 0; core < core_ends.size(); ++core) latest = std::max(latest, core_ends[core] - core);
    return latest;
}

RunResult run(Hierarchy& hierarchy, ReferenceSource& source, const RunOptions& options) {
    if (source.cores() > hierarchy.cores())
        throw std::invalid_argument("the source has " + std::to_string(source.cores()) + " streams, the machine " +
                                    std::to_string(hierarchy.cores()) + " cores; give the machine as many cores");
    return Scheduler(hierarchy, source, options).run();
}

}  // namespace cachetally

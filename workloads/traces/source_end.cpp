// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/traces/source_end.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "workloads/traces/forwarding_source.hpp"

namespace cachetally {
namespace {

class EndedSource final : public ForwardingSource {
public:
    EndedSource(std::unique_ptr<ReferenceSource> source, std::vector<std::uint64_t> references)
        : ForwardingSource(*source), source_(std::move(source)), left_(std::move(references)) {}

    Batch next(unsigned core) override {
        std::uint64_t& left = left_[core];
        if (left == 0) return {{}, {Control::Kind::end, 0}};
        const Batch batch = source_->next(core);
        if (batch.references.size() >= left)
            return {batch.references.first(std::exchange(left, 0)), {Control::Kind::end, 0}};
        left -= batch.references.size();
        return batch;
    }

private:
    std::unique_ptr<ReferenceSource> source_;
    std::vector<std::uint64_t> left_;  ///< of each stream
};

/// A stream as far as it was read and counted.
struct CountedStream {
    enum class State : std::uint8_t { running, waiting, over };
    State state = State::running;
    Control control;          ///< follows `ready`
    std::uint64_t ready = 0;  ///< references that were read, and not counted
    std::uint64_t counted = 0;

    bool runs() const { return state == State::running; }
};

/// Until it has references, waits for the others, or is over.
void read_on(ReferenceSource& source, unsigned core, CountedStream& stream) {
    while (stream.runs() && stream.ready == 0) {
        switch (std::exchange(stream.control, {}).kind) {
            case Control::Kind::barrier:
            case Control::Kind::meet: stream.state = CountedStream::State::waiting; return;
            case Control::Kind::end: stream.state = CountedStream::State::over; return;
            default: break;
        }
        const Batch batch = source.next(core);
        stream.ready = batch.references.size();
        stream.control = batch.control;
    }
}

/// As many turns as all that run have references for; the last ones may not reach all.
void take_turns(std::vector<CountedStream>& streams, std::uint64_t& left) {
    const auto running = static_cast<std::uint64_t>(std::ranges::count_if(streams, &CountedStream::runs));
    std::uint64_t turns = std::max<std::uint64_t>(left / running, 1);
    for (const CountedStream& stream : streams)
        if (stream.runs()) turns = std::min(turns, stream.ready);
    for (CountedStream& stream : streams) {
        if (!stream.runs()) continue;
        const std::uint64_t some = std::min(turns, left);
        stream.ready -= some;
        stream.counted += some;
        left -= some;
    }
}

}  // namespace

std::vector<std::uint64_t> first_references(ReferenceSource& source, std::uint64_t most,
                                            const std::function<bool()>& go_on) {
    if (source.cores() == 1) return {most};
    std::vector<CountedStream> streams(source.cores());
    while (most != 0) {
        if (!go_on()) throw std::runtime_error("interrupted");
        for (unsigned core = 0; core < streams.size(); ++core) read_on(source, core, streams[core]);
        if (std::ranges::any_of(streams, &CountedStream::runs)) {
            take_turns(streams, most);
            continue;
        }
        if (std::ranges::all_of(streams, [](const auto& each) { return each.state == CountedStream::State::over; }))
            break;
        for (CountedStream& stream : streams)
            if (stream.state == CountedStream::State::waiting) stream.state = CountedStream::State::running;
    }
    std::vector<std::uint64_t> counted;
    for (const CountedStream& stream : streams) counted.push_back(stream.counted);
    return counted;
}

std::unique_ptr<ReferenceSource> ended_source(std::unique_ptr<ReferenceSource> source,
                                              std::vector<std::uint64_t> references) {
    return std::make_unique<EndedSource>(std::move(source), std::move(references));
}

}  // namespace cachetally

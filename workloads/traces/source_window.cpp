// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/traces/source_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "workloads/traces/byte_stream.hpp"
#include "workloads/traces/forwarding_source.hpp"

namespace cachetally {
namespace {

class LateSource final : public ForwardingSource {
public:
    LateSource(std::unique_ptr<ReferenceSource> source, SourceBeginning beginning)
        : ForwardingSource(*source),
          source_(std::move(source)),
          beginning_(std::move(beginning)),
          lanes_(source_->cores()),
          left_(beginning_.skip) {}

    Batch next(unsigned core) override {
        if (!has_begun_) begin();
        Lane& lane = lanes_[core];
        if (!lane.controls.empty()) {
            const Control control = lane.controls.front();
            lane.controls.erase(lane.controls.begin());
            return {{}, control};
        }
        if (!std::exchange(lane.is_handed_over, true)) return {lane.references, lane.control};
        return source_->next(core);
    }
    void wish(const std::optional<FilterPlan>& plan) override {
        wish_ = plan;
        if (has_begun_) source_->wish(plan);
    }

private:
    enum class State : std::uint8_t { running, waiting, over };
    /// A stream as far as it has been read.
    struct Lane {
        std::span<const Reference> references;
        Control control;  ///< follows them
        State state = State::running;
        std::vector<std::uint32_t> functions;  ///< entered
        std::optional<Control> monitors;       ///< their switch
        std::vector<Control> controls;         ///< come first
        bool is_handed_over = false;
    };

    void begin() {
        if (beginning_.from.empty()) is_found_ = true;
        if (!is_found_ && !beginning_.function_of) names_ = source_->site_names();
        while (!is_found_)
            if (!find_function()) pass_by(shortest());
        while (left_ != 0) {
            const std::uint64_t most = shortest();
            pass_by(std::min(most, std::max<std::uint64_t>(left_ / running(), 1)));
        }
        has_begun_ = true;
        for (Lane& lane : lanes_) {
            if (phase_ != 0) lane.controls.push_back({Control::Kind::meet, phase_});
            for (const std::uint32_t function : lane.functions)
                lane.controls.push_back({Control::Kind::enter_function, function});
            if (lane.monitors) lane.controls.push_back(*lane.monitors);
        }
        source_->wish(wish_);
    }

    /// Until all that are running have references, or a function that is looked for is entered. Nobody runs: throws.
    void read_on() {
        while (true) {
            for (unsigned core = 0; core < lanes_.size(); ++core)
                while (lanes_[core].state == State::running && lanes_[core].references.empty() && !is_entered(core))
                    obey(core);
            if (running() != 0) return;
            if (std::ranges::none_of(lanes_, [](const Lane& lane) { return lane.state == State::waiting; })) refuse();
            pass_meeting();
        }
    }

    /// All that are not over have come to it.
    void pass_meeting() {
        std::uint32_t name = 0;
        bool ends_phase = false;
        for (Lane& lane : lanes_) {
            if (lane.state != State::waiting) continue;
            name = std::max(name, lane.control.argument);
            ends_phase |= lane.control.kind == Control::Kind::barrier;
            lane.state = State::running;
            lane.control = {};
        }
        if (ends_phase || name != 0) phase_ = name;
    }

    void obey(unsigned core) {
        Lane& lane = lanes_[core];
        switch (lane.control.kind) {
            case Control::Kind::barrier:
            case Control::Kind::meet: lane.state = State::waiting; return;
            case Control::Kind::end: lane.state = State::over; return;
            case Control::Kind::enter_function: lane.functions.push_back(lane.control.argument); break;
            case Control::Kind::leave_function:
                if (!lane.functions.empty()) lane.functions.pop_back();
                break;
            case Control::Kind::monitor_on:
            case Control::Kind::monitor_off: lane.monitors = lane.control; break;
            default: break;
        }
        const Batch batch = source_->next(core);
        lane.references = batch.references;
        lane.control = batch.control;
    }

    /// The number of streams that go on.
    std::uint64_t running() const {
        return static_cast<std::uint64_t>(std::ranges::count(lanes_, State::running, &Lane::state));
    }

    /// References that all running streams have.
    std::uint64_t shortest() {
        read_on();
        std::uint64_t shortest = ~std::uint64_t{0};
        for (const Lane& lane : lanes_)
            if (lane.state == State::running) shortest = std::min<std::uint64_t>(shortest, lane.references.size());
        return shortest;
    }

    /// So many of each running stream, as long as some are left to skip.
    void pass_by(std::uint64_t references) {
        for (Lane& lane : lanes_) {
            if (lane.state != State::running) continue;
            const std::uint64_t some = is_found_ ? std::min(references, left_) : references;
            lane.references = lane.references.subspan(some);
            passed_ += some;
            if (is_found_) left_ -= some;
        }
    }

    /// Passes by what comes before it, as far as was read.
    bool find_function() {
        read_on();
        std::uint64_t first = shortest();
        std::optional<unsigned> found;
        for (unsigned core = 0; core < lanes_.size(); ++core) {
            const Lane& lane = lanes_[core];
            if (is_entered(core)) return is_found_ = true;
            if (lane.state != State::running) continue;
            const auto some = lane.references.first(first);
            const auto place =
                std::ranges::find_if(some, [&](const Reference& reference) { return is_of_function(reference.site); });
            if (place == some.end()) continue;
            first = static_cast<std::uint64_t>(place - some.begin());
            found = core;
        }
        if (!found) return false;
        pass_by(first);
        // those before it have had their turn
        for (unsigned core = 0; core < *found; ++core)
            if (lanes_[core].state == State::running) lanes_[core].references = lanes_[core].references.subspan(1);
        return is_found_ = true;
    }

    bool is_entered(unsigned core) const {
        const Lane& lane = lanes_[core];
        if (is_found_ || !lane.references.empty() || lane.control.kind != Control::Kind::enter_function) return false;
        const std::vector<std::string> functions = source_->functions();
        return lane.control.argument < functions.size() &&
               is_function(functions[lane.control.argument], beginning_.from);
    }

    std::string function_of(std::uint32_t site) const {
        if (beginning_.function_of) return beginning_.function_of(site);
        const std::uint32_t code = source_->sites() == nullptr ? 0 : source_->sites()->code(site);
        return code < names_.code.size() ? names_.code[code].function : "";
    }

    bool is_of_function(std::uint32_t site) {
        if (site >= known_.size()) known_.resize(std::max<std::size_t>(site + 1, 2 * known_.size()));
        if (!known_[site]) known_[site] = is_function(function_of(site), beginning_.from);
        return *known_[site];
    }

    [[noreturn]] void refuse() const {
        if (is_found_)
            throw TraceError(
                fmt::format("--skip: all {} are skipped: the program is over", numbered(passed_, "reference")));
        std::vector<std::string> functions = source_->functions();
        for (const CodePlace& place : source_->site_names().code) functions.push_back(place.function);
        if (std::ranges::all_of(functions, [](const std::string& name) { return name.empty(); }))
            throw TraceError(
                "--from: the functions of these references are not known (traces of other tools: --symbols)");
        throw TraceError(fmt::format("--from: no function '{}' is entered{}", shown(beginning_.from),
                                     function_advice(beginning_.from, functions)));
    }

    std::unique_ptr<ReferenceSource> source_;
    SourceBeginning beginning_;
    std::vector<Lane> lanes_;
    std::uint64_t left_, passed_ = 0;
    std::uint32_t phase_ = 0;  ///< whose name is this, as at a barrier
    bool has_begun_ = false, is_found_ = false;
    std::optional<FilterPlan> wish_;
    SiteNames names_;
    std::vector<std::optional<bool>> known_;  ///< whether a site is of the function
};

class MappedSource final : public ForwardingSource {
public:
    MappedSource(std::unique_ptr<ReferenceSource> source, const std::vector<unsigned>& map, unsigned cores)
        : ForwardingSource(*source), source_(std::move(source)), streams_(source_->cores()) {
        for (unsigned stream = 0; stream < streams_.size(); ++stream) {
            const unsigned core = stream < map.size() ? map[stream] : stream % cores;
            if (core >= lanes_.size()) lanes_.resize(core + std::size_t{1});
            lanes_[core].streams.push_back(stream);
        }
    }

    unsigned cores() const override { return static_cast<unsigned>(lanes_.size()); }

    Batch next(unsigned core) override {
        Lane& lane = lanes_[core];
        while (const auto number = at_turn(lane)) {
            Stream& stream = streams_[*number];
            if (!stream.references.empty()) return {some_of(stream, lane), {}};
            const Control control = std::exchange(stream.control, {});
            switch (control.kind) {
                case Control::Kind::none: take(*number); break;
                case Control::Kind::barrier:
                case Control::Kind::meet:
                    stream.state = State::waiting;
                    if (lane.meeting.kind != Control::Kind::barrier) lane.meeting.kind = control.kind;
                    lane.meeting.argument = std::max(lane.meeting.argument, control.argument);
                    break;
                case Control::Kind::end: stream.state = State::over; break;
                default: return {{}, control};
            }
        }
        lane.turn = lane.made = 0;
        // all that are not over have come to a meeting
        if (lane.meeting.kind == Control::Kind::none) return {{}, {Control::Kind::end, 0}};
        for (const unsigned stream : lane.streams)
            if (streams_[stream].state == State::waiting) streams_[stream].state = State::running;
        return {{}, std::exchange(lane.meeting, {})};
    }

private:
    enum class State : std::uint8_t { running, waiting, over };
    struct Stream {
        std::span<const Reference> references;
        Control control;  ///< follows them
        State state = State::running;
    };
    struct Lane {
        std::vector<unsigned> streams;
        std::size_t turn = 0, made = 0;  ///< whose turn it is, and what it has made of it
        Control meeting;                 ///< that some wait for: with the end of a phase where one has that
    };

    /// The stream that goes on; nothing where none runs.
    std::optional<unsigned> at_turn(Lane& lane) const {
        if (lane.made >= turn_of_streams) ++lane.turn, lane.made = 0;
        for (std::size_t tries = 0; tries < lane.streams.size(); ++tries, ++lane.turn, lane.made = 0) {
            const unsigned stream = lane.streams[lane.turn % lane.streams.size()];
            if (streams_[stream].state == State::running) return stream;
        }
        return std::nullopt;
    }

    std::span<const Reference> some_of(Stream& stream, Lane& lane) {
        const auto some = stream.references.first(std::min(stream.references.size(), turn_of_streams - lane.made));
        stream.references = stream.references.subspan(some.size());
        lane.made += some.size();
        return some;
    }

    void take(unsigned number) {
        const Batch batch = source_->next(number);
        streams_[number].references = batch.references;
        streams_[number].control = batch.control;
    }

    std::unique_ptr<ReferenceSource> source_;
    std::vector<Stream> streams_;
    std::vector<Lane> lanes_;
};

}  // namespace

bool is_function(std::string_view function, std::string_view name) {
    if (name.empty()) return false;
    int depth = 0;  // of template arguments
    for (std::size_t begin = 0; begin < function.size(); ++begin) {
        const std::string_view rest = function.substr(begin);
        const bool may_begin = begin == 0 || (function[begin - 1] == ' ' && depth == 0);
        if (may_begin && rest.starts_with(name) &&
            (rest.size() == name.size() || rest[name.size()] == '(' || rest[name.size()] == '<'))
            return true;
        if (rest.front() == '(') return false;
        depth += (rest.front() == '<' ? 1 : 0) - (rest.front() == '>' ? 1 : 0);
    }
    return false;
}

std::string function_advice(std::string_view name, const std::vector<std::string>& functions) {
    std::set<std::string_view> known;
    for (const std::string_view function : functions) known.insert(function.substr(0, function.find('(')));
    known.erase("");
    const std::vector<std::string_view> all(known.begin(), known.end());
    const std::string_view near = nearest(name, all);
    return near.empty() ? "" : fmt::format("; did you mean '{}'?", shown(near));
}

std::unique_ptr<ReferenceSource> late_source(std::unique_ptr<ReferenceSource> source, SourceBeginning beginning) {
    if (beginning.from.empty() && beginning.skip == 0) return source;
    return std::make_unique<LateSource>(std::move(source), std::move(beginning));
}

std::unique_ptr<ReferenceSource> mapped_source(std::unique_ptr<ReferenceSource> source, std::vector<unsigned> map,
                                               unsigned cores) {
    if (map.empty()) return source;
    return std::make_unique<MappedSource>(std::move(source), map, cores);
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "sim/engine/streams.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/text.hpp"
#include "sim/model/tlb/page_table.hpp"

namespace cachetally {
namespace {

unsigned streams_for(const Hierarchy& hierarchy, const ReferenceSource& source) {
    if (source.cores() > hierarchy.cores())
        throw std::invalid_argument("the source has " + std::to_string(source.cores()) + " streams, the machine " +
                                    std::to_string(hierarchy.cores()) + " cores; give the machine as many cores");
    return source.cores();
}

std::size_t references_in(std::span<const FilteredBlock> blocks) {
    std::size_t references = 0;
    for (const FilteredBlock& block : blocks) references += block.references;
    return references;
}

/// The first blocks of at least `most` references; all of them if they have fewer.
std::span<const FilteredBlock> first_blocks(std::span<const FilteredBlock> blocks, std::size_t most) {
    std::size_t count = 0;
    for (std::size_t references = 0; count < blocks.size() && references < most; ++count)
        references += blocks[count].references;
    return blocks.first(count);
}

}  // namespace

Streams::Streams(Hierarchy& hierarchy, ReferenceSource& source, const RunOptions& options)
    : hierarchy_(hierarchy),
      source_(source),
      options_(options),
      streams_(streams_for(hierarchy, source)),
      phase_start_(hierarchy.counts()) {
    for (unsigned core = 0; core < size(); ++core) streams_[core].time = core;
    hierarchy_.know_sites(source_.sites());
    if (options_.warmup != 0) {
        begin_ = forever;
        hierarchy_.control({Control::Kind::count_off, 0}, 0, 0);
    }
    wish();
}

void Streams::wish() {
    if (size() != 1) return;
    const ExecutionPlan::Core& plan = hierarchy_.plan().cores[0];
    const bool stops_anywhere = warming() || options_.max_references != 0 || options_.phase_every != 0;
    source_.wish(plan.takes_blocks() && !stops_anywhere ? std::optional(plan.filter) : std::nullopt);
}

std::optional<unsigned> Streams::next() const {
    std::optional<unsigned> least;
    for (unsigned core = 0; core < size(); ++core)
        if (running(core) && (!least || streams_[core].time < streams_[*least].time)) least = core;
    return least;
}

Tick Streams::others(unsigned core) const {
    Tick least = forever;
    for (unsigned other = 0; other < size(); ++other)
        if (other != core && running(other)) least = std::min(least, streams_[other].time);
    return least;
}

bool Streams::over() const { return interrupted_ || !failure_.empty() || references_left() == 0; }

/// Until counting begins, or else the run stops.
std::uint64_t Streams::references_left() const {
    if (warming()) return options_.warmup - references_;
    if (options_.max_references == 0) return std::numeric_limits<std::uint64_t>::max();
    return options_.max_references - (references_ - options_.warmup);
}

/// Until it ends without a barrier.
std::uint64_t Streams::references_in_phase_left() const {
    if (options_.phase_every == 0 || warming()) return std::numeric_limits<std::uint64_t>::max();
    return options_.phase_every - (references_ - phase_first_);
}

void Streams::advance(unsigned core, Tick until, ReferenceWay& way, std::size_t most) {
    Stream& stream = streams_[core];
    while (stream.state == State::running && stream.time < until && most != 0 && !over()) {
        std::size_t made = 0;
        if (!stream.blocks.empty()) {
            made = make_filtered(core, way, most);
        } else if (!stream.references.empty()) {
            made = make(core, until, way, most);
        } else {
            obey(stream.control, core);
            if (stream.state == State::running) refill(core);
        }
        if (stream.blocks.empty()) end_in_time(core);
        most -= std::min(most, made);
        count(made);
    }
}

std::size_t Streams::make_filtered(unsigned core, ReferenceWay& way, std::size_t most) {
    Stream& stream = streams_[core];
    const bool may = may_end(core, references_in(stream.blocks));
    const auto some = first_blocks(stream.blocks, most);
    const std::size_t made = references_in(some);
    stream.time = way.run_filtered(core, some, stream.time);
    stream.blocks = stream.blocks.subspan(some.size());
    stream.unseen += made;
    // Nobody stops where references are left out: the run may end behind all that the source gave at once, however
    // it was handed over.
    if (may && stream.blocks.empty()) complete(core);
    return made;
}

std::size_t Streams::make(unsigned core, Tick until, ReferenceWay& way, std::size_t most) {
    Stream& stream = streams_[core];
    // Not before there is another reference: no phase is empty but those between two barriers.
    if (references_in_phase_left() == 0) end_phase_between_barriers(core);
    most = std::min<std::uint64_t>({most, references_left(), references_in_phase_left()});
    const auto references = stream.references.first(std::min(most, stream.references.size()));
    if (until != forever || !hierarchy_.only_latencies() || may_end(core, references.size()))
        until = std::min(until, options_.longest);
    const auto [done, time] = way.run(core, references, stream.time, until);
    stream.unseen = until == forever ? stream.unseen + done : 0;
    stream.time = time;
    stream.references = stream.references.subspan(done);
    return done;
}

void Streams::refill(unsigned core) {
    Stream& stream = streams_[core];
    const Batch batch = source_.next(core);
    stream.references = batch.references;
    stream.blocks = batch.blocks;
    stream.control = batch.control;
}

/// Does what the program says after the references that were made; once.
void Streams::obey(Control& control, unsigned core) {
    Stream& stream = streams_[core];
    switch (control.kind) {
        case Control::Kind::none: break;
        case Control::Kind::barrier:
        case Control::Kind::meet:
            stream.state = control.kind == Control::Kind::meet ? State::at_meeting : State::at_barrier;
            stream.next_phase = control.argument;
            break;
        case Control::Kind::end: stream.state = State::ended; break;
        default: stream.time += hierarchy_.control(control, core, stream.time); break;
    }
    control = {};
}

void Streams::count(std::uint64_t references) {
    references_ += references;
    if (warming() && references_ == options_.warmup) begin_counting();
    if (options_.progress && references_ >= next_report_) {
        next_report_ = references_ + report_interval;
        if (!options_.progress(references_)) interrupted_ = true;
    }
}

/// As if the run ended here, and another one began.
void Streams::begin_counting() {
    complete_all();
    begin_ = phase_begin_ = latest();
    phase_first_ = references_;
    phase_start_ = counted_from_ = hierarchy_.counts();
    hierarchy_.control({Control::Kind::count_on, 0}, 0, begin_);
    wish();
}

/// The local time of the core that is furthest.
Tick Streams::latest() const {
    Tick latest = 0;
    for (unsigned core = 0; core < size(); ++core) latest = std::max(latest, streams_[core].time - core);
    return latest;
}

/// What the hierarchy does in the background takes time, too.
void Streams::complete(unsigned core) {
    Stream& stream = streams_[core];
    stream.time += hierarchy_.complete(core, stream.time);
    stream.unseen = 0;
}

void Streams::complete_all() {
    for (unsigned core = 0; core < size(); ++core) complete(core);
}

/// Whether so many references more, made without regard to time, can take a core to the longest time. Then all that
/// it has done is in its time.
bool Streams::may_end(unsigned core, std::size_t references) {
    Stream& stream = streams_[core];
    const auto may = [&] {
        return stream.time >= options_.longest ||
               (options_.longest - stream.time) / hierarchy_.reference_at_most() <= stream.unseen + references;
    };
    if (!may()) return false;
    complete(core);
    return may();
}

/// The one place that ends a run for its time. What comes later is not distinguished.
void Streams::end_in_time(unsigned core) {
    Stream& stream = streams_[core];
    if (stream.time < options_.longest) return;
    stream.time = options_.longest;
    if (!failure_.empty()) return;
    failure_ = time_is_over;
    time_over_ = true;
}

bool Streams::pass_barrier() {
    std::optional<unsigned> waiting;
    bool ends_phase = false;
    std::uint32_t name = 0;
    for (unsigned core = 0; core < size(); ++core) {
        if (!at_barrier(core)) continue;
        waiting = core;
        ends_phase |= streams_[core].state == State::at_barrier;
        name = std::max(name, streams_[core].next_phase);
    }
    if (!waiting) return false;
    if (ends_phase ? warming() : name != 0) {
        phase_names_.back() = name;
        ends_phase = false;
    }
    complete_all();
    Tick latest = 0;
    for (unsigned core = 0; core < size(); ++core)
        if (at_barrier(core)) latest = std::max(latest, streams_[core].time - core);
    if (ends_phase) {
        close_phase(name);
        latest += hierarchy_.control({Control::Kind::barrier, 0}, *waiting, latest);
    }
    for (unsigned core = 0; core < size(); ++core) {
        if (!at_barrier(core)) continue;
        streams_[core].state = State::running;
        streams_[core].time = latest + core;
        end_in_time(core);
    }
    if (ends_phase) phase_begin_ = latest;
    return true;
}

void Streams::end_phase_between_barriers(unsigned core) {
    complete_all();
    close_phase(phase_names_.back());
    const Tick wait = hierarchy_.control({Control::Kind::barrier, 0}, core, streams_[core].time);
    for (Stream& stream : streams_)
        if (stream.state == State::running) stream.time += wait;
    phase_begin_ = latest();
}

void Streams::close_phase(std::uint32_t next_name) {
    const HierarchyCounts now = hierarchy_.counts();
    phases_.push_back({now - phase_start_, phase_begin_ - begin_, std::max(phase_begin_, latest()) - begin_, {}});
    phase_start_ = now;
    phase_names_.push_back(next_name);
    phase_first_ = references_;
}

void Streams::name_phases() {
    if (std::ranges::count(phase_names_, 0u) == std::ssize(phase_names_)) return;
    const std::vector<std::string> names = source_.phase_names();
    for (std::size_t phase = 0; phase < phases_.size(); ++phase)
        if (const std::uint32_t name = phase_names_[phase]; name != 0 && name <= names.size())
            phases_[phase].name = names[name - 1];
}

void Streams::fail(const std::runtime_error& error) {
    failure_ = error.what();
    if (dynamic_cast<const MemoryFull*>(&error) != nullptr) half_made_ = std::current_exception();
}

RunResult Streams::result() {
    if (half_made_) std::rethrow_exception(half_made_);
    complete_all();
    for (unsigned core = 0; core < size(); ++core) end_in_time(core);
    if (warming()) {
        if (failure_.empty() && !interrupted_)
            failure_ = "the program was over within the warmup, after " + numbered(references_, "reference");
        begin_counting();
    }
    close_phase(0);
    name_phases();
    RunResult result;
    result.phases = std::move(phases_);
    for (unsigned core = 0; core < size(); ++core)
        result.core_ends.push_back(std::max(streams_[core].time - core, begin_) - begin_ + core);
    for (unsigned idle = size(); idle < hierarchy_.cores(); ++idle) result.core_ends.push_back(idle);
    result.counts = options_.warmup == 0 ? hierarchy_.counts() : hierarchy_.counts() - counted_from_;
    result.complete = !interrupted_ && failure_.empty();
    result.failure = failure_;
    result.time_over = time_over_;
    result.quantum = size() > 1 ? quantum() : 0;
    return result;
}

}  // namespace cachetally

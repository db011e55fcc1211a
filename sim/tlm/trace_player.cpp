// SPDX-License-Identifier: BSD-3-Clause
#include "cachetally/trace_player.hpp"

#include <tlm_utils/tlm_quantumkeeper.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "sim/engine/streams.hpp"

namespace cachetally {
namespace {

/// Sources read files in it.
constexpr int stack_bytes = 1 << 20;

/// The quantum of the program, in the local time of its core.
class Keeper final : public tlm_utils::tlm_quantumkeeper {
public:
    Keeper(const Streams& streams, unsigned core) : streams_(streams), core_(core) {}
    void take_local_time();
    sc_core::sc_time compute_local_quantum() override;

private:
    const Streams& streams_;
    unsigned core_;
    TimeScale scale_;
};

/// Nothing where SystemC is ahead: after a barrier by picoseconds.
void Keeper::take_local_time() {
    const Tick now = scale_.now();
    set(scale_.time(std::max(streams_.time(core_), now) - now));
}

sc_core::sc_time Keeper::compute_local_quantum() {
    if (streams_.quantum() == 0) return sc_core::SC_ZERO_TIME;
    const Tick now = scale_.now();
    return scale_.time(std::max(streams_.quantum_end(core_), now) - now);
}

}  // namespace

struct TraceProgram::State {
    Streams streams;
    sc_core::sc_event turned;  ///< a player has synchronised, or is at its end
    sc_core::sc_event passed;  ///< the barrier
};

TraceProgram::TraceProgram(CacheHierarchy& hierarchy, ReferenceSource& source, const RunOptions& options)
    : state_(new State{Streams(hierarchy.hierarchy(), source, options), {}, {}}) {}

TraceProgram::~TraceProgram() = default;

unsigned TraceProgram::cores() const { return state_->streams.size(); }

RunResult TraceProgram::result() { return state_->streams.result(); }

class TracePlayer::Play final : private ReferenceWay {
public:
    Play(TracePlayer& player, TraceProgram::State& program, unsigned core)
        : player_(player), program_(program), streams_(program.streams), core_(core), keeper_(streams_, core) {
        payload_.set_command(tlm::TLM_IGNORE_COMMAND);
        payload_.set_extension(&batch_);
    }
    ~Play() override { payload_.clear_extension(&batch_); }

    void play();

private:
    void play_turns();
    bool await_turn();
    void make_quantum();
    std::size_t references_to(Tick end) const;

    Progress run(unsigned core, std::span<const Reference> references, Tick now, Tick until) override;
    Tick run_filtered(unsigned core, std::span<const FilteredBlock> blocks, Tick now) override;
    void hand_over();

    TracePlayer& player_;
    TraceProgram::State& program_;
    Streams& streams_;
    unsigned core_;
    TimeScale scale_;
    Keeper keeper_;
    ReferenceBatch batch_;
    tlm::tlm_generic_payload payload_;
    std::uint64_t made_ = 0;  ///< references, where they are handed over by number
};

TracePlayer::TracePlayer(const sc_core::sc_module_name& name, TraceProgram& program, unsigned core)
    : sc_module(name), socket("socket"), play_(std::make_unique<Play>(*this, *program.state_, core)) {
    SC_HAS_PROCESS(TracePlayer);
    SC_THREAD(play);
    set_stack_size(stack_bytes);
}

TracePlayer::~TracePlayer() = default;

void TracePlayer::play() { play_->play(); }

void TracePlayer::Play::play() {
    try {
        play_turns();
    } catch (const std::runtime_error& error) {
        streams_.fail(error);
    }
    program_.turned.notify();
}

void TracePlayer::Play::play_turns() {
    while (await_turn()) {
        make_quantum();
        program_.turned.notify();
        if (!streams_.over() && !streams_.next() && streams_.pass_barrier()) program_.passed.notify();
    }
}

/// Waits until SystemC is at the core's local time, and no other core is behind it; as the engine chooses. False when
/// there is nothing more to do.
bool TracePlayer::Play::await_turn() {
    for (;;) {
        while (streams_.at_barrier(core_) && !streams_.over()) sc_core::wait(program_.passed);
        keeper_.take_local_time();
        if (keeper_.get_local_time() != sc_core::SC_ZERO_TIME) {
            keeper_.sync();
            continue;
        }
        if (!streams_.running(core_) || streams_.over()) return false;
        if (streams_.next() == core_) return true;
        sc_core::wait(program_.turned);
    }
}

/// Goes on until SystemC has to follow.
void TracePlayer::Play::make_quantum() {
    keeper_.reset();
    do {
        if (streams_.quantum() == 0) {
            streams_.advance(core_, streams_.time(core_) + 1, *this);
        } else if (streams_.timeless(core_)) {
            streams_.advance(core_, forever, *this, references_to(streams_.quantum_end(core_)));
        } else {
            streams_.advance(core_, streams_.quantum_end(core_), *this);
        }
        keeper_.take_local_time();
    } while (streams_.running(core_) && !streams_.over() && !keeper_.need_sync());
}

/// About as many as there is time for, going by those that were made.
std::size_t TracePlayer::Play::references_to(Tick end) const {
    const Tick time = streams_.time(core_);
    if (made_ == 0) return 1;
    const Tick each = std::max<Tick>(time / made_, 1);
    return std::max<Tick>((end - time) / each, 1);
}

Progress TracePlayer::Play::run(unsigned, std::span<const Reference> references, Tick now, Tick until) {
    batch_.references = references;
    batch_.blocks = {};
    batch_.begin = now;
    batch_.until = until;
    hand_over();
    made_ += batch_.done;
    return {batch_.done, batch_.end};
}

Tick TracePlayer::Play::run_filtered(unsigned, std::span<const FilteredBlock> blocks, Tick now) {
    batch_.references = {};
    batch_.blocks = blocks;
    batch_.begin = now;
    hand_over();
    for (const FilteredBlock& block : blocks) made_ += block.references;
    return batch_.end;
}

void TracePlayer::Play::hand_over() {
    batch_.taken = false;
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    const Tick now = scale_.now();
    sc_core::sc_time delay = scale_.time(std::max(batch_.begin, now) - now);
    player_.socket->b_transport(payload_, delay);
    if (!batch_.taken)
        throw std::runtime_error(std::string(player_.name()) +
                                 ": what is bound to the socket does not take references; bind it to a CacheHierarchy");
    if (payload_.is_response_ok()) return;
    std::ostringstream what;
    what << player_.name() << ": memory answers " << payload_.get_response_string() << " at address 0x" << std::hex
         << payload_.get_address();
    throw std::runtime_error(what.str());
}

}  // namespace cachetally

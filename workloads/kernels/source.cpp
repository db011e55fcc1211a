// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/kernels/source.hpp"

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

#include <algorithm>

#if defined(__SANITIZE_ADDRESS__)
#define CACHETALLY_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CACHETALLY_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define CACHETALLY_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CACHETALLY_TSAN 1
#endif
#endif
#ifdef CACHETALLY_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef CACHETALLY_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace cachetally {
namespace {

namespace context = boost::context;

constexpr std::size_t stack_bytes = 256 * 1024;

/// Thrown by suspend() to unwind a body that will never be resumed.
struct Cancelled {};

/// A stack that one switches to and from, as the sanitizers know it.
struct StackNote {
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    void* fake = nullptr;    ///< of AddressSanitizer
    void* thread = nullptr;  ///< of ThreadSanitizer
};

void leaving([[maybe_unused]] StackNote* from, [[maybe_unused]] const StackNote& to) {
#ifdef CACHETALLY_ASAN
    __sanitizer_start_switch_fiber(from ? &from->fake : nullptr, to.bottom, to.bytes);
#endif
#ifdef CACHETALLY_TSAN
    __tsan_switch_to_fiber(to.thread, 0);
#endif
}

void arrived([[maybe_unused]] StackNote& here, [[maybe_unused]] StackNote* from) {
#ifdef CACHETALLY_ASAN
    __sanitizer_finish_switch_fiber(here.fake, from ? &from->bottom : nullptr, from ? &from->bytes : nullptr);
#endif
}

/// A stack allocator that lets us know the stack, and knows what we need of it.
struct NotedStack {
    StackNote* note;
    context::protected_fixedsize_stack stack{stack_bytes};

    context::stack_context allocate() {
        const context::stack_context result = stack.allocate();
        note->bottom = static_cast<char*>(result.sp) - result.size;
        note->bytes = result.size;
        return result;
    }
    void deallocate(context::stack_context& result) { stack.deallocate(result); }
};

}  // namespace

struct Fiber::Parts {
    std::function<void()> body;
    StackNote inner, outer;
    context::fiber fiber, caller;
    std::exception_ptr failure;
    bool ended = false, cancelled = false;

    context::fiber main(context::fiber&& from) {
        caller = std::move(from);
        arrived(inner, &outer);
        try {
            if (!cancelled) body();
        } catch (const Cancelled&) {
        } catch (...) {
            failure = std::current_exception();
        }
        ended = true;
        leaving(nullptr, outer);
        return std::move(caller);
    }
};

Fiber::Fiber(std::function<void()> body) : parts_(std::make_unique<Parts>()) {
    Parts& parts = *parts_;
    parts.body = std::move(body);
#ifdef CACHETALLY_TSAN
    parts.inner.thread = __tsan_create_fiber(0);
#endif
    parts.fiber = context::fiber(std::allocator_arg, NotedStack{&parts.inner},
                                 [&parts](context::fiber&& from) { return parts.main(std::move(from)); });
}

Fiber::~Fiber() {
    if (!parts_->ended) {
        parts_->cancelled = true;
        try {
            resume();
        } catch (...) {  // a body that fails while it is unwound: nobody is left to be notified
        }
    }
#ifdef CACHETALLY_TSAN
    __tsan_destroy_fiber(parts_->inner.thread);
#endif
}

void Fiber::resume() {
    Parts& parts = *parts_;
#ifdef CACHETALLY_TSAN
    parts.outer.thread = __tsan_get_current_fiber();
#endif
    leaving(&parts.outer, parts.inner);
    parts.fiber = std::move(parts.fiber).resume();
    arrived(parts.outer, nullptr);
    if (parts.failure) std::rethrow_exception(std::exchange(parts.failure, nullptr));
}

bool Fiber::ended() const { return parts_->ended; }

void Fiber::suspend() {
    Parts& parts = *parts_;
    leaving(&parts.inner, parts.outer);
    parts.caller = std::move(parts.caller).resume();
    arrived(parts.inner, &parts.outer);
    if (parts.cancelled) throw Cancelled{};
}

struct WorkloadSource::Stream {
    Stream(Workload& workload, unsigned number, std::vector<std::string>& phase_names)
        : processor(number), fiber([this, &workload] {
              processor.name_phase("initialise");
              workload.run(processor);
          }) {
        processor.fiber_ = &fiber;
        processor.phase_names_ = &phase_names;
    }
    Processor processor;
    Fiber fiber;
};

void Processor::barrier(std::string_view next_phase) {
    hand_over({Control::Kind::barrier, next_phase.empty() ? 0 : number_of(next_phase)});
}

void Processor::name_phase(std::string_view name) { hand_over({Control::Kind::meet, number_of(name)}); }

std::uint32_t Processor::number_of(std::string_view phase) {
    const auto found = std::ranges::find(*phase_names_, phase);
    const auto number = static_cast<std::uint32_t>(found - phase_names_->begin()) + 1;
    if (found == phase_names_->end()) phase_names_->emplace_back(phase);
    return number;
}

void Processor::hand_over(Control control) {
    control_ = control;
    fiber_->suspend();
}

WorkloadSource::WorkloadSource(std::unique_ptr<Workload> workload)
    : workload_(std::move(workload)), running_(workload_->processors()) {
    for (unsigned number = 0; number < workload_->processors(); ++number)
        streams_.push_back(std::make_unique<Stream>(*workload_, number, phase_names_));
}

WorkloadSource::~WorkloadSource() = default;

Batch WorkloadSource::next(unsigned core) {
    Processor& processor = streams_[core]->processor;
    Fiber& fiber = streams_[core]->fiber;
    if (fiber.ended()) return {{}, {Control::Kind::end, 0}};
    processor.restart();
    fiber.resume();
    if (fiber.ended()) {
        --running_;
        processor.control_ = {Control::Kind::end, 0};
    }
    const auto count = static_cast<std::size_t>(processor.next_ - processor.batch_.data());
    references_ += count;
    return {{processor.batch_.data(), count}, processor.control_};
}

double WorkloadSource::progress() const {
    if (running_ == 0) return 1.0;
    // an estimate that was too low must not claim the end
    return std::min(0.999, static_cast<double>(references_) / std::max(1.0, workload_->expected_references()));
}

}  // namespace cachetally

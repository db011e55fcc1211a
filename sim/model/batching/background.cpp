// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/batching/background.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cachetally {
namespace {

/// As insert() at the end, in one piece.
template <class T>
void append(std::vector<T>& target, std::span<const T> values) {
    if (values.empty()) return;
    const std::size_t size = target.size();
    target.resize(size + values.size());
    std::memcpy(static_cast<void*>(&target[size]), values.data(), values.size_bytes());
}

}  // namespace

Background::Background() = default;

Background::~Background() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    given_condition_.notify_one();
    thread_.join();
}

void Background::notify(RequestPort& link, std::span<const BlockEvent> events, std::uint32_t kinds, std::uint8_t core,
                        RequestPort::Sites sites) {
    while (!events.empty()) {
        const auto some = events.first(std::min(events.size(), most_events));
        Chunk& chunk = chunk_for(some.size(), 0);
        append(chunk.events, some);
        chunk.tasks.push_back({.link = &link,
                               .what = Task::What::notify,
                               .core = core,
                               .kinds = kinds,
                               .count = static_cast<std::uint32_t>(some.size()),
                               .sited = !sites.empty()});
        events = events.subspan(some.size());
        if (sites.empty()) continue;
        append(chunk.sites, sites.first(some.size()));
        sites = sites.subspan(some.size());
    }
}

/// Pieces are no longer than a block.
void Background::notify_filtered(RequestPort& link, const FilteredEvents& events, std::uint8_t core) {
    Chunk& chunk = chunk_for(events.retained.size(), 0, events.marks.size());
    append(chunk.events, events.retained);
    append(chunk.marks, events.marks);
    chunk.tasks.push_back({.link = &link,
                           .what = Task::What::notify_filtered,
                           .core = core,
                           .count = static_cast<std::uint32_t>(events.retained.size()),
                           .marks = static_cast<std::uint32_t>(events.marks.size())});
}

void Background::flush(RequestPort& link) {
    RequestPort::Sites sites = link.batch_sites();
    for (auto requests = link.batch().all(); !requests.empty();) {
        const auto some = requests.first(std::min(requests.size(), most_requests));
        Chunk& chunk = chunk_for(0, some.size());
        append(chunk.requests, some);
        chunk.tasks.push_back({.link = &link,
                               .what = Task::What::flush,
                               .count = static_cast<std::uint32_t>(some.size()),
                               .sited = !sites.empty()});
        requests = requests.subspan(some.size());
        if (sites.empty()) continue;
        append(chunk.sites, sites.first(some.size()));
        sites = sites.subspan(some.size());
    }
    link.clear_batch();
}

/// The chunk that is being filled, with room for so much more.
Background::Chunk& Background::chunk_for(std::size_t events, std::size_t requests, std::size_t marks) {
    const Chunk& chunk = chunks_[given_ % most_chunks];
    if (chunk.events.size() + events > most_events || chunk.marks.size() + marks > most_events ||
        chunk.requests.size() + requests > most_requests || chunk.tasks.size() == most_tasks)
        hand_over();
    return chunks_[given_ % most_chunks];
}

/// Only this thread changes given_. The next chunk is free once the thread has done the one that was there before.
void Background::hand_over() {
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    std::unique_lock lock(mutex_);
    ++given_;
    given_condition_.notify_one();
    done_condition_.wait(lock, [&] { return given_ - done_ < most_chunks; });
    lock.unlock();
    chunks_[given_ % most_chunks].clear();
}

Tick Background::complete() {
    if (!thread_.joinable()) {  // so little that it is sooner done than handed over
        const Chunk chunk = std::exchange(chunks_.front(), {});
        return carry_out(chunk);
    }
    if (!chunks_[given_ % most_chunks].tasks.empty()) hand_over();
    std::unique_lock lock(mutex_);
    done_condition_.wait(lock, [&] { return done_ == given_; });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return std::exchange(waited_, 0);
}

void Background::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        given_condition_.wait(lock, [&] { return stop_ || done_ < given_; });
        if (done_ == given_) return;
        const Chunk& chunk = chunks_[done_ % most_chunks];
        const bool failed = failure_ != nullptr;
        lock.unlock();
        Tick waited = 0;
        std::exception_ptr failure;
        try {
            if (!failed) waited = carry_out(chunk);
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        if (failure) failure_ = failure;
        waited_ += waited;
        ++done_;
        done_condition_.notify_one();
    }
}

Tick Background::carry_out(const Chunk& chunk) {
    Tick waited = 0;
    std::span<const BlockEvent> events = chunk.events;
    std::span<const std::uint8_t> marks = chunk.marks;
    std::span<const BlockEvent> requests = chunk.requests;
    RequestPort::Sites sites = chunk.sites;
    const auto take = [](auto& from, std::size_t count) {
        const auto first = from.first(count);
        from = from.subspan(count);
        return first;
    };
    for (const Task& task : chunk.tasks) {
        const RequestPort::Sites of_task = take(sites, task.sited ? task.count : 0);
        switch (task.what) {
            case Task::What::notify:
                task.link->notify_now(take(events, task.count), task.kinds, task.core, of_task);
                break;
            case Task::What::notify_filtered:
                task.link->notify_filtered_now({take(marks, task.marks), take(events, task.count)}, task.core);
                break;
            case Task::What::flush: waited += task.link->flush(take(requests, task.count), of_task); break;
        }
    }
    return waited;
}

}  // namespace cachetally

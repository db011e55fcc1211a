#include "sim/model/background.hpp"

#include <algorithm>
#include <utility>

namespace cachetally {

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

void Background::tell(Downlink& link, std::span<const BlockEvent> events, std::uint32_t kinds, std::uint8_t core) {
    while (!events.empty()) {
        const auto some = events.first(std::min(events.size(), most_events));
        Chunk& chunk = chunk_for(some.size(), 0);
        chunk.events.insert(chunk.events.end(), some.begin(), some.end());
        chunk.tasks.push_back({&link, static_cast<std::uint32_t>(some.size()), kinds, core});
        events = events.subspan(some.size());
    }
}

void Background::deliver(Downlink& link) {
    for (auto posts = link.posts().all(); !posts.empty();) {
        const auto some = posts.first(std::min(posts.size(), most_posts));
        Chunk& chunk = chunk_for(0, some.size());
        chunk.posts.insert(chunk.posts.end(), some.begin(), some.end());
        chunk.tasks.push_back({&link, static_cast<std::uint32_t>(some.size()), 0, 0});
        posts = posts.subspan(some.size());
    }
    link.posts().clear();
}

/// The chunk that is being filled, with room for so much more.
Background::Chunk& Background::chunk_for(std::size_t events, std::size_t posts) {
    const Chunk& chunk = chunks_[given_ % most_chunks];
    if (chunk.events.size() + events > most_events || chunk.posts.size() + posts > most_posts ||
        chunk.tasks.size() == most_tasks)
        hand_over();
    Chunk& free = chunks_[given_ % most_chunks];
    // Loops over posts look ahead, beyond the last one.
    if (posts != 0 && free.posts.capacity() == 0) free.posts.reserve(most_posts + Posts::slack);
    return free;
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
    std::span<const Posted> posts = chunk.posts;
    for (const Task& task : chunk.tasks) {
        if (task.kinds != 0) {
            task.link->tell_now(events.first(task.count), task.kinds, task.core);
            events = events.subspan(task.count);
        } else {
            waited += task.link->deliver(posts.first(task.count));
            posts = posts.subspan(task.count);
        }
    }
    return waited;
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Background: a thread that does what nobody waits for, in order: notifies listeners, hands batches to the lower
// levels.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "cachetally/event.hpp"
#include "sim/model/link/request_port.hpp"

namespace cachetally {

/// The thread begins with the first work that is more than a little. Whoever gives it work must not touch the links
/// concerned, their listeners, nor what lies below, before complete().
class Background {
public:
    Background();
    ~Background();
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;

    /// Notifies the listeners of a link; as RequestPort::notify_now().
    void notify(RequestPort& link, std::span<const BlockEvent> events, std::uint32_t kinds, std::uint8_t core,
                RequestPort::Sites sites = {});

    /// As RequestPort::notify_filtered_now().
    void notify_filtered(RequestPort& link, const FilteredEvents& events, std::uint8_t core);

    /// Flushes the batch of a link, and empties it.
    void flush(RequestPort& link);

    /// Waits until all is done. Returns the time for which somebody waits since the last call. Throws what was thrown.
    Tick complete();

private:
    static constexpr std::size_t most_chunks = 4;
    static constexpr std::size_t most_events = 32768, most_requests = 8192, most_tasks = 4096;

    struct Task {
        enum class What : std::uint8_t { notify, notify_filtered, flush };
        RequestPort* link;
        What what;
        std::uint8_t core = 0;
        std::uint32_t kinds = 0;
        std::uint32_t count = 0;  ///< of events, retained ones, or requests
        std::uint32_t marks = 0;
        bool sited = false;  ///< each event or request has its site
    };
    struct Chunk {
        std::vector<Task> tasks;
        std::vector<BlockEvent> events;
        std::vector<std::uint8_t> marks;
        std::vector<BlockEvent> requests;
        std::vector<std::uint32_t> sites;

        void clear() {
            tasks.clear();
            events.clear();
            marks.clear();
            requests.clear();
            sites.clear();
        }
    };

    Chunk& chunk_for(std::size_t events, std::size_t requests, std::size_t marks = 0);
    void hand_over();
    void work();
    static Tick carry_out(const Chunk& chunk);

    std::array<Chunk, most_chunks> chunks_;
    std::mutex mutex_;
    std::condition_variable given_condition_, done_condition_;
    std::uint64_t given_ = 0, done_ = 0;  ///< chunks so far; the next one is being filled
    Tick waited_ = 0;
    std::exception_ptr failure_;
    bool stop_ = false;
    std::thread thread_;  ///< once there is enough to do
};

}  // namespace cachetally

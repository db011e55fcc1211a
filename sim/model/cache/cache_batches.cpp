// SPDX-License-Identifier: BSD-3-Clause
// Batches of requests in a cache, and how they are undone.
#include "sim/model/cache/cache.hpp"

namespace cachetally {

Tick Cache::handle_in_steps(std::span<const BlockEvent> requests, std::uint8_t core, BatchPositions* positions,
                            std::span<const BlockEvent> virtual_lines, std::span<const std::uint32_t> sites) {
    Tick waited = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const BlockEvent each = requests[i];
        const RequestInfo info(sites.empty() ? 0 : sites[i], each.kind(), core);
        const std::size_t before = below_.batch().size();
        if (each.kind() == EventKind::write_back) {
            take_victim(each.block(), info, 0);
        } else {
            const std::uint64_t set =
                virtual_lines.empty() ? set_of(each.block()) : index_.set_of(virtual_lines[i].block() & ~line_mask_);
            const Tick time = request_in(set, each.block(), info, 0).time;
            if (each.kind() != EventKind::store) waited += time;
        }
        if (positions == nullptr) continue;
        const std::size_t sent = below_.batch().size() - before;
        std::fill_n(positions->room(sent), sent, positions->given[i]);
        positions->add(sent);
    }
    return waited;
}

Tick Cache::handle(std::span<const BlockEvent> requests, std::uint8_t core, BatchPositions* positions,
                   std::span<const BlockEvent> virtual_lines, std::span<const std::uint32_t> sites) {
    if (!is_plain_ || !below_.batching() || config_.virtually_indexed)
        return handle_in_steps(requests, core, positions,
                               config_.virtually_indexed ? virtual_lines : std::span<const BlockEvent>(), sites);
    Tick waited = 0;
    RequestBatch& down = below_.batch();
    for (std::size_t done = 0; done < requests.size(); done += KindLanes::most) {
        ArrayBatch batch{.requests = requests.subspan(done, std::min(requests.size() - done, KindLanes::most)),
                         .line_mask = ~line_mask_,
                         .write_back_traffic = config_.write_back_traffic};
        batch.out = down.room(2 * batch.requests.size());
        if (positions != nullptr) {
            batch.positions = positions->given + done;
            batch.out_positions = positions->room(2 * batch.requests.size());
        }
        if (log_ != nullptr) log_->make_room(batch.requests.size());
        batch.log = log_;
        BatchCounts counts;
        const BlockEvent* const end = array_->handle(batch, index_, counts);
        const auto sent = static_cast<std::size_t>(end - batch.out);
        down.set_end(end);
        if (positions != nullptr) positions->add(sent);
        waited += count(counts, sent);
    }
    return waited;
}

Tick Cache::handle_sited(std::span<const BlockEvent> requests, std::uint8_t core, std::span<const std::uint32_t> sites,
                         std::span<const BlockEvent> virtual_lines, const std::uint16_t* positions,
                         std::vector<std::uint16_t>* sent_positions) {
    static constexpr auto numbers = [] {
        std::array<std::uint16_t, KindLanes::most> made{};
        for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::uint16_t>(i);
        return made;
    }();
    Tick waited = 0;
    for (std::size_t done = 0; done < requests.size(); done += KindLanes::most) {
        const std::size_t count = std::min(requests.size() - done, KindLanes::most);
        BatchPositions sent(numbers.data(), sent_by_);
        waited += handle(requests.subspan(done, count), core, &sent,
                         virtual_lines.empty() ? virtual_lines : virtual_lines.subspan(done, count),
                         sites.subspan(done, count));
        for (std::size_t i = 0; i < sent.size(); ++i) {
            below_.batch_sites().push_back(sites[done + sent_by_[i]]);
            if (sent_positions != nullptr) sent_positions->push_back(positions[done + sent_by_[i]]);
        }
    }
    return waited;
}

void Cache::begin(Checkpoint& checkpoint, bool copied) {
    if (copied) array_->copy_to(checkpoint.array);
    checkpoint.requests = requests_;
    checkpoint.misses = misses_;
    checkpoint.counts = counts_;
    if (!takes_from_above()) return;
    checkpoint.log.clear();
    log_ = &checkpoint.log;
}

void Cache::roll_back(const Checkpoint& checkpoint, bool copied, std::span<const BlockEvent> requests) {
    log_ = nullptr;
    requests_ = checkpoint.requests;
    misses_ = checkpoint.misses;
    counts_ = checkpoint.counts;
    if (copied) {
        checkpoint.array->copy_to(array_);
    } else {
        array_->undo(requests, checkpoint.log, index_);
    }
}

bool Cache::held_any(std::span<const Address> blocks, std::uint64_t bytes, const Checkpoint* checkpoint) const {
    const CacheArray& array = checkpoint != nullptr ? *checkpoint->array : *array_;
    for (Address offset = 0; offset < bytes; offset += config_.line)
        if (array.holds_any(blocks, offset, index_)) return true;
    return false;
}

/// `sent`: requests and victims that went down. Returns for how long cores waited for this level's answers.
Tick Cache::count(const BatchCounts& counts, std::size_t sent) {
    std::uint64_t misses = 0;
    for (unsigned kind = 0; kind < KindLanes::kinds; ++kind) {
        requests_[kind] += counts.requests.of(kind);
        misses_[kind] += counts.misses.of(kind);
        misses += counts.misses.of(kind);
    }
    counts_.evictions += misses - counts.first_fills;
    counts_.writebacks_out += sent - (misses - counts.misses.of(index_of(EventKind::write_back)));
    return (counts.requests.of(index_of(EventKind::load)) + counts.requests.of(index_of(EventKind::fetch)) +
            counts.requests.of(index_of(EventKind::page_walk))) *
           latency_;
}

}  // namespace cachetally

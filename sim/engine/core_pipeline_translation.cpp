// SPDX-License-Identifier: BSD-3-Clause
// All translations of a block: the first TLBs, those below, page walks, frames.
#include "sim/engine/core_pipeline.hpp"

namespace cachetally {

/// Returns how long the TLBs below the first and the walker took.
Tick CorePipeline::translate() {
    const unsigned page_bits = pages_.page_bits(0);
    // What the first TLB knows it translates on the way; but where fetches and data meet, pages get their frames in the
    // order in which both touch them.
    const bool by_tlb = !placed_ && streams_[0].way.tlb != nullptr && !pages_.identity();
    if (!by_tlb) find_physical();
    for (Stream& stream : streams()) {
        const std::span<const BlockEvent> retained = stream.given->retained;
        if (by_tlb) {
            stream.physical.resize(retained.size());
            stream.accesses = stream.physical;
        }
        Tlb* const tlb = stream.way.tlb;
        stream.missing.resize(tlb != nullptr ? retained.size() : 0);
        if (tlb == nullptr) continue;
        stream.missing.resize(
            tlb->look_up(retained, page_bits, stream.missing.data(), by_tlb ? stream.physical.data() : nullptr));
        tlb->count_hits(stream.given->redundant.all());
    }
    gather_missing();
    Tick time = 0;
    reads_.clear();
    read_before_.clear();
    if (!missing_.empty()) {
        const Tlb& first = streams_[0].way.tlb != nullptr ? *streams_[0].way.tlb : *streams_[1].way.tlb;
        for (Tlb* tlb = first.next(); tlb != nullptr; tlb = tlb->next()) time += look_up_below(*tlb);
        time += walk();
    }
    return time;
}

/// Those that the first TLBs miss, in program order; notifies the listeners below.
void CorePipeline::gather_missing() {
    missing_.clear();
    missed_.clear();
    const auto add = [&](const Stream& stream, std::size_t i, bool fetch) {
        const std::uint16_t index = stream.missing[i];
        missing_.push_back({index, placed_ ? stream.given->positions[index] : index, fetch});
        missed_.push_back(stream.given->retained[index]);
    };
    for (const Stream& stream : streams()) {
        if (stream.missing.empty() || stream.way.tlb->below().kinds() == 0) continue;
        reads_.clear();  // here: what is reported
        for (const std::uint16_t index : stream.missing) reads_.push_back(stream.given->retained[index]);
        stream.way.tlb->below().notify_all(reads_, core_);
    }
    const Stream &data = streams_[0], &fetches = streams_[1];
    std::size_t fetched = 0;
    for (std::size_t i = 0; i < data.missing.size(); ++i) {
        if (placed_)
            while (fetched < fetches.missing.size() &&
                   fetches.given->positions[fetches.missing[fetched]] < data.given->positions[data.missing[i]])
                add(fetches, fetched++, true);
        add(data, i, false);
    }
    if (placed_)
        while (fetched < fetches.missing.size()) add(fetches, fetched++, true);
}

/// Leaves those that this TLB misses, too.
Tick CorePipeline::look_up_below(Tlb& tlb) {
    const unsigned page_bits = pages_.page_bits(0);
    if (!tlb.holds(page_bits)) {
        tlb.below().notify_all(missed_, core_);
        return 0;
    }
    const std::size_t asked = missed_.size();
    still_missing_.resize(asked);
    const std::size_t count = tlb.look_up(missed_, page_bits, still_missing_.data(), nullptr);
    for (std::size_t i = 0; i < count; ++i) {
        missing_[i] = missing_[still_missing_[i]];
        missed_[i] = missed_[still_missing_[i]];
    }
    missing_.resize(count);
    missed_.resize(count);
    tlb.below().notify_all(missed_, core_);
    return asked * tlb.latency();
}

Tick CorePipeline::walk() {
    const unsigned page_bits = pages_.page_bits(0);
    Tick time = 0;
    reads_.clear();
    for (std::size_t i = 0; i < missing_.size(); ++i) {
        time += walker_.note_reads(missed_[i].block(), page_bits, reads_);
        read_before_.resize(reads_.size(), missing_[i]);
    }
    RequestPort& port = walker_.below();
    if (port.cache() != nullptr || reads_.empty()) {
        port.notify_all(reads_, core_);
        return time;
    }
    for (const BlockEvent read : reads_) port.batch().push(read);  // straight to memory, which keeps no order
    hand_over(port);
    reads_.clear();
    return time;
}

/// Pages get their frames in the order in which they are touched first.
void CorePipeline::find_physical() {
    if (pages_.identity()) {
        for (Stream& stream : streams()) stream.accesses = stream.given->retained;
        return;
    }
    const auto translate = [&](Stream& stream, std::size_t i) {
        const BlockEvent access = stream.given->retained[i];
        stream.physical[i] = access.moved_by(pages_.translate(access.block()) - access.block());
    };
    for (Stream& stream : streams()) {
        stream.physical.resize(stream.given->retained.size());
        stream.accesses = stream.physical;
    }
    Stream &data = streams_[0], &fetches = streams_[1];
    std::size_t fetched = 0;
    for (std::size_t i = 0; i < data.physical.size(); ++i) {
        if (placed_)
            while (fetched < fetches.physical.size() && fetches.given->positions[fetched] < data.given->positions[i])
                translate(fetches, fetched++);
        translate(data, i);
    }
    if (placed_)
        while (fetched < fetches.physical.size()) translate(fetches, fetched++);
}

}  // namespace cachetally

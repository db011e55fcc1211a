// SPDX-License-Identifier: BSD-3-Clause
// ReferenceBlock: some thousands of references with the controls between them; BlockProducer: what makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "sim/model/batching/redundancy_filter.hpp"

namespace cachetally {

/// A control and the number of references of its block that come before it.
struct PlacedControl {
    std::uint32_t position = 0;
    Control control;
    friend bool operator==(const PlacedControl&, const PlacedControl&) = default;
};

/// References of a block as a redundancy filter leaves them.
struct FilteredReferences {
    /// Of FilteredAccesses.
    struct Accesses {
        std::vector<std::uint8_t> marks;
        std::vector<BlockEvent> retained;
        std::vector<std::uint16_t> positions, mark_positions;
        std::vector<std::uint32_t> retained_sites, sites;
    };
    Accesses data, fetches;
    std::vector<FilteredBlock> blocks;
};

/// A piece of one stream, whole or filtered. Its memory is kept from one use to the next.
class ReferenceBlock {
public:
    /// Forgets everything before.
    void clear() {
        size_ = 0;
        controls.clear();
        last = data_only = is_filtered = false;
    }

    /// Room for so many references, to be filled and then announced by set_size(). Forgets everything before.
    Reference* start(std::size_t capacity) {
        clear();
        if (storage_.size() < capacity) storage_.resize(capacity);
        return storage_.data();
    }
    void set_size(std::size_t size) { size_ = size; }
    std::size_t size() const { return size_; }

    /// None if it is filtered.
    std::span<const Reference> references() const { return {storage_.data(), is_filtered ? 0 : size_}; }
    std::span<Reference> references() { return {storage_.data(), is_filtered ? 0 : size_}; }

    std::vector<PlacedControl> controls;  ///< ascending by position
    bool last = false;                    ///< the stream is over after this block
    bool data_only = false;               ///< known to hold no instruction fetches
    bool is_filtered = false;
    FilteredReferences filtered;

    /// Filters the references; each block lies between two controls.
    void filter(RedundancyFilter& filter);

private:
    std::vector<Reference> storage_;
    std::size_t size_ = 0;
};

/// Removes instruction fetches and moves the controls accordingly.
void keep_data_only(ReferenceBlock& block);

/// One stream as blocks, for BlockSource.
class BlockProducer {
public:
    virtual ~BlockProducer() = default;

    /// Fills the next block, filtered if it can be so as is wished; not called again after one that is `last`.
    /// Throws std::runtime_error where the trace is damaged, after all references before the damage were handed over.
    virtual void produce(ReferenceBlock& block, const std::optional<FilterPlan>& wish) = 0;

    /// Makes a call of produce() that waits for input return or throw soon. May be called by another thread.
    virtual void cancel() {}

    /// Fraction of the stream that was handed over, 0..1; negative where it is not known. By any thread.
    virtual double progress() const { return -1.0; }
};

}  // namespace cachetally

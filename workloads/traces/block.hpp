// SPDX-License-Identifier: BSD-3-Clause
// ReferenceBlock: some thousands of references with the controls between them; BlockProducer: what makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/model/reference_source.hpp"

namespace cachetally {

/// A control and the number of references of its block that come before it.
struct PlacedControl {
    std::uint32_t position = 0;
    Control control;
    friend bool operator==(const PlacedControl&, const PlacedControl&) = default;
};

/// The references of a block that a Sieve keeps, and what is known of the others.
struct SievedReferences {
    std::vector<std::uint8_t> marks;  ///< by reference: sieve_mark
    std::vector<BlockEvent> lines;    ///< of those kept
    std::vector<Reference> straddling;
    std::vector<Stretch> stretches;
};

/// A stretch of one stream, whole or sieved. Its memory is kept from one use to the next.
class ReferenceBlock {
public:
    /// Forgets everything before.
    void clear() {
        size_ = 0;
        controls.clear();
        found = {};
        last = data_only = is_sieved = false;
    }

    /// Room for so many references, to be filled and then announced by set_size(). Forgets everything before.
    Reference* start(std::size_t capacity) {
        clear();
        if (storage_.size() < capacity) storage_.resize(capacity);
        return storage_.data();
    }
    void set_size(std::size_t size) { size_ = size; }
    std::size_t size() const { return size_; }

    /// None where it is sieved.
    std::span<const Reference> references() const { return {storage_.data(), is_sieved ? 0 : size_}; }
    std::span<Reference> references() { return {storage_.data(), is_sieved ? 0 : size_}; }

    std::vector<PlacedControl> controls;  ///< ascending by position
    bool last = false;                    ///< the stream is over after this block
    bool data_only = false;               ///< known to hold no instruction fetches
    bool is_sieved = false;
    SievedReferences sieved;
    std::span<const Stretch> found;  ///< by find_lines(); of a sieved block all; else none

    /// Finds the stretches between the controls of a whole block. Not where references of other kinds would tear
    /// them to pieces.
    void find_lines(LineWish wish);

private:
    std::vector<Reference> storage_;
    FoundLines lines_;
    std::size_t size_ = 0;
};

/// Removes instruction fetches and moves the controls accordingly.
void keep_data_only(ReferenceBlock& block);

/// One stream as blocks, for BlockSource.
class BlockProducer {
public:
    virtual ~BlockProducer() = default;

    /// Fills the next block, sieved where it can and the wish allows it; not called again after one that is `last`.
    /// Throws std::runtime_error where the trace is damaged, after all references before the damage were handed over.
    virtual void produce(ReferenceBlock& block, LineWish wish) = 0;

    /// As ReferenceSource::can_sieve().
    virtual bool can_sieve() const { return false; }

    /// Makes a call of produce() that waits for input return or throw soon. May be called by another thread.
    virtual void cancel() {}

    /// Fraction of the stream that was handed over, 0..1; negative where it is not known. By any thread.
    virtual double progress() const { return -1.0; }
};

}  // namespace cachetally

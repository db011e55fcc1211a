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

/// A stretch of one stream. Its memory is kept from one use to the next.
class ReferenceBlock {
public:
    /// References before the first that belong to the memory but not to the block: the packed decoder starts from them.
    static constexpr std::size_t lead = 16;

    /// Room for so many references, to be filled and then announced by set_size(). Forgets everything before.
    Reference* start(std::size_t capacity) {
        if (storage_.size() < capacity + lead) storage_.resize(capacity + lead);
        size_ = 0;
        controls.clear();
        found = {};
        last = data_only = false;
        return storage_.data() + lead;
    }
    void set_size(std::size_t size) { size_ = size; }
    std::size_t size() const { return size_; }

    std::span<const Reference> references() const { return {storage_.data() + lead, size_}; }
    std::span<Reference> references() { return {storage_.data() + lead, size_}; }

    std::vector<PlacedControl> controls;  ///< ascending by position
    bool last = false;                    ///< the stream is over after this block
    bool data_only = false;               ///< known to hold no instruction fetches
    std::span<const Stretch> found;       ///< by find_lines(); else none

    /// Finds the stretches between the controls. Not where references of other kinds would tear
    /// them to pieces.
    void find_lines(LineWish wish);

private:
    std::vector<Reference> storage_ = std::vector<Reference>(lead);
    FoundLines lines_;
    std::size_t size_ = 0;
};

/// Removes instruction fetches and moves the controls accordingly.
void keep_data_only(ReferenceBlock& block);

/// One stream as blocks, for BlockSource.
class BlockProducer {
public:
    virtual ~BlockProducer() = default;

    /// Fills the next block; not called again after one that is `last`. Throws std::runtime_error where the trace is
    /// damaged, after all references before the damage were handed over.
    virtual void produce(ReferenceBlock& block) = 0;

    /// Makes a call of produce() that waits for input return or throw soon. May be called by another thread.
    virtual void cancel() {}

    /// Fraction of the stream that was handed over, 0..1; negative where it is not known. By any thread.
    virtual double progress() const { return -1.0; }
};

}  // namespace cachetally

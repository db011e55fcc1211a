// SPDX-License-Identifier: BSD-3-Clause
// What the tests of traces share: sources in memory, streams read to their end, random programs.
#pragma once

#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <algorithm>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "cachetally/reference_source.hpp"
#include "workloads/traces/packed_writer.hpp"
#include "workloads/traces/trace.hpp"

namespace cachetally::testing {

inline std::unique_ptr<ReferenceSource> open_trace(const std::string& path, const TraceOptions& options = {}) {
    return open_trace_as(path, options).source;
}

/// One stream, taken apart: a reference or a control at a time.
struct Event {
    Reference reference;
    Control control;  ///< of kind none: the event is the reference
    friend bool operator==(const Event&, const Event&) = default;
};
using Stream = std::vector<Event>;

inline Event event(Reference reference) { return {reference, {}}; }
inline Event event(Control control) { return {{}, control}; }

inline void add(Stream& stream, const Batch& batch) {
    for (const Reference& reference : batch.references) stream.push_back(event(reference));
    if (batch.control.kind != Control::Kind::none) stream.push_back(event(batch.control));
}

/// Reads one stream to its end; what it throws goes into `failure`, or on where none is given.
inline Stream read_stream(ReferenceSource& source, unsigned core = 0, std::string* failure = nullptr) {
    Stream stream;
    try {
        while (stream.empty() || stream.back().control.kind != Control::Kind::end) add(stream, source.next(core));
    } catch (const std::exception& error) {
        if (failure == nullptr) throw;
        *failure = error.what();
    }
    return stream;
}

/// The references of a stream.
inline std::vector<Reference> references_of(const Stream& stream) {
    std::vector<Reference> references;
    for (const Event& e : stream)
        if (e.control.kind == Control::Kind::none) references.push_back(e.reference);
    return references;
}

/// Streams in memory as a source; hands them over in batches of at most `batch` references.
class MemorySource : public ReferenceSource {
public:
    explicit MemorySource(std::vector<Stream> streams, std::size_t batch = 1000)
        : streams_(std::move(streams)), places_(streams_.size()), batch_(batch), out_(streams_.size()) {}

    unsigned cores() const override { return static_cast<unsigned>(streams_.size()); }
    std::vector<Region> regions() const override { return {{"A", 4096, 800, 8}, {"keys", 1 << 20, 64, 4}}; }
    std::vector<std::string> functions() const override { return {"main", "daxpy"}; }
    std::vector<std::string> phase_names() const override { return {"solve"}; }

    Batch next(unsigned core) override {
        const Stream& stream = streams_[core];
        std::size_t& place = places_[core];
        auto& out = out_[core];
        out.clear();
        while (place < stream.size() && stream[place].control.kind == Control::Kind::none && out.size() < batch_)
            out.push_back(stream[place++].reference);
        Control control;
        if (place == stream.size()) {
            control.kind = Control::Kind::end;
        } else if (stream[place].control.kind != Control::Kind::none) {
            control = stream[place++].control;
        }
        return {out, control};
    }

private:
    std::vector<Stream> streams_;
    std::vector<std::size_t> places_;
    std::size_t batch_;
    std::vector<std::vector<Reference>> out_;
};

inline Stream ended(Stream stream) {
    stream.push_back(event(Control{Control::Kind::end, 0}));
    return stream;
}

/// A stream that mixes strides, repeats and jumps, some sizes and sites, and controls.
inline Stream random_stream(std::uint64_t seed, std::size_t length) {
    Random random(seed);
    Stream stream;
    Address stack = 0x7fff0000, array = random.next() >> 20;
    for (std::size_t i = 0; i < length; ++i) {
        Reference reference;
        switch (random.below(6)) {
            case 0: reference.address = stack -= 8; break;
            case 1: reference.address = array += 4; break;
            case 2: reference.address = random.next(); break;
            case 3: reference.address = ~Address{0} - random.below(3); break;
            default: reference.address = array; break;
        }
        reference.size =
            static_cast<std::uint16_t>(random.below(10) == 0 ? 1 + random.below(65535) : 1U << random.below(4));
        reference.size = static_cast<std::uint16_t>(std::min<Address>(reference.size - 1, ~reference.address) + 1);
        reference.kind = static_cast<ReferenceKind>(random.below(3));
        reference.flags = static_cast<std::uint8_t>(random.below(8) == 0);
        reference.site = random.below(2) == 0 ? 0 : static_cast<std::uint32_t>(random.next());
        stream.push_back(event(reference));
        if (random.below(20) == 0) {
            const auto kind = static_cast<Control::Kind>(1 + random.below(5));
            stream.push_back(event(Control{kind, static_cast<std::uint32_t>(random.next())}));
        }
    }
    return stream;
}

inline void write_packed(const std::string& path, const std::vector<Stream>& streams, PackedOptions options = {},
                         std::size_t batch = 1000) {
    options.existing = ResultFile::Existing::overwrite;
    PackedTraceWriter writer(path, static_cast<unsigned>(streams.size()), options);
    MemorySource source(streams, batch);
    convert(source, writer);
    writer.finish();
}

}  // namespace cachetally::testing

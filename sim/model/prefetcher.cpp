// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/prefetcher.hpp"

#include <algorithm>

namespace cachetally {
namespace {

class NextLinePrefetcher final : public Prefetcher {
public:
    NextLinePrefetcher(const PrefetchConfig& config, unsigned line_bytes) : config_(config), line_bytes_(line_bytes) {}

    void observe(const Observation& seen, std::vector<Address>& wanted) override {
        if (!seen.trigger) return;
        for (unsigned i = 0; i < config_.degree; ++i)
            wanted.push_back(seen.line + Address{config_.distance + i} * line_bytes_);
    }

private:
    PrefetchConfig config_;
    Address line_bytes_;
};

class StridePrefetcher final : public Prefetcher {
public:
    explicit StridePrefetcher(const PrefetchConfig& config) : config_(config), table_(config.entries) {}

    void observe(const Observation& seen, std::vector<Address>& wanted) override {
        const bool by_site = seen.site != 0;
        const std::uint64_t key = by_site ? seen.site : seen.address / 4096;
        Slot& slot = table_[key % table_.size()];
        if (!slot.used || slot.by_site != by_site || slot.key != key) {
            slot = {key, seen.address, 0, 0, by_site, true};
            return;
        }
        const Address stride = seen.address - slot.last;
        slot.last = seen.address;
        if (stride == slot.stride) {
            slot.confidence = std::min(slot.confidence + 1, 3);
        } else {
            slot.confidence = std::max(slot.confidence - 1, 0);
            if (slot.confidence == 0) slot.stride = stride;
        }
        if (slot.confidence < 2 || slot.stride == 0) return;
        for (unsigned i = 0; i < config_.degree; ++i)
            wanted.push_back(seen.address + slot.stride * (config_.distance + i));
    }

    bool sees_every_access() const override { return true; }

private:
    struct Slot {
        std::uint64_t key = 0;
        Address last = 0;
        Address stride = 0;  ///< modulo 2^64, so that it may be negative
        int confidence = 0;
        bool by_site = false;
        bool used = false;
    };
    PrefetchConfig config_;
    std::vector<Slot> table_;
};

class StreamPrefetcher final : public Prefetcher {
public:
    StreamPrefetcher(const PrefetchConfig& config, unsigned line_bytes)
        : config_(config), line_bytes_(line_bytes), streams_(config.entries) {}

    void observe(const Observation& seen, std::vector<Address>& wanted) override {
        if (!seen.trigger) return;
        const std::uint64_t line = seen.line / line_bytes_;
        ++clock_;
        for (Stream& stream : streams_) {
            if (!advance(stream, line)) continue;
            if (stream.advances < 2) return;
            for (unsigned i = 0; i < config_.degree; ++i)
                wanted.push_back((line + stream.direction * (config_.distance + i)) * line_bytes_);
            return;
        }
        Stream& oldest = *std::ranges::min_element(streams_, {}, &Stream::used);
        oldest = {line, 0, 0, clock_};
    }

private:
    struct Stream {
        std::uint64_t last = 0;
        std::uint64_t direction = 0;  ///< +1, or -1 modulo 2^64; 0 = unknown
        unsigned advances = 0;
        std::uint64_t used = 0;  ///< time of the last trigger; 0 = never
    };

    bool advance(Stream& stream, std::uint64_t line) const {
        if (stream.used == 0) return false;
        const std::uint64_t step = line - stream.last;
        if (stream.direction == 0) {
            if (step + 1 > 2 || step == 0) return false;  // neither +1 nor -1
            stream.direction = step;
        } else {
            const std::uint64_t ahead = step * stream.direction;
            if (ahead == 0 || ahead > config_.distance + config_.degree) return false;
        }
        stream.last = line;
        stream.used = clock_;
        ++stream.advances;
        return true;
    }

    PrefetchConfig config_;
    std::uint64_t line_bytes_;
    std::vector<Stream> streams_;
    std::uint64_t clock_ = 0;
};

}  // namespace

std::unique_ptr<Prefetcher> make_prefetcher(const PrefetchConfig& config, unsigned line_bytes) {
    switch (config.kind) {
        case PrefetchKind::none: return nullptr;
        case PrefetchKind::next_line: return std::make_unique<NextLinePrefetcher>(config, line_bytes);
        case PrefetchKind::stride: return std::make_unique<StridePrefetcher>(config);
        case PrefetchKind::stream: return std::make_unique<StreamPrefetcher>(config, line_bytes);
    }
    return nullptr;
}

}  // namespace cachetally

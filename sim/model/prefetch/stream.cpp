// SPDX-License-Identifier: BSD-3-Clause
// stream: follows ascending and descending runs of lines.
#include <algorithm>

#include "sim/model/prefetch/prefetcher.hpp"

namespace cachetally {
namespace {

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
    bool goes_by_site() const override { return false; }

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

std::unique_ptr<Prefetcher> make_stream_prefetcher(const PrefetchConfig& config, unsigned line_bytes) {
    return std::make_unique<StreamPrefetcher>(config, line_bytes);
}

}  // namespace cachetally

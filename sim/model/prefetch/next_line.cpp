// SPDX-License-Identifier: BSD-3-Clause
// next_line: the lines that follow a trigger.
#include "sim/model/prefetch/prefetcher.hpp"

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
    bool goes_by_site() const override { return false; }

private:
    PrefetchConfig config_;
    Address line_bytes_;
};

}  // namespace

std::unique_ptr<Prefetcher> make_next_line_prefetcher(const PrefetchConfig& config, unsigned line_bytes) {
    return std::make_unique<NextLinePrefetcher>(config, line_bytes);
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// stride: a table of the last strides by site or page.
#include <algorithm>

#include "sim/model/prefetch/prefetcher.hpp"

namespace cachetally {
namespace {

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

}  // namespace

std::unique_ptr<Prefetcher> make_stride_prefetcher(const PrefetchConfig& config, unsigned) {
    return std::make_unique<StridePrefetcher>(config);
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// A prefetcher: pair brings in the other line of an aligned pair. Belongs into sim/model/prefetch/; its row is
// ROW(pair, false, false).
#include "sim/model/prefetch/prefetcher.hpp"

namespace cachetally {
namespace {

class PairPrefetcher final : public Prefetcher {
public:
    explicit PairPrefetcher(unsigned line_bytes) : line_bytes_(line_bytes) {}
    void observe(const Observation& seen, std::vector<Address>& wanted) override {
        if (seen.trigger) wanted.push_back(seen.line ^ line_bytes_);
    }

private:
    Address line_bytes_;
};

}  // namespace

std::unique_ptr<Prefetcher> make_pair_prefetcher(const PrefetchConfig&, unsigned line_bytes) {
    return std::make_unique<PairPrefetcher>(line_bytes);
}

}  // namespace cachetally

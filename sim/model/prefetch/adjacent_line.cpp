// SPDX-License-Identifier: BSD-3-Clause
// adjacent_line: lines come in aligned pairs, as the second level of Intel processors fetches them (Intel 64 and IA-32
// Architectures Optimization Reference Manual, "Data Prefetching": the spatial prefetcher).
#include "sim/model/prefetch/prefetcher.hpp"

namespace cachetally {
namespace {

class AdjacentLinePrefetcher final : public Prefetcher {
public:
    explicit AdjacentLinePrefetcher(unsigned line_bytes) : line_bytes_(line_bytes) {}

    void observe(const Observation& seen, std::vector<Address>& wanted) override {
        if (seen.trigger) wanted.push_back(seen.line ^ line_bytes_);
    }
    bool goes_by_site() const override { return false; }

private:
    Address line_bytes_;
};

}  // namespace

std::unique_ptr<Prefetcher> make_adjacent_line_prefetcher(const PrefetchConfig&, unsigned line_bytes) {
    return std::make_unique<AdjacentLinePrefetcher>(line_bytes);
}

}  // namespace cachetally

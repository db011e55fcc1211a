// SPDX-License-Identifier: BSD-3-Clause
// A prefetcher: next_but_one brings in the line after the next one. Belongs into sim/model/prefetch/; its row is
// ROW(next_but_one, false, false).
#include "sim/model/prefetch/prefetcher.hpp"

namespace cachetally {
namespace {

class NextButOne final : public Prefetcher {
public:
    explicit NextButOne(unsigned line_bytes) : line_bytes_(line_bytes) {}
    void observe(const Observation& seen, std::vector<Address>& wanted) override {
        if (seen.trigger) wanted.push_back(seen.line + 2 * line_bytes_);
    }

private:
    Address line_bytes_;
};

}  // namespace

std::unique_ptr<Prefetcher> make_next_but_one_prefetcher(const PrefetchConfig&, unsigned line_bytes) {
    return std::make_unique<NextButOne>(line_bytes);
}

}  // namespace cachetally

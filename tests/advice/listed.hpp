// SPDX-License-Identifier: BSD-3-Clause
// Programs that are lists of references, and machines of one cache.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachetally/machine.hpp"
#include "cachetally/reference_source.hpp"

namespace cachetally::testing {

struct Listed {
    std::vector<std::vector<Reference>> cores;  ///< the references of each
    std::vector<Region> regions;
};

class ListedSource final : public ReferenceSource {
public:
    explicit ListedSource(std::shared_ptr<const Listed> program)
        : program_(std::move(program)), given_(program_->cores.size()) {}
    unsigned cores() const override { return static_cast<unsigned>(program_->cores.size()); }
    Batch next(unsigned core) override {
        constexpr std::size_t most = 1000;
        const std::vector<Reference>& all = program_->cores[core];
        const std::size_t begin = given_[core], size = std::min(most, all.size() - begin);
        given_[core] += size;
        return {{all.data() + begin, size}, {given_[core] == all.size() ? Control::Kind::end : Control::Kind::none, 0}};
    }
    std::vector<Region> regions() const override { return program_->regions; }

private:
    std::shared_ptr<const Listed> program_;
    std::vector<std::size_t> given_;
};

inline std::function<std::unique_ptr<ReferenceSource>()> opener(Listed program) {
    return [program = std::make_shared<const Listed>(std::move(program))] {
        return std::make_unique<ListedSource>(program);
    };
}

inline MachineDescription one_cache(std::uint64_t size, unsigned ways) {
    MachineDescription machine;
    CacheConfig cache;
    cache.name = "L1D";
    cache.next = "memory";
    cache.size = size;
    cache.ways = ways;
    machine.caches = {cache};
    machine.memories = {MemoryConfig()};
    return machine;
}

inline Reference load(Address address, std::uint16_t size = 8, std::uint32_t site = 0) {
    return {.address = address, .site = site, .size = size};
}

}  // namespace cachetally::testing

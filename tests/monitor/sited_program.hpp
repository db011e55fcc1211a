// SPDX-License-Identifier: BSD-3-Clause
// Programs whose references have sites. For tests of attribution.
#pragma once

#include <rapidcheck.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "cachetally/machine.hpp"
#include "cachetally/reference_source.hpp"
#include "cachetally/sites.hpp"

namespace cachetally {

/// By core and phase.
using Stretches = std::vector<std::vector<std::vector<Reference>>>;

/// Sites 1, 2, ... have the objects 1, 2, ..., and code of their own.
class SitedProgram final : public ReferenceSource {
public:
    SitedProgram(Stretches stretches, std::uint32_t objects)
        : stretches_(std::move(stretches)), next_(stretches_.size()) {
        names_.code.resize(1);
        names_.objects.resize(1);
        for (std::uint32_t i = 1; i <= objects; ++i) {
            sites_.add({i, i});
            names_.code.push_back({i, "f" + std::to_string(i), "", 0, ""});
            names_.objects.emplace_back(1, static_cast<char>('A' + i - 1));
        }
    }
    unsigned cores() const override { return static_cast<unsigned>(stretches_.size()); }
    Batch next(unsigned core) override {
        if (next_[core] == stretches_[core].size()) return {{}, {Control::Kind::end, 0}};
        return {stretches_[core][next_[core]++], {Control::Kind::barrier, 0}};
    }
    const SiteTable* sites() const override { return &sites_; }
    SiteNames site_names() const override { return names_; }

private:
    Stretches stretches_;
    std::vector<std::size_t> next_;
    SiteTable sites_;
    SiteNames names_;
};

/// Two sets of one line, a first level alone.
inline MachineDescription two_sets() {
    MachineDescription machine;
    CacheConfig cache;
    cache.name = "L1";
    cache.next = "memory";
    cache.ways = 1;
    cache.line = 64;
    cache.size = 128;
    machine.caches = {cache};
    return machine;
}

/// The line and the site of each.
inline std::vector<Reference> loads_by(std::initializer_list<std::pair<Address, std::uint32_t>> references) {
    std::vector<Reference> all;
    for (const auto& [line, site] : references) all.push_back({.address = line * 64, .site = site, .size = 8});
    return all;
}

inline Stretches random_stretches(unsigned cores, std::uint32_t sites) {
    Stretches stretches(cores);
    for (auto& stretch : stretches)
        for (unsigned phase = 0; phase < 2; ++phase) {
            auto& references = stretch.emplace_back();
            for (unsigned i = 0; i < 300; ++i)
                references.push_back({.address = *rc::gen::inRange<Address>(0, 1500) * 8,
                                      .site = *rc::gen::inRange<std::uint32_t>(0, sites + 1),
                                      .size = *rc::gen::element<std::uint16_t>(1, 8, 70),
                                      .kind = static_cast<ReferenceKind>(
                                          *rc::gen::weightedElement<unsigned>({{4, 0U}, {3, 1U}, {1, 2U}}))});
        }
    return stretches;
}

}  // namespace cachetally

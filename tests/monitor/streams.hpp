// SPDX-License-Identifier: BSD-3-Clause
// Random monitor specifications and event streams for property tests.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "monitor/spec.hpp"

namespace cachetally {

/// Mixes locality, sweeps and repetition, so that hits, evictions and window growth all happen.
inline rc::Gen<std::vector<std::uint64_t>> units_gen() {
    const auto piece = rc::gen::exec([] {
        const auto start = *rc::gen::inRange<std::uint64_t>(0, 60);
        const auto step = *rc::gen::inRange<std::uint64_t>(0, 3);
        const auto length = *rc::gen::inRange<std::uint64_t>(1, 12);
        std::vector<std::uint64_t> units;
        for (std::uint64_t i = 0; i < length; ++i) units.push_back(start + i * step);
        return units;
    });
    return rc::gen::map(rc::gen::container<std::vector<std::vector<std::uint64_t>>>(piece),
                        [](const std::vector<std::vector<std::uint64_t>>& pieces) {
                            std::vector<std::uint64_t> units;
                            for (const auto& some : pieces) units.insert(units.end(), some.begin(), some.end());
                            return units;
                        });
}

inline rc::Gen<MonitorSpec> spec_gen() {
    return rc::gen::exec([] {
        MonitorSpec spec;
        spec.link = "core-L1";
        spec.line = 64;
        spec.eviction = static_cast<Eviction>(*rc::gen::inRange<std::size_t>(0, eviction_names().size()));
        spec.seed = *rc::gen::inRange<std::uint64_t>(0, 5);
        spec.width = *rc::gen::element(1U, 2U, 3U, 8U, 32U, 64U);
        spec.granularity.mode =
            *rc::gen::element(Granularity::Mode::aligned, Granularity::Mode::mask, Granularity::Mode::dynamic);
        spec.granularity.amount =
            *rc::gen::inRange(1U, 7U) + (spec.granularity.mode == Granularity::Mode::mask ? 4 : 0);
        const std::uint32_t ways = *rc::gen::inRange(1U, 9U);
        const std::uint32_t sets = *rc::gen::inRange(1U, 4U);
        spec.ways = spec.is_dynamic() || *rc::gen::arbitrary<bool>() ? 0 : ways;
        spec.counters = ways * sets;
        return spec;
    });
}

}  // namespace cachetally

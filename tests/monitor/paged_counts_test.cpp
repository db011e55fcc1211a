// SPDX-License-Identifier: BSD-3-Clause
// PagedArray: against a map, and how much memory it takes where keys lie far apart.
#include "monitor/paged_counts.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <random>

#include "monitor/exact_histogram.hpp"
#include "monitor/monitor.hpp"

namespace cachetally {
namespace {

/// Keys of all shapes: neighbours, powers of two apart, anywhere, and the largest.
std::uint64_t some_key() {
    switch (*rc::gen::inRange(0, 4)) {
        case 0: return *rc::gen::inRange<std::uint64_t>(0, 100);
        case 1: return *rc::gen::inRange<std::uint64_t>(0, 50) << *rc::gen::inRange(0, 58);
        case 2: return *rc::gen::arbitrary<std::uint64_t>();
        default: return ~*rc::gen::inRange<std::uint64_t>(0, 3);
    }
}

RC_GTEST_PROP(PagedArray, HoldsWhatAMapHolds, ()) {
    PagedArray<std::uint64_t> paged;
    for (int phase = 0; phase < 3; ++phase) {
        std::map<std::uint64_t, std::uint64_t> map;
        std::map<std::uint64_t, const std::uint64_t*> places;
        const int steps = *rc::gen::inRange(0, 400);
        for (int i = 0; i < steps; ++i) {
            const std::uint64_t key = some_key();
            std::uint64_t& element = paged[key];
            RC_ASSERT(element == map[key]);
            const auto [place, fresh] = places.try_emplace(key, &element);
            RC_ASSERT(place->second == &element);
            element = ++map[key];
        }
        std::vector<std::pair<std::uint64_t, std::uint64_t>> visited;
        paged.each_used([&](std::uint64_t first, const auto& elements) {
            for (std::size_t i = 0; i < elements.size(); ++i)
                if (elements[i] != 0) visited.emplace_back(first + i, elements[i]);
        });
        RC_ASSERT(visited == (std::vector<std::pair<std::uint64_t, std::uint64_t>>(map.begin(), map.end())));
    }
}

std::size_t bytes_in_use() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

template <class Listener>
double most_bytes_per_line(Listener& listener, unsigned lines) {
    std::mt19937_64 random(7);
    const std::size_t before = bytes_in_use();
    std::size_t most = before;
    Injector injector;
    for (unsigned i = 0; i < lines; ++i) {
        listener.on_event({.address = random() >> 17}, injector);
        if (i % 1024 == 0) most = std::max(most, bytes_in_use());
    }
    listener.finish();
    most = std::max(most, bytes_in_use());
    return static_cast<double>(most - before) / lines;
}

// Both sizes of tables: just before they grow, and just after.
TEST(PagedArray, LinesFarApartTakeAtMost150BytesEach) {
    MonitorSpec spec;
    spec.link = "core-L1";
    spec.line = 64;
    for (const unsigned lines : {300'000U, 340'000U}) {
        ExactHistogram exact(spec);
        EXPECT_LE(most_bytes_per_line(exact, lines), 150.0);
        Monitor monitor(spec, 0, 1000);
        EXPECT_LE(most_bytes_per_line(monitor, lines), 150.0);
    }
}

}  // namespace
}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Who had memory, against a table of bytes.
#include "workloads/capture/memory_owners.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <set>

namespace cachetally {
namespace {

constexpr std::uint32_t nobody = ~0U;

RC_GTEST_PROP(MemoryOwners, TellAllThatHadTheMemoryBefore, ()) {
    std::array<std::uint32_t, 64> owner{};
    owner.fill(nobody);
    const Address begin = *rc::gen::element<Address>(0, 4096, ~Address{0} - (owner.size() - 1));
    MemoryOwners owners;
    for (int step = *rc::gen::inRange(1, 40); step > 0; --step) {
        const auto first = *rc::gen::inRange<std::size_t>(0, owner.size());
        const auto bytes = *rc::gen::inRange<std::size_t>(1, owner.size() - first + 1);
        const auto object = *rc::gen::inRange<std::uint32_t>(0, 4);
        std::set<std::uint32_t> expected, told;
        for (std::size_t i = first; i < first + bytes; ++i) {
            if (owner[i] != nobody && owner[i] != object) expected.insert(owner[i]);
            owner[i] = owner[i] == nobody || owner[i] == object ? object : MemoryOwners::several;
        }
        owners.take(begin + first, bytes, object, [&](std::uint32_t other) { told.insert(other); });
        RC_ASSERT(told == expected);
    }
}

}  // namespace
}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Stretches of references against a plain loop.
#include "sim/model/stretch.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

namespace cachetally {
namespace {

std::vector<Reference> some_references(std::size_t most) {
    const auto count = *rc::gen::inRange<std::size_t>(0, most);
    const bool crossing = *rc::gen::arbitrary<bool>();
    std::vector<Reference> references(count);
    std::uint64_t state = *rc::gen::arbitrary<std::uint32_t>() + 1U;
    for (Reference& reference : references) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        reference.address = state >> 33 & ~Address{7};
        if (state >> 60 == 0) reference.address |= Address{0xffffff} << 40;
        reference.size = static_cast<std::uint16_t>(crossing && (state >> 20 & 31) == 0 ? 1 + (state >> 25 & 255) : 8);
        reference.kind = static_cast<ReferenceKind>((state >> 50) % 3);
        reference.flags = static_cast<std::uint8_t>(state >> 30);
        reference.site = static_cast<std::uint32_t>(state >> 8);
    }
    return references;
}

bool belongs(const Reference& reference, LineWish wish) {
    const Address last = reference.address + reference.size - 1;
    return reference.address / wish.line_bytes == last / wish.line_bytes &&
           (wish.kinds & 1U << static_cast<unsigned>(reference.kind)) != 0;
}

LineWish some_wish() { return {*rc::gen::element(16U, 32U, 64U, 256U), *rc::gen::inRange(0U, 8U)}; }

void expect_kinds(const Stretch::Kinds& kinds, std::span<const Reference> references) {
    std::array<std::uint32_t, 3> counted{};
    for (const Reference& reference : references) ++counted[static_cast<std::size_t>(reference.kind)];
    RC_ASSERT(kinds.loads == counted[0]);
    RC_ASSERT(kinds.stores == counted[1]);
    RC_ASSERT(kinds.fetches == counted[2]);
}

RC_GTEST_PROP(Stretch, EndsBeforeTheFirstReferenceThatDoesNotBelong, ()) {
    const auto references = some_references(1200);
    const LineWish wish = some_wish();
    std::vector<BlockEvent> lines(Stretch::most);
    const cachetally::Stretch stretch = find_stretch(references, wish, lines.data());
    std::size_t expected = 0;
    while (expected < references.size() && expected < Stretch::most && belongs(references[expected], wish)) ++expected;
    RC_ASSERT(stretch.size() == expected);
    for (std::size_t i = 0; i < expected; ++i) {
        RC_ASSERT(stretch.lines[i].block() == references[i].address / wish.line_bytes * wish.line_bytes);
        RC_ASSERT(stretch.lines[i].kind() == static_cast<EventKind>(references[i].kind));
    }
    expect_kinds(stretch.kinds, std::span(references).first(expected));
}

RC_GTEST_PROP(FoundLines, HoldEveryReferenceThatBelongsOnceAndInOrder, ()) {
    const auto references = some_references(3000);
    LineWish wish = some_wish();
    wish.kinds |= *rc::gen::element(0U, 7U);
    const auto middle = *rc::gen::inRange<std::size_t>(0, references.size() + 1);
    FoundLines found;
    for (int again = 0; again < 2; ++again) {
        found.start(references.size());
        found.find(std::span(references).first(middle), wish);
        found.find(std::span(references).subspan(middle), wish);
        std::vector<const Reference*> held, expected;
        for (const cachetally::Stretch& stretch : found.stretches()) {
            RC_ASSERT(stretch.size() > 0U);
            RC_ASSERT(stretch.size() <= Stretch::most);
            for (std::size_t i = 0; i < stretch.size(); ++i) {
                held.push_back(&stretch.references[i]);
                RC_ASSERT(stretch.lines[i].block() ==
                          stretch.references[i].address / wish.line_bytes * wish.line_bytes);
            }
        }
        for (const Reference& reference : references)
            if (belongs(reference, wish)) expected.push_back(&reference);
        RC_ASSERT(held == expected);
    }
}

}  // namespace
}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// RedundancyFilter against a plain description of it, and SlotLines against the lines of all accesses.
#include "sim/model/batching/redundancy_filter.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>

namespace cachetally {
namespace {

struct Access {
    BlockEvent line;
    bool redundant;
};

/// In plain words: who was the last of the slot?
class PlainFilter {
public:
    explicit PlainFilter(const FilterShape& shape) : shape_(shape) {}

    Access take(Address address, EventKind kind) {
        const Address line = address >> shape_.line_bits << shape_.line_bits;
        const Address slot = line / 64 % 64 % shape_.line_slots, page = address >> shape_.page_bits;
        const bool stores = kind == EventKind::store;
        std::optional<Address>& last_page = pages_[page % shape_.page_slots];
        const bool same_page = shape_.page_bits == 0 || last_page == page;
        const bool redundant = !shape_.retains_all && lines_[slot] == line && same_page && (!stores || stored_[slot]);
        if (!redundant) stored_[slot] = stores;
        lines_[slot] = line;
        last_page = page;
        return {{line, kind}, redundant};
    }

private:
    FilterShape shape_;
    std::map<Address, std::optional<Address>> lines_, pages_;
    std::map<Address, bool> stored_;
};

FilterShape some_shape() {
    FilterShape shape;
    shape.line_bits = *rc::gen::inRange(4U, 8U);
    shape.line_slots = 1U << *rc::gen::inRange(0U, 7U);
    shape.page_bits = *rc::gen::element(0U, 12U, 16U);
    shape.page_slots = 1U << *rc::gen::inRange(0U, 5U);
    shape.retains_all = *rc::gen::inRange(0, 8) == 0;
    return shape;
}

std::vector<Reference> some_references() {
    std::vector<Reference> references(*rc::gen::inRange<std::size_t>(0, 2000));
    std::uint64_t state = *rc::gen::arbitrary<std::uint32_t>() + 1U;
    for (Reference& reference : references) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const Address spread = (state >> 20 & 3) == 0 ? 0xfffff : 0x31cf;
        const bool large = (state >> 24 & 63) == 0;
        constexpr ReferenceKind kinds[] = {ReferenceKind::load, ReferenceKind::load, ReferenceKind::store,
                                           ReferenceKind::fetch};
        reference = {state >> 40 & spread, 0, static_cast<std::uint16_t>(large ? 1 + (state >> 30 & 0x3fff) : 8),
                     kinds[state >> 50 & 3], 0};
    }
    return references;
}

void check(const FilteredAccesses& found, const std::vector<Access>& expected, SlotLines& lines, bool placed) {
    RC_ASSERT(found.marks.size() == expected.size());
    RC_ASSERT(found.mark_positions.size() == (placed ? found.marks.size() : 0));
    RC_ASSERT(found.positions.size() == (placed ? found.retained.size() : 0));
    std::vector<BlockEvent> all;
    lines.expand(found, all);
    std::size_t retained = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        RC_ASSERT(filter_mark::is_retained(found.marks[i]) == !expected[i].redundant);
        RC_ASSERT(all[i].bits() == expected[i].line.bits());
        if (expected[i].redundant) continue;
        if (placed) RC_ASSERT(found.positions[retained] == found.mark_positions[i]);
        ++retained;
    }
    RC_ASSERT(retained == found.retained.size());
    RC_ASSERT(found.redundant.all() == expected.size() - retained);
}

RC_GTEST_PROP(RedundancyFilter, DoesWhatPlainWordsSay, ()) {
    using Fetches = FilterPlan::Fetches;
    const FilterPlan plan{some_shape(), some_shape(),
                          *rc::gen::element(Fetches::with_data, Fetches::apart, Fetches::nowhere)};
    RedundancyFilter filter(plan);
    PlainFilter data(plan.data), fetches(plan.fetches);
    SlotLines data_lines, fetched_lines;
    const std::vector<Reference> references = some_references();
    for (std::size_t done = 0; done < references.size();) {
        const FilteredBlock block = filter.filter(std::span(references).subspan(done));
        RC_ASSERT(block.references > 0U);
        std::vector<Access> expected, fetched;
        for (std::size_t i = done; i < done + block.references; ++i) {
            const Reference& reference = references[i];
            const bool fetch = reference.kind == ReferenceKind::fetch;
            if (fetch && plan.way == Fetches::nowhere) continue;
            const bool apart = fetch && plan.way == Fetches::apart;
            const Address bytes = Address{1} << (apart ? plan.fetches : plan.data).line_bits;
            const auto kind = static_cast<EventKind>(reference.kind);
            Address address = reference.address;
            do {
                (apart ? fetched : expected).push_back((apart ? fetches : data).take(address, kind));
                address = address / bytes * bytes + bytes;
            } while (address < reference.address + reference.size);
        }
        check(block.data, expected, data_lines, plan.way == Fetches::apart);
        check(block.fetches, fetched, fetched_lines, plan.way == Fetches::apart);
        done += block.references;
    }
}

TEST(FilterShape, ServesShapesOfMoreSlots) {
    EXPECT_TRUE(packed_shape.serves(packed_shape));
    EXPECT_TRUE(packed_shape.serves({.line_bits = 6, .line_slots = 64}));
    EXPECT_FALSE(packed_shape.serves({.line_bits = 6, .line_slots = 32}));
    EXPECT_FALSE(packed_shape.serves({.line_bits = 5, .line_slots = 64}));
    EXPECT_FALSE(packed_shape.serves({.line_bits = 6, .line_slots = 64, .page_bits = 13, .page_slots = 16}));
    EXPECT_FALSE(packed_shape.serves({.line_bits = 6, .line_slots = 64, .page_bits = 12, .page_slots = 8}));
    EXPECT_FALSE(packed_shape.serves({.line_bits = 6, .line_slots = 64, .retains_all = true}));
}

}  // namespace
}  // namespace cachetally

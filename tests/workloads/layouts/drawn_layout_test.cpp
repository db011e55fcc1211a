// SPDX-License-Identifier: BSD-3-Clause
// Drawn layouts: what moves together, that nothing meets, that places are spread evenly, and that where a program lay
// does not matter.
#include "workloads/layouts/drawn_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace cachetally {
namespace {

using ::testing::ElementsAre;

bool go_on() { return true; }

/// References of one stream, in one batch.
class ListedSource final : public ReferenceSource {
public:
    explicit ListedSource(std::vector<Reference> references, std::vector<Region> regions = {})
        : references_(std::move(references)), regions_(std::move(regions)) {}
    unsigned cores() const override { return 1; }
    Batch next(unsigned) override { return {references_, {Control::Kind::end, 0}}; }
    std::vector<Region> regions() const override { return regions_; }

private:
    std::vector<Reference> references_;
    std::vector<Region> regions_;
};

Reference load(Address address) { return {address, 0, 8, ReferenceKind::load, 0}; }
Reference fetch(Address address) { return {address, 0, 4, ReferenceKind::fetch, 0}; }

std::vector<Address> addresses(ReferenceSource& source) {
    std::vector<Address> all;
    for (const Reference& reference : source.next(0).references) all.push_back(reference.address);
    return all;
}

/// Small blocks at `heap`, an array, code, and a stack.
std::unique_ptr<ListedSource> program(Address heap, Address stack) {
    return std::make_unique<ListedSource>(std::vector{fetch(0x401000), load(heap), load(heap + 64), load(0x7000'0010),
                                                      load(0x7000'1ff8), load(stack), load(stack + 200)},
                                          std::vector<Region>{{"a", 0x7000'0010, 8192, 8}});
}

TEST(DrawnLayout, FindsWhatMovesTogether) {
    const MemorySurvey survey = survey_memory(*program(0x500000, 0x7fff'ffff'0128), 0, go_on);
    EXPECT_EQ(survey.references, 7U);
    EXPECT_EQ(survey.fetches, 1U);
    EXPECT_THAT(survey.segments,
                ElementsAre(Segment{0x401000, 4, 4096}, Segment{0x500000, 72, 16},
                            Segment{0x7000'0010, 8192, 4096, true},  // 16 bytes behind a page, as malloc maps blocks
                            Segment{0x7fff'ffff'0128, 208, 16}));
    EXPECT_EQ(survey_memory(*program(0x500000, 0x7fff'ffff'0128), 2, go_on).segments.size(), 4U)
        << "a batch is read as a whole";
    EXPECT_THROW(survey_memory(*program(0x500000, 0x7fff'ffff'0128), 0, [] { return false; }), std::runtime_error);
}

TEST(DrawnLayout, WhereAProgramLayDoesNotMatter) {
    const auto moved = [](Address heap, Address stack, unsigned number) {
        const MemorySurvey survey = survey_memory(*program(heap, stack), 0, go_on);
        MovedSource source(program(heap, stack), survey.segments, drawn_layout(survey.segments, number, 5));
        return addresses(source);
    };
    std::set<std::vector<Address>> different;
    for (unsigned number = 0; number < 5; ++number) {
        const std::vector<Address> here = moved(0x500000, 0x7fff'ffff'0120, number);
        EXPECT_EQ(here, moved(0x523450, 0x7fff'fffe'0010, number)) << number;
        EXPECT_EQ(here[2] - here[1], 64U);
        EXPECT_EQ(here[3] % 4096, 16U);
        EXPECT_EQ(here[4] - here[3], 0x1fe8U);
        different.insert(here);
    }
    EXPECT_EQ(different.size(), 5U);
}

TEST(DrawnLayout, RegionsMoveWithWhatTheyHold) {
    const MemorySurvey survey = survey_memory(*program(0x500000, 0x7fff'ffff'0120), 0, go_on);
    MovedSource source(program(0x500000, 0x7fff'ffff'0120), survey.segments, drawn_layout(survey.segments, 3, 5));
    const std::vector<Address> here = addresses(source);
    EXPECT_EQ(source.regions()[0].base, here[3]);
    EXPECT_EQ(source.regions()[0].bytes, 8192U);
}

TEST(DrawnLayout, SegmentsStayApartAndInOrder) {
    const std::vector<Segment> segments = {{0x400000, 100, 4096},
                                           {0x500010, 40 << 20, 16},
                                           {0x4000000, 24, 16},
                                           {0x7f00'0000'0000, 1 << 30, 4096},
                                           {0x7fff'ffff'0000, 0x8000, 16},
                                           {0xffff'ffff'ff60'0000, 4096, 4096}};
    for (unsigned number = 0; number < 31; ++number) {
        const MemoryLayout layout = drawn_layout(segments, number, 31);
        for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
            EXPECT_LE(segments[i].base + layout[i] + segments[i].bytes, segments[i + 1].base + layout[i + 1]);
            EXPECT_EQ(layout[i] % segments[i].unit, 0U);
        }
        EXPECT_EQ(layout[5], 0U) << "no program's memory";
    }
    EXPECT_THROW(drawn_layout(std::vector<Segment>{{0x1000, std::uint64_t{1} << 46, 16}}, 0, 5), std::invalid_argument);
}

/// In which of `parts` equal parts of a way each address lies, sorted.
std::vector<std::uint64_t> parts_of(const std::vector<Address>& all, std::uint64_t way, std::uint64_t parts) {
    std::vector<std::uint64_t> found;
    for (const Address address : all) found.push_back(address % way * parts / way);
    std::ranges::sort(found);
    return found;
}

TEST(DrawnLayout, PlacesAndDistancesAreSpreadEvenly) {
    constexpr unsigned count = 31;
    const std::vector<Segment> segments = {{0x500000, 3000, 16}, {0x900000, 2000, 16}, {0xd00000, 1000, 16}};
    for (const std::uint64_t way : {std::uint64_t{4096}, std::uint64_t{65536}, std::uint64_t{1} << 20}) {
        std::vector<std::vector<Address>> places(segments.size()), distances(segments.size());
        for (unsigned number = 0; number < count; ++number) {
            const MemoryLayout layout = drawn_layout(segments, number, count);
            for (std::size_t i = 0; i < segments.size(); ++i) places[i].push_back(segments[i].base + layout[i]);
            for (std::size_t i = 0; i < segments.size(); ++i)
                distances[i].push_back(places[i].back() - places[(i + 1) % segments.size()].back());
        }
        for (const std::vector<Address>& each : places) {
            // Points of a grid that is shifted: between neighbours there is a part of the way, but for the rounding.
            std::vector<std::uint64_t> sorted;
            for (const Address address : each) sorted.push_back(address % way);
            std::ranges::sort(sorted);
            for (unsigned i = 0; i + 1 < count; ++i)
                EXPECT_NEAR(static_cast<double>(sorted[i + 1] - sorted[i]), static_cast<double>(way) / count, 17)
                    << way;
            EXPECT_GE(std::set<std::uint64_t>(sorted.begin(), sorted.end()).size(), count);
        }
        std::vector<std::uint64_t> apart = parts_of(distances[0], way, count);
        apart.erase(std::unique(apart.begin(), apart.end()), apart.end());
        EXPECT_GE(apart.size(), count - 8U) << way;  // neighbours may be rounded into one part
    }
}

}  // namespace
}  // namespace cachetally

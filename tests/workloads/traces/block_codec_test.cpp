// SPDX-License-Identifier: BSD-3-Clause
// The packed form of a block: golden bytes, round trips, damage.
#include "workloads/traces/block.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <array>
#include <cstring>
#include <map>

#include "storage/hash.hpp"
#include "tests/storage/temporary.hpp"
#include "tests/workloads/traces/trace_testing.hpp"

namespace cachetally {
namespace {

using namespace testing;
using ::testing::HasSubstr;

using Bytes = std::vector<std::byte>;

std::string hex(std::span<const std::byte> bytes) {
    std::string text;
    char digits[3];
    for (const std::byte byte : bytes) {
        std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(byte));
        text += digits;
    }
    return text;
}

Bytes encoded(std::span<const Reference> references, std::span<const PlacedControl> controls = {}) {
    Bytes bytes;
    BlockEncoder().encode(references, controls, bytes);
    return bytes;
}

std::vector<Reference> decoded(const Bytes& bytes) {
    ReferenceBlock block;
    BlockDecoder().decode(bytes, block);
    const auto references = block.references();
    return {references.begin(), references.end()};
}

/// Worked out by hand from docs/traces.md, "Blocks": three references and a barrier.
TEST(BlockCodec, WritesGoldenBytes) {
    const std::vector<Reference> references{
        {0x1000, 0, 8, ReferenceKind::load, 0},   // kept; against nothing: + 0x1000, zigzag 0x2000, 2 bytes; traits 0
        {0x1008, 0, 8, ReferenceKind::load, 0},   // settled, in slot 0: + 8, zigzag 0x10; traits 0
        {0x0ff8, 7, 4, ReferenceKind::store, 1},  // kept; 1 back: - 8, zigzag 0xf, 1 byte; a store; traits 1
    };
    const std::vector<PlacedControl> controls{{2, {Control::Kind::barrier, 0}}};
    const std::string expected =
        "03000000"                          // references
        "02000000"                          // kept
        "03000000"                          // bytes of deltas
        "02000000"                          // table of traits
        "01000000"                          // controls
        "01000000"                          // flags: data only
        "03000000020000000300000002000000"  // stored bytes of the streams: nothing gets smaller
        "01000000010000001c000000"
        "00000000"                   // reserved
        "400040"                     // marks: kept, settled in slot 0, kept
        "2090"                       // codes: 2 bytes; 1 byte and a store
        "00200f"                     // deltas: 0x2000, zigzag(-8) = 0xf
        "0001"                       // traits of those kept
        "10"                         // offset of the settled one
        "00"                         // its traits
        "0000000008000000"           // site 0, size 8, load, no flags
        "0700000004000101"           // site 7, size 4, store, flag 1
        "020000000100000000000000";  // before reference 2, barrier, argument 0
    Bytes bytes = encoded(references, controls);
    ASSERT_GE(bytes.size(), 8U);
    EXPECT_EQ(hex(std::span(bytes).subspan(8)), expected);
    std::uint64_t checksum;
    std::memcpy(&checksum, bytes.data(), sizeof checksum);
    EXPECT_EQ(checksum, hash_bytes(std::span(bytes).subspan(8)));

    ReferenceBlock block;
    BlockDecoder().decode(bytes, block);
    EXPECT_EQ(block.controls, controls);
    EXPECT_TRUE(std::equal(references.begin(), references.end(), block.references().begin(), block.references().end()));
}

/// At all levels, so that the same references are always the same bytes.
TEST(BlockCodec, AmongEqualDistancesTakesTheOneUsedLast) {
    const Address base = 0x100000;
    std::vector<Reference> references;
    for (const Address offset : {300, 0, 200, 100})  // the third needs 2 back; the last is as near to 1 back as to 2
        references.push_back({base + offset, 0, 1, ReferenceKind::load, 0});
    for (const int level : {0, 6}) {
        Bytes bytes;
        BlockEncoder(level).encode(references, {}, bytes);
        EXPECT_EQ(hex(std::span(bytes).subspan(64, 8)), "4040404030201111") << level;  // marks, codes
    }
}

RC_GTEST_PROP(BlockCodec, GivesBackWhatItWasGiven, ()) {
    const auto length = *rc::gen::inRange<std::size_t>(0, 3000);
    const auto level = *rc::gen::element(0, 1, 3, 6, 12);
    const Stream stream = random_stream(*rc::gen::arbitrary<std::uint64_t>(), length);
    std::vector<Reference> references;
    std::vector<PlacedControl> controls;
    for (const Event& e : stream) {
        if (e.control.kind == Control::Kind::none)
            references.push_back(e.reference);
        else
            controls.push_back({static_cast<std::uint32_t>(references.size()), e.control});
    }
    BlockEncoder encoder(level);
    Bytes before, bytes;
    encoder.encode(std::vector(references.rbegin(), references.rend()), {}, before);
    RC_ASSERT(std::ranges::equal(decoded(before), std::vector(references.rbegin(), references.rend())));
    encoder.encode(references, controls, bytes);  // nothing of the block before is left
    ReferenceBlock block;
    BlockDecoder().decode(bytes, block);
    RC_ASSERT(block.controls == controls);
    RC_ASSERT(std::ranges::equal(block.references(), references));
}

TEST(BlockCodec, KeepsEveryTraitOfTheLargestBlock) {
    std::vector<Reference> references;
    for (std::uint32_t i = 0; i < largest_block_references; ++i)
        references.push_back({Address{i} * 8, i, static_cast<std::uint16_t>(1 + i % 60000),
                              static_cast<ReferenceKind>(i % 3), static_cast<std::uint8_t>(i)});
    EXPECT_EQ(decoded(encoded(references)), references);
    references.push_back(references.front());
    EXPECT_THROW(encoded(references), std::invalid_argument);
}

TEST(BlockCodec, RefusesReferencesThatNoMachineMakes) {
    EXPECT_THROW(encoded(std::vector<Reference>{{1, 0, 0, ReferenceKind::load, 0}}), std::invalid_argument);
    EXPECT_THROW(encoded(std::vector<Reference>{{1, 0, 4, static_cast<ReferenceKind>(3), 0}}), std::invalid_argument);
    EXPECT_THROW(encoded(std::vector<Reference>{{~Address{0}, 0, 2, ReferenceKind::load, 0}}), std::invalid_argument);
    const std::vector<PlacedControl> beyond{{1, {Control::Kind::barrier, 0}}};
    EXPECT_THROW(encoded({}, beyond), std::invalid_argument);
}

const FilterPlan filtered_wish{.data = packed_shape, .fetches = {}};

/// References in the parts of a filtered block.
std::size_t filtered_size(const ReferenceBlock& block) {
    std::size_t size = 0;
    for (const FilteredBlock& part : block.filtered.blocks) size += part.references;
    return size;
}

/// What a filtered block says of each access: its line and kind.
std::vector<BlockEvent> said_of(const ReferenceBlock& block) {
    std::vector<BlockEvent> said;
    std::map<Address, Address> line_of_slot;
    for (const FilteredBlock& part : block.filtered.blocks) {
        std::size_t retained = 0, stores = 0, loads = 0;
        for (const std::uint8_t mark : part.data.marks) {
            if (mark / 64 == 1) {
                const BlockEvent line = part.data.retained[retained++];
                line_of_slot[line.block() / 64 % 64] = line.block();
                said.push_back(line);
            } else {
                ++(mark >= 0x80 ? stores : loads);
                said.emplace_back(line_of_slot.at(mark % 64), mark >= 0x80 ? EventKind::store : EventKind::load);
            }
        }
        EXPECT_EQ(retained, part.data.retained.size());
        EXPECT_EQ(loads, part.data.redundant.loads);
        EXPECT_EQ(stores, part.data.redundant.stores);
        EXPECT_LE(part.data.marks.size(), FilteredBlock::most);
    }
    return said;
}

RC_GTEST_PROP(BlockCodec, FilteredBlocksSayTheSameOfEveryReference, ()) {
    const auto length = *rc::gen::inRange<std::size_t>(0, 4000);
    std::vector<Reference> references;
    std::vector<PlacedControl> controls;
    for (const Event& e : random_stream(*rc::gen::arbitrary<std::uint64_t>(), length)) {
        Reference reference = e.reference;
        if (reference.kind == ReferenceKind::fetch) reference.kind = ReferenceKind::load;
        if (e.control.kind == Control::Kind::none) {
            references.push_back(reference);
        } else {
            controls.push_back({static_cast<std::uint32_t>(references.size()), e.control});
        }
    }
    ReferenceBlock block;
    BlockDecoder().decode(encoded(references, controls), block, filtered_wish);
    RC_ASSERT(block.is_filtered);
    RC_ASSERT(block.references().empty());
    RC_ASSERT(block.controls == controls);
    RC_ASSERT(block.size() == references.size());
    RC_ASSERT(filtered_size(block) == references.size());
    std::vector<BlockEvent> expected;
    for (const Reference& reference : references)
        for (Address line = reference.address / 64; line <= (reference.address + (reference.size - 1U)) / 64; ++line)
            expected.emplace_back(line * 64, static_cast<EventKind>(reference.kind));
    const auto said = said_of(block);
    RC_ASSERT(said.size() == expected.size());
    for (std::size_t i = 0; i < said.size(); ++i) RC_ASSERT(said[i].bits() == expected[i].bits());
}

TEST(BlockCodec, FiltersOnlyWhatIsWishedAndAllData) {
    const std::vector<Reference> data{{0x1000, 0, 8, ReferenceKind::load, 0}};
    const std::vector<Reference> fetches{{0x1000, 0, 8, ReferenceKind::fetch, 0}};
    ReferenceBlock block;
    BlockDecoder decoder;
    decoder.decode(encoded(data), block, filtered_wish);
    EXPECT_TRUE(block.is_filtered);
    decoder.decode(encoded(data), block);
    EXPECT_FALSE(block.is_filtered);
    decoder.decode(encoded(data), block, FilterPlan{.data = {.line_bits = 5, .line_slots = 64}, .fetches = {}});
    EXPECT_FALSE(block.is_filtered);
    decoder.decode(encoded(fetches), block, filtered_wish);
    EXPECT_FALSE(block.is_filtered);
    EXPECT_EQ(block.references().size(), 1U);
}

/// A block that is a few hundred bytes, compressed.
Bytes sample_block() {
    std::vector<Reference> references;
    for (unsigned i = 0; i < 500; ++i)
        references.push_back({0x1000 + 8 * (i % 32), 0, 8, i % 3 == 0 ? ReferenceKind::store : ReferenceKind::load, 0});
    const std::vector<PlacedControl> controls{{5, {Control::Kind::monitor_on, 0}}};
    return encoded(references, controls);
}

TEST(BlockCodec, NoticesEveryFlippedBit) {
    const Bytes whole = sample_block();
    ReferenceBlock block;
    BlockDecoder decoder;
    for (std::size_t i = 0; i < whole.size() * 8; ++i) {
        Bytes damaged = whole;
        damaged[i / 8] ^= std::byte{1} << (i % 8);
        EXPECT_THAT(message_of([&] { decoder.decode(damaged, block); }), HasSubstr("checksum is wrong")) << i;
    }
}

TEST(BlockCodec, NoticesTruncation) {
    const Bytes whole = sample_block();
    ReferenceBlock block;
    BlockDecoder decoder;
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_THROW(decoder.decode(std::span(whole).first(size), block), BlockError) << size;
    EXPECT_NO_THROW(decoder.decode(whole, block));
}

/// Behind a right checksum, anything may come: an error or a block, and every reference of it sound.
TEST(BlockCodec, SurvivesDamageBehindARightChecksum) {
    const Bytes whole = sample_block();
    ReferenceBlock block;
    BlockDecoder decoder;
    std::size_t accepted = 0;
    for (std::size_t i = 8; i < whole.size(); ++i) {
        for (const unsigned change : {1U, 0x80U, 0xffU}) {
            Bytes damaged = whole;
            damaged[i] ^= static_cast<std::byte>(change);
            seal_block(damaged);
            try {
                decoder.decode(damaged, block);
                ++accepted;
                for (const Reference& reference : block.references()) {
                    ASSERT_GE(reference.size, 1U);
                    ASSERT_GE(reference.address + (reference.size - 1U), reference.address);
                }
            } catch (const BlockError&) {
            }
            try {
                decoder.decode(damaged, block, filtered_wish);
                if (block.is_filtered) {
                    ASSERT_EQ(filtered_size(block), block.size());
                }
            } catch (const BlockError&) {
            }
        }
    }
    EXPECT_LT(accepted, whole.size() * 3);
}

TEST(BlockCodec, NamesWhatDoesNotFit) {
    struct Case {
        std::size_t offset;
        unsigned value;
        const char* message;
    };
    // Offsets of the header: docs/traces.md. The golden block of three references is stored without compression.
    const std::vector<Reference> references{{0x1000, 0, 8, ReferenceKind::load, 0},
                                            {0x1008, 0, 8, ReferenceKind::load, 0}};
    const std::vector<PlacedControl> controls{{1, {Control::Kind::barrier, 0}}};
    const Bytes whole = encoded(references, controls);
    ReferenceBlock block;
    BlockDecoder decoder;
    for (const Case& c : {Case{11, 0x7f, "sizes are out of range"},
                          Case{12, 0xff, "sizes are out of range"},
                          Case{16, 0xff, "sizes are out of range"},
                          Case{20, 3, "sizes are out of range"},
                          Case{28, 4, "sizes are out of range"},
                          Case{60, 1, "sizes are out of range"},
                          Case{32, 200, "marks are cut off"},
                          Case{64, 0, "marks are not those"},
                          Case{64, 0x44, "marks are not those"},
                          Case{66, 0x10, "ask for other deltas"},
                          Case{69, 1, "traits that its table lacks"},
                          Case{71, 1, "traits that its table lacks"},
                          Case{70, 0x7f, "not in the line"},
                          Case{65, 5, "not in the line"},
                          Case{66, 0xa0, "not of the kind"},
                          Case{64, 0x41, "its mark says"},
                          Case{76, 0, "size of 0"},
                          Case{78, 2, "says that it has none"},
                          Case{80, 3, "controls are out of order"},
                          Case{84, 9, "kind 9"}}) {
        Bytes damaged = whole;
        damaged[c.offset] = static_cast<std::byte>(c.value);
        seal_block(damaged);
        EXPECT_THAT(message_of([&] { decoder.decode(damaged, block); }), HasSubstr(c.message)) << c.offset;
    }
}

}  // namespace
}  // namespace cachetally

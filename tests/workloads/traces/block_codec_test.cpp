// The packed form of a block: golden bytes, round trips, damage.
#include "workloads/traces/block_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <cstring>

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
        {0x1000, 0, 8, ReferenceKind::load, 0},   // against nothing: + 0x1000, zigzag 0x2000, 2 bytes, new traits 0
        {0x1008, 0, 8, ReferenceKind::load, 0},   // 1 back: + 8, zigzag 0x10, 1 byte, same traits
        {0x0ff8, 7, 4, ReferenceKind::store, 1},  // 1 back: - 0x10, zigzag 0x1f, 1 byte, new traits 1
    };
    const std::vector<PlacedControl> controls{{2, {Control::Kind::barrier, 0}}};
    const std::string expected =
        "03000000"                          // references
        "04000000"                          // bytes of deltas
        "02000000"                          // changes of traits
        "02000000"                          // table of traits
        "01000000"                          // controls
        "0300000004000000140000000c000000"  // stored bytes of the streams: nothing gets smaller
        "00000000"                          // reserved
        "a01090"                            // codes: change + 2 bytes; 1 byte; change + 1 byte
        "0020101f"                          // deltas: 0x2000, 0x10, zigzag(-0x10) = 0x1f
        "00000100"                          // traits of the first and third reference: 0, 1
        "0000000008000000"                  // table: site 0, size 8, load, no flags
        "0700000004000101"                  // site 7, size 4, store, flag 1
        "020000000100000000000000";         // before reference 2, barrier, argument 0
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

RC_GTEST_PROP(BlockCodec, GivesBackWhatItWasGiven, ()) {
    const auto length = *rc::gen::inRange<std::size_t>(0, 3000);
    const auto level = *rc::gen::element(1, 3, 6, 12);
    const Stream stream = random_stream(*rc::gen::arbitrary<std::uint64_t>(), length);
    std::vector<Reference> references;
    std::vector<PlacedControl> controls;
    for (const Event& e : stream) {
        if (e.control.kind == Control::Kind::none)
            references.push_back(e.reference);
        else
            controls.push_back({static_cast<std::uint32_t>(references.size()), e.control});
    }
    Bytes bytes;
    BlockEncoder(level).encode(references, controls, bytes);
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
    for (const Case& c : {Case{11, 0x7f, "sizes are out of range"}, Case{12, 0xff, "sizes are out of range"},
                          Case{16, 3, "sizes are out of range"}, Case{44, 1, "sizes are out of range"},
                          Case{28, 200, "codes are cut off"}, Case{48, 0x20, "ask for other deltas or traits"},
                          Case{53, 1, "traits that its table lacks"}, Case{59, 0, "size of 0"},
                          Case{63, 3, "controls are out of order"}}) {
        Bytes damaged = whole;
        damaged[c.offset] = static_cast<std::byte>(c.value);
        seal_block(damaged);
        EXPECT_THAT(message_of([&] { decoder.decode(damaged, block); }), HasSubstr(c.message)) << c.offset;
    }
}

}  // namespace
}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// From words of a capture's ring to references, by hand; and words that contradict themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "base/random.hpp"
#include "workloads/capture/capture_decoder.hpp"
#include "workloads/capture/ring.h"
#include "workloads/traces/byte_stream.hpp"

namespace cachetally {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::uint64_t>;

/// Chunks as a producer leaves them.
class Chunks {
public:
    Chunks& data(std::uint64_t word) { return data_.push_back(word), *this; }
    Chunks& run(std::uint64_t word) { return runs_.insert(runs_.begin(), word), *this; }
    Chunks& control(unsigned kind, const Words& words) {
        run(CT_CONTROL(kind, words.size()));
        for (const std::uint64_t word : words) run(word);
        return *this;
    }
    std::optional<CapturedChunk> next() {
        if (std::exchange(given_, true)) return std::nullopt;
        return CapturedChunk{0, 0, data_, runs_};
    }

private:
    Words data_, runs_;
    bool given_ = false;
};

struct Decoded {
    std::vector<Reference> references;
    std::vector<Control> controls;
    CapturedEvents events;
    std::vector<Address> counters;
};

std::vector<Decoded> decode(Chunks chunks, DecoderOptions options = {}) {
    int held = 0;
    const auto next = [&] {
        EXPECT_EQ(held, 0) << "the one before was not given back";
        const auto chunk = chunks.next();
        held += chunk.has_value();
        return chunk;
    };
    CaptureDecoder decoder(options, nullptr, next, [&](const CapturedChunk&) { --held; });
    std::vector<Decoded> streams(options.cores);
    for (unsigned core = 0; core < options.cores; ++core) {
        for (bool last = false; !last;) {
            ReferenceBlock block;
            decoder.take(core, block);
            const auto references = block.references();
            streams[core].references.insert(streams[core].references.end(), references.begin(), references.end());
            for (const auto& placed : block.controls) streams[core].controls.push_back(placed.control);
            last = block.last;
        }
        streams[core].events = decoder.events();
        streams[core].counters = decoder.counters().all();
    }
    return streams;
}

constexpr std::uint64_t word(Address address, unsigned bytes, std::uint64_t flags = 0) {
    return address | std::uint64_t{bytes - 1} << CT_SIZE_SHIFT | flags;
}
constexpr std::uint64_t instruction(Address address, unsigned bytes) { return address | std::uint64_t{bytes} << 56; }
constexpr std::uint64_t pair(std::uint64_t low, std::uint64_t high) { return low | high << 32; }

/// 0x1000 (4 bytes) loads 8, 0x1004 (3) stores 4, and at 0x103e an instruction of 4 bytes lies in two lines. Exit 1 is
/// behind the second, exit 2 behind all.
const Words block = {0x1000,
                     pair(1, 2),
                     pair(3, 2),
                     instruction(0x1000, 4),
                     instruction(0x1004, 3),
                     instruction(0x103e, 4),
                     0 | 8 << 16,
                     pair(1 | 4 << 16, 1),
                     pair(2, 2),
                     pair(2, 3)};

TEST(CaptureDecoder, MakesReferencesOfExits) {
    const auto chunks = [] {
        return Chunks()
            .control(CT_BLOCK, block)
            .control(CT_THREAD, {1})
            .run(1)
            .data(word(0x8000, 8))
            .data(word(0x9000, 4, CT_STORE))
            .run(2)
            .data(CT_NO_REFERENCE)
            .data(word(0x9004, 4, CT_STORE))
            .control(CT_EXITED, {3});
    };
    DecoderOptions options;
    options.fetches = CapturedFetches::none;
    Decoded data = decode(chunks(), options).front();
    using enum ReferenceKind;
    EXPECT_THAT(data.references, ElementsAre(Reference{0x8000, 1, 8, load, 0}, Reference{0x9000, 2, 4, store, 0},
                                             Reference{0x9004, 2, 4, store, 0}));
    EXPECT_THAT(data.counters, ElementsAre(0, 0x1000, 0x1004));
    EXPECT_EQ(data.events.end->status, 3);
    options.fetches = CapturedFetches::instructions;
    Decoded all = decode(chunks(), options).front();
    ASSERT_EQ(all.references.size(), 3U + 2 + 3);
    EXPECT_EQ(all.references[0].address, 0x1000U);
    EXPECT_EQ(all.references[1].address, 0x8000U);
    EXPECT_EQ(all.references[2].address, 0x1004U);
    EXPECT_EQ(all.references[7].address, 0x103eU);
    options.fetches = CapturedFetches::lines;  // one per line: the two first instructions, and both ends of the last
    Decoded lines = decode(chunks(), options).front();
    std::vector<std::pair<Address, unsigned>> fetches;
    for (const Reference& reference : lines.references)
        if (reference.kind == fetch) fetches.emplace_back(reference.address, reference.size);
    EXPECT_THAT(fetches, ElementsAre(std::pair(0x1000, 7U), std::pair(0x1000, 64U), std::pair(0x1040, 2U)));
}

TEST(CaptureDecoder, ThreadsGoToCoresInTurnAndMeet) {
    Chunks chunks;
    chunks.control(CT_BLOCK, block);
    for (const std::uint64_t thread : {1, 2, 3, 2})
        chunks.control(CT_THREAD, {thread}).run(CT_RUN_SITE | 0x5000).data(word(0x100 * thread, 8));
    chunks.control(CT_BARRIER, {0x7000, 3}).control(CT_THREAD, {1});
    chunks.run(CT_RUN_SITE | 0x5000).data(word(0x900, 8)).control(CT_PHASE, {0}).control(CT_EXITED, {0});
    DecoderOptions options;
    options.cores = 2;
    const std::vector<Decoded> streams = decode(chunks, options);
    const auto addresses = [](const Decoded& stream) {
        std::vector<Address> all;
        for (const Reference& reference : stream.references) all.push_back(reference.address);
        return all;
    };
    EXPECT_THAT(addresses(streams[0]), ElementsAre(0x100, 0x300, 0x900));
    EXPECT_THAT(addresses(streams[1]), ElementsAre(0x200, 0x200));
    for (const Decoded& stream : streams) {
        ASSERT_EQ(stream.controls.size(), 2U);
        EXPECT_EQ(stream.controls[0].kind, Control::Kind::meet);
        EXPECT_EQ(stream.controls[1].kind, Control::Kind::barrier);
    }
}

TEST(CaptureDecoder, PhasesHaveTheProgramsNames) {
    Chunks chunks;
    chunks.control(CT_THREAD, {1});
    for (const std::uint64_t name : {0x65766c6f73ULL, 0x6b63656863ULL, 0ULL, 0x65766c6f73ULL})  // solve, check
        chunks.control(CT_PHASE, {name});
    chunks.control(CT_BARRIER, {0x7000, 1});
    chunks.control(CT_PHASE, {}).control(CT_PHASE, {0x0aff20});  // none; blank, no UTF-8, line break
    chunks.control(CT_PHASE, std::vector<std::uint64_t>(20, 0x6161616161616161));
    DecoderOptions options;
    options.barriers_end_phases = true;
    const std::vector<Decoded> streams = decode(chunks.control(CT_EXITED, {0}), options);
    std::vector<std::uint32_t> names;
    for (const Control& control : streams[0].controls) names.push_back(control.argument);
    EXPECT_THAT(names, ElementsAre(1, 2, 0, 1, 1, 0, 3, 4)) << "barriers keep the name";
    EXPECT_THAT(streams[0].events.phase_names, ElementsAre("solve", "check", "??", std::string(100, 'a')));
}

TEST(CaptureDecoder, AKilledProgramIsPartial) {
    Chunks chunks;
    chunks.control(CT_THREAD, {1}).run(CT_RUN_SITE | 0x5000).data(word(0x100, 8));
    CaptureDecoder decoder(
        {}, nullptr, [&] { return chunks.next(); }, [](const CapturedChunk&) {});
    ReferenceBlock first, second;
    decoder.take(0, first);
    EXPECT_EQ(first.references().size(), 1U);
    EXPECT_THROW(decoder.take(0, second), TraceError);
}

std::string refusal(const Chunks& chunks) {
    try {
        decode(chunks);
    } catch (const TraceError& error) {
        return error.what();
    }
    return "";
}

TEST(CaptureDecoder, WordsThatContradictThemselvesAreRefused) {
    EXPECT_THAT(refusal(Chunks().run(7)), HasSubstr("there is no exit 7"));
    EXPECT_THAT(refusal(Chunks().control(CT_BLOCK, block).run(2)), HasSubstr("fewer data words"));
    EXPECT_THAT(refusal(Chunks().run(CT_RUN_SITE | 5)), HasSubstr("fewer data words"));
    EXPECT_THAT(refusal(Chunks().run(CT_CONTROL(CT_PHASE, 50))), HasSubstr("longer than its chunk"));
    EXPECT_THAT(refusal(Chunks().control(CT_MAPPED, {1, 2})), HasSubstr("control 7 has 2 words"));
    Words few = block;
    few.resize(6);
    EXPECT_THAT(refusal(Chunks().control(CT_BLOCK, few)), HasSubstr("damaged"));
}

/// Anything may stand in the memory of a program that runs wild: references or an error come of it.
TEST(CaptureDecoder, AnyWordsGiveReferencesOrAnError) {
    Random random(11);
    unsigned refused = 0;
    for (int i = 0; i < 20000; ++i) {
        Words damaged = block;
        for (std::uint64_t n = random.below(3); n > 0; --n)
            damaged[random.below(damaged.size())] ^= std::uint64_t{1} << random.below(64);
        Chunks chunks;
        if (random.below(4) != 0) chunks.control(CT_BLOCK, damaged);
        for (std::uint64_t n = random.below(6); n > 0; --n) {
            chunks.data(random.below(~std::uint64_t{0})).data(random.below(~std::uint64_t{0}));
            if (random.below(2) == 0) chunks.run(random.below(4));
            if (random.below(8) == 0) chunks.run(random.below(~std::uint64_t{0}));
            if (random.below(4) == 0)
                chunks.control(static_cast<unsigned>(random.below(24)), Words(random.below(5), random.below(300)));
        }
        refused += !refusal(chunks).empty();
    }
    EXPECT_GT(refused, 1000U);
    EXPECT_LT(refused, 20000U);
}

}  // namespace
}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Packed trace files: what is written comes back, whole or with the place of the damage named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <filesystem>

#include "tests/storage/temporary.hpp"
#include "tests/workloads/traces/trace_testing.hpp"

namespace cachetally {
namespace {

using namespace testing;
using ::testing::AnyOf;
using ::testing::HasSubstr;

TraceOptions direct() {
    TraceOptions options;
    options.ahead = false;
    return options;
}

RC_GTEST_PROP(PackedTrace, GivesBackAllStreams, ()) {
    const TemporaryDirectory directory;
    const std::string path = directory / "t.h5";
    const auto cores = *rc::gen::inRange<unsigned>(1, 6);
    PackedOptions options;
    options.block_references = *rc::gen::inRange<std::uint32_t>(1, 500);
    std::vector<Stream> streams;
    for (unsigned core = 0; core < cores; ++core)
        streams.push_back(random_stream(*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::inRange<std::size_t>(0, 2000)));
    // Barriers must match between streams; here they are left to random_stream only where there is one stream.
    if (cores > 1)
        for (Stream& stream : streams)
            std::erase_if(stream, [](const Event& e) { return e.control.kind == Control::Kind::barrier; });
    write_packed(path, streams, options, 1 + options.block_references / 3);
    for (const bool ahead : {false, true}) {
        TraceOptions reading;
        reading.ahead = ahead;
        const auto source = open_trace(path, reading);
        RC_ASSERT(source->cores() == cores);
        for (unsigned core = cores; core-- > 0;) RC_ASSERT(read_stream(*source, core) == ended(streams[core]));
        RC_ASSERT(source->regions() == MemorySource({}).regions());
        RC_ASSERT(source->functions() == MemorySource({}).functions());
        RC_ASSERT(source->phase_names() == MemorySource({}).phase_names());
        RC_ASSERT(source->progress() == 1.0);
    }
}

TEST(PackedTrace, GivesBackWhatSitesAre) {
    const TemporaryDirectory directory;
    SiteTable sites;
    sites.add({1, 1});
    sites.add({1, 2, 1});
    const SiteNames names{{{}, {0x401000, "main", "a.c", 7, "a"}},
                          {"", "A", "heap: main"},
                          {"", "node.next"},
                          {{2, 0x10000, 64, true}, {2, 0x20000, 8, false}}};
    PackedTraceWriter writer(directory / "t.h5", 1, {});
    writer.set_sites(sites, names);
    writer.finish();
    const auto source = open_trace(directory / "t.h5", direct());
    ASSERT_NE(source->sites(), nullptr);
    EXPECT_EQ(source->sites()->size(), 3U);
    EXPECT_EQ((*source->sites())[2], (Site{1, 2, 1}));
    EXPECT_EQ(source->site_names(), names);
    for (const ObjectBlock& wrong :
         {ObjectBlock{3, 0x1000, 8}, ObjectBlock{2, 0x1000, 0}, ObjectBlock{2, ~Address{0}, 2}}) {
        SiteNames damaged = names;
        damaged.blocks.push_back(wrong);
        PackedOptions again;
        again.existing = ResultFile::Existing::overwrite;
        PackedTraceWriter other(directory / "d.h5", 1, again);
        other.set_sites(sites, damaged);
        other.finish();
        EXPECT_THROW(open_trace(directory / "d.h5", direct()), TraceError);
    }
}

TEST(PackedTrace, LeavesFetchesOutAndKeepsControlsInPlace) {
    const TemporaryDirectory directory;
    const Stream stream = random_stream(5, 3000);
    write_packed(directory / "t.h5", {stream});
    TraceOptions options;
    options.data_only = true;
    Stream expected = ended(stream);
    std::erase_if(expected, [](const Event& e) {
        return e.control.kind == Control::Kind::none && e.reference.kind == ReferenceKind::fetch;
    });
    EXPECT_EQ(read_stream(*open_trace(directory / "t.h5", options)), expected);
    EXPECT_LT(expected.size(), stream.size());
}

TEST(PackedTrace, EqualsTheTextThatItWasMadeFrom) {
    const TemporaryDirectory directory;
    std::string text;
    Random random(9);
    Address address = 0x1ffe000000;
    for (int i = 0; i < 50000; ++i) {
        char line[64];
        address += 8 * random.below(40) - 150;
        std::snprintf(line, sizeof line, " %c %08llx,%u\n", "LSM"[random.below(3)],
                      static_cast<unsigned long long>(address), 1U << random.below(5));
        text += line;
    }
    write_contents(directory / "t.txt", text);
    const auto source = open_trace(directory / "t.txt");
    PackedTraceWriter writer(directory / "t.h5", 1);
    const auto result = convert(*source, writer);
    writer.finish();
    const Stream expected = read_stream(*open_trace(directory / "t.txt"));
    EXPECT_EQ(result.references, expected.size() - 1);
    EXPECT_EQ(read_stream(*open_trace(directory / "t.h5")), expected);
    EXPECT_LT(std::filesystem::file_size(directory / "t.h5"), result.references * 5);
}

TEST(PackedTrace, SameStreamsGiveTheSameBytes) {
    const TemporaryDirectory directory;
    const std::vector<Stream> streams{random_stream(1, 9000)};
    write_packed(directory / "a.h5", streams, {}, 10);
    write_packed(directory / "b.h5", streams, {}, 7000);
    EXPECT_EQ(contents(directory / "a.h5"), contents(directory / "b.h5"));
}

TEST(PackedTrace, OfNothingIsATraceToo) {
    const TemporaryDirectory directory;
    write_packed(directory / "t.h5", {{}, {}});
    const auto source = open_trace(directory / "t.h5");
    EXPECT_EQ(read_stream(*source, 0), ended({}));
    EXPECT_EQ(read_stream(*source, 1), ended({}));
}

TEST(PackedTrace, NamesTheDamagedBlockAfterTheWholeOnes) {
    const TemporaryDirectory directory;
    const Stream stream = random_stream(2, 4000);
    PackedOptions options;
    options.block_references = 1000;
    write_packed(directory / "t.h5", {stream}, options);
    const InputFile input(directory / "t.h5");
    const auto blocks = input.root().open_group("trace").read<std::uint8_t>("blocks");
    const auto offsets = input.root().open_group("trace").open_group("index").read<std::uint64_t>("offset");
    ASSERT_EQ(offsets.size(), 4U);

    std::string file = contents(directory / "t.h5");
    const std::size_t place = file.find(std::string(blocks.begin(), blocks.end()));
    ASSERT_NE(place, std::string::npos);
    file[place + offsets[2] + 100] ^= 4;
    write_contents(directory / "damaged.h5", file);
    for (const bool ahead : {false, true}) {
        TraceOptions reading;
        reading.ahead = ahead;
        EXPECT_THAT(message_of([&] { open_trace(directory / "damaged.h5", reading); }),
                    HasSubstr("are not what was written"));
        reading.trust = Trust::file;
        std::string failure;
        const auto source = open_trace(directory / "damaged.h5", reading);
        const Stream found = read_stream(*source, 0, &failure);
        EXPECT_THAT(failure, HasSubstr("damaged.h5: block 2 of 4 (stream 0) is damaged: its checksum is wrong"));
        EXPECT_EQ(references_of(found).size(), 2000U);
        EXPECT_TRUE(std::equal(found.begin(), found.end(), stream.begin()));
    }
}

/// Cut or changed at any place, a file gives an error or the whole trace, never a wrong one.
TEST(PackedTrace, NeverYieldsAnotherTrace) {
    const TemporaryDirectory directory;
    const Stream stream = random_stream(4, 60);
    write_packed(directory / "t.h5", {stream});
    const std::string whole = contents(directory / "t.h5");
    const Stream expected = ended(stream);
    const auto check = [&](const std::string& bytes, std::size_t place) {
        write_contents(directory / "d.h5", bytes);
        Stream found;
        std::string failure;
        try {
            const auto source = open_trace(directory / "d.h5", direct());
            found = read_stream(*source, 0, &failure);
        } catch (const std::runtime_error& error) {
            failure = error.what();
        }
        if (failure.empty()) {
            ASSERT_EQ(found, expected) << place;
        }
        ASSERT_LE(found.size(), expected.size()) << place;
        ASSERT_TRUE(std::equal(found.begin(), found.end(), expected.begin())) << place;
    };
    for (std::size_t bytes = 0; bytes < whole.size(); bytes += bytes < 300 ? 1 : 13)
        check(whole.substr(0, bytes), bytes);
}

TEST(PackedTrace, TellsWhatAForeignFileIs) {
    const TemporaryDirectory directory;
    {
        ResultFile file(directory / "foreign.h5");
        file.root().create_group("results");
        file.finish();
    }
    EXPECT_THAT(message_of([&] { open_trace(directory / "foreign.h5"); }),
                HasSubstr("foreign.h5: is an HDF5 file, but not a packed trace: it has no group 'trace'"));
    {
        ResultFile file(directory / "later.h5");
        Group group = file.root().create_group("trace");
        group.set_attribute("format", "cachetally packed trace");
        group.set_attribute("version", 4);
        file.finish();
    }
    EXPECT_THAT(message_of([&] { open_trace(directory / "later.h5"); }),
                HasSubstr("has version 4, but only version 3 is known; it needs a later cachetally"));
    write_contents(directory / "text", " L 10,4\n");
    TraceOptions packed;
    packed.format = TraceFormat::packed;
    EXPECT_THAT(message_of([&] { open_trace(directory / "text", packed); }), HasSubstr("text: is not an HDF5 file"));
    write_packed(directory / "t.h5", {random_stream(1, 10)});
    if (std::system(("gzip -k " + (directory / "t.h5")).c_str()) == 0) {
        EXPECT_THAT(message_of([&] { open_trace(directory / "t.h5.gz"); }),
                    HasSubstr("a packed trace must be given by the name of its file"));
    }
}

TEST(PackedTraceWriter, KeepsWhatCameBeforeAnError) {
    const TemporaryDirectory directory;
    write_contents(directory / "t.txt", " L 10,4\n S 20,8\n L 30\n");
    PackedTraceWriter writer(directory / "t.h5", 1);
    const auto source = open_trace(directory / "t.txt");
    EXPECT_THAT(message_of([&] { convert(*source, writer); }), HasSubstr("t.txt:3:6: a comma is missing"));
    writer.keep_partial("the input is damaged");
    const TraceInfo info = trace_info(directory / "t.h5");
    EXPECT_FALSE(info.complete);
    EXPECT_EQ(info.references(), 2U);
}

TEST(PackedTraceWriter, RefusesWhatCannotBe) {
    const TemporaryDirectory directory;
    EXPECT_THROW(PackedTraceWriter(directory / "t.h5", 0), std::invalid_argument);
    EXPECT_THROW(PackedTraceWriter(directory / "t.h5", 1, {ResultFile::Existing::refuse, 0, 1}), std::invalid_argument);
    EXPECT_THROW(PackedTraceWriter(directory / "t.h5", 1, {ResultFile::Existing::refuse, 100, 99}),
                 std::invalid_argument);
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(Convert, StopsAtALimitAndWhenAsked) {
    const TemporaryDirectory directory;
    Stream stream;
    for (unsigned i = 0; i < 5000; ++i) stream.push_back(event(Reference{i * 8U, 0, 8, ReferenceKind::load, 0}));
    {
        MemorySource source({stream}, 700);
        PackedTraceWriter writer(directory / "limit.h5", 1);
        ConvertOptions options;
        options.max_references = 1500;
        EXPECT_EQ(convert(source, writer, options).references, 1500U);
        writer.finish();
    }
    EXPECT_EQ(references_of(read_stream(*open_trace(directory / "limit.h5"))).size(), 1500U);
    {
        MemorySource source({stream}, 700);
        PackedTraceWriter writer(directory / "asked.h5", 1);
        ConvertOptions options;
        options.progress = [](std::uint64_t references) { return references < 2000; };
        const ConvertResult result = convert(source, writer, options);
        EXPECT_TRUE(result.interrupted);
        EXPECT_EQ(result.references, 2100U);
    }
}

/// Asks every stream only when it may be asked: never across a barrier before all have arrived.
class StrictSource : public MemorySource {
public:
    using MemorySource::MemorySource;
    Batch next(unsigned core) override {
        const Batch batch = MemorySource::next(core);
        if (arrived_.empty()) arrived_.resize(cores());
        EXPECT_EQ(arrived_[core], *std::min_element(arrived_.begin(), arrived_.end())) << "asked across a barrier";
        arrived_[core] += batch.control.kind == Control::Kind::barrier ? 1 : 0;
        return batch;
    }

private:
    std::vector<unsigned> arrived_;
};

TEST(Convert, WaitsAtBarriers) {
    const TemporaryDirectory directory;
    std::vector<Stream> streams(3);
    for (unsigned core = 0; core < 3; ++core) {
        for (unsigned phase = 0; phase < 4; ++phase) {
            for (unsigned i = 0; i < 100 * (core + 1); ++i)
                streams[core].push_back(event(Reference{i * 8U, 0, 8, ReferenceKind::load, 0}));
            streams[core].push_back(event(Control{Control::Kind::barrier, 0}));
        }
    }
    StrictSource source(streams, 64);
    PackedTraceWriter writer(directory / "t.h5", 3);
    convert(source, writer);
    writer.finish();
    const TraceInfo info = trace_info(directory / "t.h5");
    EXPECT_EQ(info.phases, 5U);
    EXPECT_EQ(info.controls, 12U);
    EXPECT_EQ(info.references(), 2400U);
    const auto packed = open_trace(directory / "t.h5");
    for (unsigned core = 0; core < 3; ++core) EXPECT_EQ(read_stream(*packed, core), ended(streams[core]));
}

TEST(TraceInfo, CountsKindsLinesAndPages) {
    const TemporaryDirectory directory;
    write_contents(directory / "t.txt", "==1== x\nI  1000,4\n L 103e,4\n S 2000,1\n M 2001,1\n L 5000,8192\n");
    const TraceInfo info = trace_info(directory / "t.txt");
    EXPECT_EQ(info.format, TraceFormat::lackey);
    EXPECT_EQ(info.cores, 1U);
    EXPECT_EQ(info.fetches, 1U);
    EXPECT_EQ(info.loads, 3U);
    EXPECT_EQ(info.stores, 2U);
    EXPECT_EQ(info.lines, 2U + 1U + 128U);  // 0x1000 and 0x1040; 0x2000; two pages
    EXPECT_EQ(info.pages, 4U);
    EXPECT_EQ(info.phases, 1U);
    EXPECT_EQ(info.text_lines, 6U);
    EXPECT_EQ(info.skipped_lines, 1U);
    EXPECT_EQ(info.file_bytes, std::filesystem::file_size(directory / "t.txt"));
}

}  // namespace
}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// replay and trace: counts worked out by hand, and traces that are not what they should be.
#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/traces.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string compressed(const std::string& text, int (*filter)(archive*)) {
    std::string packed(text.size() + 4096, '\0');
    std::size_t used = 0;
    archive* writer = archive_write_new();
    archive_write_set_format_raw(writer);
    filter(writer);
    archive_write_set_bytes_in_last_block(writer, 1);
    archive_write_open_memory(writer, packed.data(), packed.size(), &used);
    archive_entry* entry = archive_entry_new();
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_write_header(writer, entry);
    archive_write_data(writer, text.data(), text.size());
    archive_entry_free(entry);
    archive_write_close(writer);
    archive_write_free(writer);
    packed.resize(used);
    return packed;
}

/// By hand: fetches touch one line twice (1 miss). Data: lines 10000000 and 10000040 are loaded by the first load (2
/// accesses, 2 misses), then load, store of the first line and a store of the second hit.
void expect_counts(const Finished& finished) {
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(finished.err, "");
    const auto told = finished.json();
    EXPECT_EQ(told["references"], 6);
    EXPECT_EQ(told["complete"], true);
    const auto& level = told["levels"]["L1"];
    EXPECT_EQ(level["loads"], 3);
    EXPECT_EQ(level["load_misses"], 2);
    EXPECT_EQ(level["stores"], 2);
    EXPECT_EQ(level["store_misses"], 0);
    EXPECT_EQ(level["writebacks_in"], 0);
    EXPECT_EQ(level["writeback_misses"], 0);
    EXPECT_EQ(level["fetches"], 2);
    EXPECT_EQ(level["fetch_misses"], 1);
    EXPECT_EQ(told["phases"].size(), 1U);
}

TEST_F(Traces, AreCountedAsByHandInEveryForm) {
    pack("t.lackey", "t.ct.h5");
    pack("t.ct.h5", "again.ct.h5");
    put("t.gz", compressed(lackey, archive_write_add_filter_gzip));
    put("t.xz", compressed(din, archive_write_add_filter_xz));
    put("t.zst", compressed(lackey, archive_write_add_filter_zstd));
    put("t.lz4", compressed(lackey, archive_write_add_filter_lz4));
    for (const std::string name : {"t.lackey", "t.din", "t.ct.h5", "again.ct.h5", "t.gz", "t.xz", "t.zst", "t.lz4"}) {
        SCOPED_TRACE(name);
        expect_counts(replay(name));
    }
}

TEST_F(Traces, ComeThroughStandardInput) {
    for (const std::string& text :
         {std::string(lackey), std::string(din), compressed(lackey, archive_write_add_filter_gzip)}) {
        Circumstances circumstances;
        circumstances.input = text;
        expect_counts(replay("-", circumstances));
    }
}

TEST_F(Traces, WithoutFetches) {
    const Finished finished = call({"replay", "t.din", "-m", "m.yaml", "--json", "--data-only"});
    EXPECT_EQ(finished.json()["references"], 4);
    EXPECT_EQ(finished.json()["levels"]["L1"]["fetches"], 0);
}

TEST_F(Traces, AreSweptLikeKernels) {
    const Finished finished = call({"sweep", "t.lackey", "--data-only", "-m", "m.yaml", "--counters", "1",
                                    "--granularity", "1", "--eviction", "fifo", "--json"});
    ASSERT_EQ(finished.status, 0) << finished.err;
    const auto row = finished.json()["rows"][0];
    // Lines in order: 0, 1, 0, 0, 1 with one counter: swapped out at each of the three changes, and at the end.
    EXPECT_EQ(row["swapouts"], 4);
    EXPECT_EQ(row["error"], 0.0);
}

TEST_F(Traces, Info) {
    pack("t.lackey", "t.ct.h5");
    for (const std::string name : {"t.lackey", "t.ct.h5"}) {
        const auto told = call({"trace", "info", name, "--json"}).json();
        EXPECT_EQ(told["format"], name == "t.lackey" ? "lackey" : "packed");
        EXPECT_EQ(told["references"], 6);
        EXPECT_EQ(told["loads"], 2);
        EXPECT_EQ(told["stores"], 2);
        EXPECT_EQ(told["fetches"], 2);
        EXPECT_EQ(told["cores"], 1);
        EXPECT_EQ(told["phases"], 1);
        EXPECT_EQ(told["lines"], 3);
        EXPECT_EQ(told["pages"], 2);
        EXPECT_EQ(told["addresses"]["lowest"], 0x401000);
        EXPECT_EQ(told["addresses"]["highest"], 0x10000043);
        EXPECT_EQ(told["complete"], true);
        const auto size = std::filesystem::file_size(directory / name);
        EXPECT_EQ(told["file_bytes"], size);
        EXPECT_DOUBLE_EQ(told["bytes_per_reference"], static_cast<double>(size) / 6);
    }
    const auto text = call({"trace", "info", "t.lackey", "--json"}).json()["text"];
    EXPECT_EQ(text["lines"], 10);
    EXPECT_EQ(text["skipped"], 5);
}

TEST_F(Traces, ConvertStopsWhereItIsTold) {
    EXPECT_EQ(call({"trace", "convert", "t.din", "o.h5", "--max-references", "3", "--json"}).json()["references"], 3);
    EXPECT_EQ(call({"trace", "info", "o.h5", "--json"}).json()["fetches"], 2);
}

TEST_F(Traces, ConvertIsDeterministicButForProvenance) {
    const auto packed = [&] {
        const Finished finished = call({"trace", "convert", "t.din", "o.h5", "--force"});
        EXPECT_EQ(finished.status, 0);
        return finished.out;
    };
    EXPECT_EQ(packed(), packed());
}

TEST_F(Traces, DamagedTextTellsLineAndColumn) {
    put("bad.lackey", std::string(lackey) + " L 1000003g,8\n S 10,4\n");
    const Finished finished = replay("bad.lackey");
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("bad.lackey:11:11: "));
    EXPECT_EQ(finished.json()["complete"], false);
    EXPECT_EQ(finished.json()["references"], 6);  // what came before stays
    put("bad.din", std::string(din) + "0 xyz\n");
    EXPECT_THAT(replay("bad.din").err, HasSubstr("bad.din:7:3: "));
    put("label.din", std::string(din) + "7 10\n");
    EXPECT_THAT(replay("label.din").err, HasSubstr("label.din:7:1: "));
}

TEST_F(Traces, ConvertKeepsWhatCameBeforeTheDamageMarkedPartial) {
    put("bad.din", std::string(din) + "0 xyz\n");
    const Finished finished = call({"trace", "convert", "bad.din", "o.h5"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("bad.din:7:3: "));
    EXPECT_THAT(finished.err, HasSubstr("o.h5 keeps the 6 references"));
    const auto told = call({"trace", "info", "o.h5", "--json"}).json();
    EXPECT_EQ(told["complete"], false);
    EXPECT_EQ(told["references"], 6);
}

TEST_F(Traces, ConvertLeavesNothingWhereNothingCouldBeRead) {
    put("bad.din", "0 xyz\n");
    const std::string before = listing(directory.path());
    const Finished finished = call({"trace", "convert", "bad.din", "o.h5", "--format", "din"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("nothing was written"));
    EXPECT_EQ(listing(directory.path()), before);
}

TEST_F(Traces, InfoOfADamagedTraceCoversWhatCameBefore) {
    put("bad.din", std::string(din) + "0 xyz\n");
    const Finished finished = call({"trace", "info", "bad.din", "--json"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.json()["references"], 6);
    EXPECT_THAT(std::string(finished.json()["failure"]), HasSubstr("bad.din:7:3: "));
    EXPECT_THAT(finished.err, HasSubstr("bad.din:7:3: "));
}

TEST_F(Traces, TruncatedPackedTraces) {
    pack("t.lackey", "t.ct.h5");
    const std::string whole = contents(directory / "t.ct.h5");
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
        SCOPED_TRACE(size);
        put("cut.ct.h5", whole.substr(0, size));
        for (const std::vector<std::string>& words : {std::vector<std::string>{"replay", "cut.ct.h5", "-m", "m.yaml"},
                                                      {"trace", "info", "cut.ct.h5"},
                                                      {"trace", "convert", "cut.ct.h5", "o.h5"}}) {
            const Finished finished = call(words);
            EXPECT_EQ(finished.status, 1) << finished.out;
            EXPECT_THAT(finished.err, HasSubstr("cut.ct.h5"));
            EXPECT_FALSE(std::filesystem::exists(directory / "o.h5"));
        }
    }
}

TEST_F(Traces, EveryChangedByteOfAPackedTraceIsNoticedOrHarmless) {
    pack("t.lackey", "t.ct.h5");
    const std::string whole = contents(directory / "t.ct.h5");
    for (std::size_t place = 11; place < whole.size(); place += whole.size() / 40) {
        std::string changed = whole;
        changed[place] = static_cast<char>(changed[place] ^ 0x40);
        put("changed.ct.h5", changed);
        const Finished finished = replay("changed.ct.h5");
        EXPECT_EQ(finished.signal, 0);
        if (finished.status == 0)
            EXPECT_EQ(finished.json()["references"], 6) << place;
        else
            EXPECT_THAT(finished.err, HasSubstr("changed.ct.h5")) << place;
    }
}

TEST_F(Traces, TruncatedCompressedText) {
    std::string long_text;
    for (int i = 0; i < 2000; ++i) long_text += "0 " + std::to_string(i * 7919) + "\n";
    for (const auto filter : {archive_write_add_filter_gzip, archive_write_add_filter_xz, archive_write_add_filter_zstd,
                              archive_write_add_filter_lz4}) {
        const std::string packed = compressed(long_text, filter);
        put("cut.z", packed.substr(0, packed.size() - 20));
        const Finished finished = replay("cut.z");
        EXPECT_EQ(finished.status, 1);
        EXPECT_THAT(finished.err, HasSubstr("cut.z"));
    }
}

TEST_F(Traces, ForeignFiles) {
    put("prose.txt", "Now is the time\nfor all good men\n");
    put("zeros.bin", std::string(100000, '\0'));
    put("foreign.h5", std::string("\x89HDF\r\n\x1a\n", 8) + std::string(2000, '\x55'));
    put("empty", "");
    put("empty.gz", compressed("", archive_write_add_filter_gzip));
    std::filesystem::create_directory(directory.path() / "folder");
    for (const std::string name : {"prose.txt", "zeros.bin", "foreign.h5", "empty", "empty.gz", "folder", "absent"}) {
        SCOPED_TRACE(name);
        for (const std::vector<std::string>& words : {std::vector<std::string>{"replay", name, "-m", "m.yaml"},
                                                      {"trace", "info", name},
                                                      {"trace", "convert", name, "o.h5"}}) {
            const Finished finished = call(words);
            EXPECT_EQ(finished.status, name == "absent" ? 2 : 1);  // nothing of that name: a wrong command line
            EXPECT_THAT(finished.err, HasSubstr(name));
            EXPECT_EQ(finished.out, "");
            EXPECT_FALSE(std::filesystem::exists(directory / "o.h5"));
            EXPECT_FALSE(std::filesystem::exists(directory / "o.h5.part"));
        }
    }
    EXPECT_THAT(call({"trace", "info", "prose.txt"}).err, HasSubstr("--format"));
    EXPECT_THAT(call({"trace", "info", "empty"}).err, HasSubstr("is empty"));
    EXPECT_THAT(call({"trace", "info", "folder"}).err, HasSubstr("is a directory"));
    EXPECT_THAT(call({"trace", "info", "absent"}).err, HasSubstr("No such file"));
}

TEST_F(Traces, AResultFileIsNotATrace) {
    // Any HDF5 file without a trace.
    const Finished made = call({"run", "chase", "-o", "result.h5", "--max-references", "1000"});
    ASSERT_TRUE(std::filesystem::exists(directory / "result.h5")) << made.err;
    const Finished finished = replay("result.h5");
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("result.h5: is an HDF5 file, but not a packed trace"));
}

TEST_F(Traces, ThePackedFormDoesNotComeThroughPipes) {
    pack("t.lackey", "t.ct.h5");
    Circumstances circumstances;
    circumstances.input = contents(directory / "t.ct.h5");
    const Finished finished = replay("-", circumstances);
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("name of its file"));
}

TEST_F(Traces, TheWrongFormatIsTold) {
    const Finished finished = call({"replay", "t.din", "--format", "packed"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("t.din: is not an HDF5 file"));
    const Finished other = call({"replay", "t.din", "--format", "lackey"});
    EXPECT_EQ(other.status, 1);
    EXPECT_THAT(other.err, HasSubstr("holds no line of the trace"));
}

TEST_F(Traces, OneThatMayNotBeRead) {
    std::filesystem::permissions(directory.path(), std::filesystem::perms(0755));
    std::filesystem::permissions(directory / "t.din", std::filesystem::perms::none);
    Circumstances circumstances;
    circumstances.as_nobody = true;
    const Finished finished = call({"trace", "info", "t.din"}, circumstances);
    if (finished.status >= 126) GTEST_SKIP() << "the program is in a directory that others may not enter";
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("t.din: cannot be opened: Permission denied"));
}

TEST_F(Traces, AMonitorDoesNotSwallowTheTraceBehindIt) {
    const Finished finished = call({"replay", "-m", "m.yaml", "--json", "--monitor", "link=core-L1,counters=4",
                                    "--monitor", "link=L1-memory,counters=4", "t.din"});
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(finished.json()["monitors"].size(), 2U);
}

TEST_F(Traces, NamesThatAreNoUtf8AreTold) {
    put("caf\xe9.din", din);
    const Finished finished = call({"replay", "caf\xe9.din", "-m", "m.yaml", "--json"});
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(finished.json()["references"], 6);
}

}  // namespace
}  // namespace cachetally::testing

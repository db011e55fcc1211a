// SPDX-License-Identifier: BSD-3-Clause
// Traces that are not whole, or hold more than references: what is made of them says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/file.hpp"
#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class Partial : public ::testing::Test {
protected:
    Partial() {
        write_contents(directory / "bad.din", "0 1000\n1 2000\n0 3000\nbroken\n");
        EXPECT_EQ(call({"trace", "convert", "bad.din", "part.h5"}).status, 1);
    }
    Finished call(const Words& words) const { return cachetally(directory.path(), words); }
    TemporaryDirectory directory;
};

TEST_F(Partial, TracesGivePartialResults) {
    for (const Words& words : {Words{"replay", "part.h5"}, {"sweep", "part.h5", "--counters", "4"}}) {
        Words with_file = words;
        with_file.insert(with_file.end(), {"-o", "r.h5", "--force"});
        Words as_json = with_file;
        as_json.emplace_back("--json");
        const Finished text = call(with_file), told = call(as_json);
        for (const Finished* finished : {&text, &told}) {
            EXPECT_EQ(finished->status, 0);  // all that is there was done
            EXPECT_THAT(finished->err, HasSubstr("warning: part.h5 is marked partial"));
            EXPECT_THAT(finished->err, HasSubstr("bad.din:4:1"));
        }
        EXPECT_THAT(text.out, HasSubstr("PARTIAL: the trace is marked partial"));
        EXPECT_EQ(told.json()["complete"], false);
        EXPECT_EQ(told.json()["references"], 3);
        EXPECT_THAT(std::string(told.json()["incomplete"]), HasSubstr("bad.din:4:1"));
        EXPECT_TRUE(call({"show", "r.h5", "--json"}).json() == told.json());
        const InputFile file(directory / "r.h5");
        EXPECT_EQ(file.root().whole_attribute("complete"), 0U);
        EXPECT_THAT(file.root().text_attribute("incomplete"), HasSubstr("the trace is marked partial"));
    }
}

TEST_F(Partial, TracesStayPartialWhenConverted) {
    const Finished finished = call({"trace", "convert", "part.h5", "again.h5"});
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.err, HasSubstr("warning: part.h5 is marked partial"));
    EXPECT_THAT(finished.out, HasSubstr("(partial)"));
    const auto info = call({"trace", "info", "again.h5", "--json"}).json();
    EXPECT_EQ(info["complete"], false);
    EXPECT_THAT(std::string(info["incomplete"]), HasSubstr("its source is marked partial"));
    EXPECT_THAT(call({"trace", "info", "again.h5"}).out, HasSubstr("packed, marked partial: its source"));
}

/// What valgrind and the program say between is skipped; that is told, for a damaged line may look like that.
TEST_F(Partial, LinesThatWereSkippedAreTold) {
    write_contents(directory / "t.lackey", "==1== Lackey\n L 1000,8\nhello\n S 2000,8\n\n");
    for (const Words& words : {Words{"replay", "t.lackey"}, {"sweep", "t.lackey", "--counters", "4"}}) {
        Words with_file = words;
        with_file.insert(with_file.end(), {"-o", "r.h5", "--force"});
        Words as_json = with_file;
        as_json.emplace_back("--json");
        EXPECT_THAT(call(with_file).out, HasSubstr("3 of the 5 lines of the trace skipped: not references"));
        const auto told = call(as_json).json();
        EXPECT_EQ(told["complete"], true);
        EXPECT_EQ(told["text"]["lines"], 5);
        EXPECT_EQ(told["text"]["skipped"], 3);
        EXPECT_TRUE(call({"show", "r.h5", "--json"}).json() == told);
    }
    EXPECT_THAT(call({"trace", "convert", "t.lackey", "t.h5"}).out,
                HasSubstr("3 lines of t.lackey skipped: not references"));
    // How far readers are ahead of a run that stops before the end is chance.
    EXPECT_FALSE(call({"replay", "t.lackey", "--max-references", "1", "--json"}).json().contains("text"));
}

TEST_F(Partial, ALineOfTheTraceThatIsDamagedIsNotSkipped) {
    write_contents(directory / "t.lackey", " L 1000,8\n S zz00,8\n L 3000,8\n");
    const Finished finished = call({"replay", "t.lackey", "--json"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("t.lackey:2:4: the hexadecimal address is missing"));
    EXPECT_EQ(finished.json()["references"], 1);
}

TEST_F(Partial, WhatOnlyBeginsCompressedIsDamaged) {
    write_contents(directory / "t.gz", "\x1f\x8bgarbage");
    EXPECT_THAT(call({"replay", "t.gz"}).err, HasSubstr("t.gz: begins as gzip and goes on otherwise"));
}

TEST_F(Partial, AbsentFilesAreWrongUse) {
    for (const Words& words : {Words{"replay", "./absent"},
                               {"sweep", "./absent"},
                               {"trace", "info", "absent"},
                               {"show", "absent.h5"},
                               {"view", "absent.h5"},
                               {"report", "absent.h5", "-o", "r.html"},
                               {"figure", "heat", "absent.h5", "-o", "f.pdf"}}) {
        const Finished finished = call(words);
        EXPECT_EQ(finished.status, 2) << words.front();
        EXPECT_THAT(finished.err, HasSubstr("No such file"));
    }
}

}  // namespace
}  // namespace cachetally::testing

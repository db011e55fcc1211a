// SPDX-License-Identifier: BSD-3-Clause
// Machine files that cannot be used: what is wrong, where, and what would be right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;

constexpr char good[] =
    "name: tiny\n"
    "cores: 1\n"
    "clock: 1 GHz\n"
    "caches:\n"
    "  - {name: L1, size: 1 KiB, ways: 2, line: 64, latency: 1, next: memory}\n"
    "memory: {size: 1 GiB, latency: 100}\n";

/// The good machine with `from` replaced.
std::string changed(const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
}

Finished check(const TemporaryDirectory& directory, const std::string& text) {
    write_contents(directory / "m.yaml", text);
    return cachetally(directory.path(), {"machine", "check", "m.yaml"});
}

TEST(BadMachine, TheGoodOneIsGood) {
    const TemporaryDirectory directory;
    const Finished finished = check(directory, good);
    EXPECT_EQ(finished.status, 0) << finished.err;
}

TEST(BadMachine, WhatIsInAGoodOneAsJson) {
    const TemporaryDirectory directory;
    write_contents(directory / "m.yaml", std::string(good) + "monitors:\n  - {link: core-L1}\n");
    const Finished finished = cachetally(directory.path(), {"machine", "check", "m.yaml", "--json"});
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(finished.json(), nlohmann::json({{"file", "m.yaml"}, {"components", 3}, {"links", 2}, {"monitors", 1}}));
}

TEST(BadMachine, MalformedYamlTellsThePlace) {
    const TemporaryDirectory directory;
    const Finished finished = check(directory, changed("line: 64,", "line: 64 ]"));
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.err, HasSubstr("m.yaml:5:"));
}

TEST(BadMachine, ImpossibleGeometryTellsThePlaceAndWhatWouldBeRight) {
    const TemporaryDirectory directory;
    const Finished finished = check(directory, changed("size: 1 KiB", "size: 1000"));
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.err, HasSubstr("m.yaml:5:"));
    EXPECT_THAT(finished.err, HasSubstr("1000"));
}

TEST(BadMachine, UnknownNamesAreToldTheNearest) {
    const TemporaryDirectory directory;
    EXPECT_THAT(check(directory, changed("ways:", "way:")).err, HasSubstr("'ways'"));
    const Finished finished = check(directory, changed("next: memory", "next: L3"));
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.err, HasSubstr("m.yaml:5:"));
    EXPECT_THAT(finished.err, HasSubstr("L3"));
}

TEST(BadMachine, AllErrorsAtOnce) {
    const TemporaryDirectory directory;
    std::string text = changed("ways: 2", "ways: 0x");
    text.replace(text.find("latency: 100"), 12, "latency: -1");
    const Finished finished = check(directory, text);
    EXPECT_THAT(finished.err, HasSubstr("m.yaml:5:"));
    EXPECT_THAT(finished.err, HasSubstr("m.yaml:6:"));
}

TEST(BadMachine, MonitorsAreChecked) {
    const TemporaryDirectory directory;
    const std::string text = std::string(good) + "monitors:\n  - {link: core-L9}\n  - {link: core-L1, cores: [2]}\n";
    const Finished checked = check(directory, text);
    EXPECT_EQ(checked.status, 2);
    EXPECT_THAT(checked.err, HasSubstr("m.yaml:8:12: error: machine 'tiny' has no link 'core-L9'"));
    EXPECT_THAT(checked.err, HasSubstr("m.yaml:9:28: error: there is no core 2"));
    EXPECT_EQ(cachetally(directory.path(), {"run", "stream", "-m", "m.yaml"}).err, checked.err);
    EXPECT_THAT(check(directory, std::string(good) + "monitors:\n  - {link: core-L1}\n").out,
                HasSubstr("3 components and 2 links, 1 monitor"));
}

TEST(BadMachine, OneWithoutANameHasThatOfItsFile) {
    const TemporaryDirectory directory;
    check(directory, changed("name: tiny\n", ""));
    EXPECT_EQ(cachetally(directory.path(), {"machine", "show", "m.yaml"}).out.substr(0, 2), "m\n");
}

TEST(BadMachine, NumbersOutOfRange) {
    const TemporaryDirectory directory;
    for (const auto& [from, to] : {std::pair{"cores: 1", "cores: 0"},
                                   {"cores: 1", "cores: 99999999999999999999"},
                                   {"1 GHz", "0 GHz"},
                                   {"ways: 2", "ways: -2"},
                                   {"line: 64", "line: 63"},
                                   {"size: 1 KiB", "size: 99999999 TiB"}}) {
        const Finished finished = check(directory, changed(from, to));
        EXPECT_EQ(finished.status, 2) << to;
        EXPECT_THAT(finished.err, HasSubstr("m.yaml:")) << to;
    }
}

TEST(BadMachine, SizesOutOfRangeAreNotSaidToBeNone) {
    const TemporaryDirectory directory;
    const auto told = [&](const char* size) { return check(directory, changed("size: 1 GiB", size)).err; };
    EXPECT_THAT(told("size: 99999999 TiB"), HasSubstr("m.yaml:6:16: error: '99999999 TiB' is out of range for 'size'; "
                                                      "write a size from 0 to less than 8192 TiB"));
    EXPECT_THAT(told("size: -4 KiB"), HasSubstr("'-4 KiB' is out of range for 'size'"));
    EXPECT_THAT(told("size: 4 Kib"), HasSubstr("'4 Kib' is not a size for 'size'"));
    EXPECT_THAT(told("size: 1.3"), HasSubstr("'1.3' is not a size for 'size'"));
}

TEST(BadMachine, TextThatIsNotUtf8) {
    const TemporaryDirectory directory;
    for (const bool marked : {true, false}) {
        std::string utf16(marked ? "\xff\xfe" : "");
        for (const char letter : std::string(good)) utf16 += {letter, '\0'};
        const Finished finished = check(directory, utf16);
        EXPECT_EQ(finished.status, 2);
        EXPECT_THAT(finished.err, HasSubstr("UTF-16"));
        EXPECT_THAT(finished.err, HasSubstr("UTF-8"));
    }
    const Finished finished = check(directory, changed("cores", "co\xffres"));
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.err, HasSubstr("m.yaml:2:3: error: a byte here is no UTF-8"));
}

TEST(BadMachine, TabsInTheIndentation) {
    const TemporaryDirectory directory;
    std::string nested = good;
    nested.replace(nested.find("memory: {"), std::string::npos, "memory:\n\tsize: 1 GiB\n");
    EXPECT_THAT(check(directory, nested).err,
                HasSubstr("m.yaml:7:1: error: this is not valid YAML: a tab in the indentation; write spaces"));
    EXPECT_THAT(check(directory, changed("  - {", "  \t- {")).err,
                HasSubstr("m.yaml:5:3: error: this is not valid YAML: a tab"));
    EXPECT_EQ(check(directory, changed("cores: 1", "cores:\t1")).status, 0);
}

/// Sharing that is impossible is told once, with advice that helps.
TEST(BadMachine, SharingThatIsImpossibleIsToldOnce) {
    const TemporaryDirectory directory;
    std::string text = changed("cores: 1", "cores: 4");
    text.replace(text.find("next: memory"), 12, "next: L2, shared_by: 3");
    text.insert(text.find("memory: {"), "  - {name: L2, size: 8 KiB, ways: 2, line: 64, latency: 9, next: memory}\n");
    const Finished finished = check(directory, text);
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.err, "m.yaml:5:81: error: 'L1' is shared by 3 of 4 cores; write a divisor of 4, or all\n");
}

TEST(BadMachine, FilesThatAreNone) {
    const TemporaryDirectory directory;
    std::filesystem::create_directory(directory.path() / "folder.yaml");
    write_contents(directory / "empty.yaml", "");
    write_contents(directory / "binary.yaml", std::string("\0\x01\xff\xfe\x89HDF", 8));
    write_contents(directory / "t.din", "0 10\n");
    for (const std::string name : {"folder.yaml", "empty.yaml", "binary.yaml", "absent.yaml"}) {
        for (const std::vector<std::string>& words :
             {std::vector<std::string>{"machine", "check", name}, {"replay", "t.din", "--machine", name}}) {
            const Finished finished = cachetally(directory.path(), words);
            EXPECT_EQ(finished.status, 2) << name;
            EXPECT_THAT(finished.err, HasSubstr(name));
            EXPECT_EQ(finished.out, "");
        }
    }
}

TEST(BadMachine, OneThatMayNotBeRead) {
    const TemporaryDirectory directory;
    std::filesystem::permissions(directory.path(), std::filesystem::perms(0755));
    write_contents(directory / "m.yaml", good);
    std::filesystem::permissions(directory / "m.yaml", std::filesystem::perms::none);
    Circumstances circumstances;
    circumstances.as_nobody = true;
    const Finished finished = cachetally(directory.path(), {"machine", "check", "m.yaml"}, circumstances);
    if (finished.status >= 126) GTEST_SKIP() << "the program is in a directory that others may not enter";
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.err, HasSubstr("m.yaml"));
    EXPECT_THAT(finished.err, HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace cachetally::testing

// SPDX-License-Identifier: BSD-3-Clause
// Completions and manual pages beside the help of all commands, asked of the shells and of man where these are there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using Words = std::vector<std::string>;

bool is_there(const std::string& program) {
    return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
}

Words lines_of(const std::string& text) {
    Words lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

/// What a shell prints.
std::string said_by(const TemporaryDirectory& directory, const std::string& command) {
    const std::string out = directory / "said";
    EXPECT_EQ(std::system((command + " > " + out + " 2>&1").c_str()), 0) << command;
    return contents(out);
}

/// What bash offers for the last word of a line.
Words offered(const TemporaryDirectory& directory, const std::string& line) {
    write_contents(directory / "c.bash", cachetally(directory.path(), {"completion", "bash"}).out);
    write_contents(directory / "ask.bash", "source " + (directory / "c.bash") + "\nCOMP_WORDS=(" + line +
                                               ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_cachetally\n"
                                               "printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    return lines_of(said_by(directory, "cd " + directory.path().string() + " && bash " + (directory / "ask.bash")));
}

TEST(Completion, OffersCommandsOptionsAndValues) {
    const TemporaryDirectory directory;
    EXPECT_THAT(offered(directory, "cachetally ru"), UnorderedElementsAre("run"));
    EXPECT_THAT(offered(directory, "cachetally trace con"), UnorderedElementsAre("convert"));
    EXPECT_THAT(offered(directory, "cachetally run --with ''"),
                UnorderedElementsAre("auto", "valgrind", "compiled", "lackey"));
    EXPECT_THAT(offered(directory, "cachetally run --with = l"), UnorderedElementsAre("lackey"));
    EXPECT_THAT(offered(directory, "cachetally run lu -m generic3-"), UnorderedElementsAre("generic3-timed"));
    EXPECT_THAT(offered(directory, "cachetally run mat"), UnorderedElementsAre("matmul"));
    EXPECT_THAT(offered(directory, "cachetally run lu blo"), UnorderedElementsAre("block="));
    EXPECT_THAT(offered(directory, "cachetally run lu n = 64 lay"), UnorderedElementsAre("layout="));
    EXPECT_THAT(offered(directory, "cachetally run lu layout = con"), UnorderedElementsAre("contiguous"));
    EXPECT_THAT(offered(directory, "cachetally run lu n = ''"), UnorderedElementsAre(""));
    EXPECT_THAT(offered(directory, "cachetally run lu stack ="), UnorderedElementsAre("on", "off"));
    EXPECT_THAT(offered(directory, "cachetally run lu --with lac"), UnorderedElementsAre("lackey"));
    EXPECT_THAT(offered(directory, "cachetally trace convert radix keys"), UnorderedElementsAre("keys="));
    EXPECT_THAT(offered(directory, "cachetally replay --cou"), UnorderedElementsAre("--count"));
    write_contents(directory / "mine.yaml", "");
    EXPECT_THAT(offered(directory, "cachetally run lu --machine mi"), UnorderedElementsAre("mine.yaml"));
    EXPECT_THAT(offered(directory, "cachetally run -- mi"), Contains("mine.yaml"));
    EXPECT_THAT(offered(directory, "cachetally run --cores mi"), UnorderedElementsAre(""));  // a number
}

/// Long options that the help of a command lists.
std::set<std::string> options_in(const std::string& help) {
    std::set<std::string> found;
    const std::regex name("(^|,)(--[a-z][a-z0-9-]*)");
    for (std::string line : lines_of(help)) {
        line = line.substr(0, 2) == "  " && line.substr(2, 1) == "-" ? line.substr(2) : "";
        line = line.substr(0, line.find(' '));
        for (std::sregex_iterator at(line.begin(), line.end(), name), end; at != end; ++at) found.insert((*at)[2]);
    }
    return found;
}

TEST(Completion, AndManualHaveAllCommandsAndOptionsOfTheHelp) {
    const TemporaryDirectory directory;
    ASSERT_EQ(cachetally(directory.path(), {"manual", "pages"}).status, 0);
    const std::string all = cachetally(directory.path(), {"--help"}).out;
    const std::string listed =
        all.substr(all.find("\nCommands:"), all.find("\nFirst steps:") - all.find("\nCommands:"));
    const std::regex command_name("\n  ([a-z]+) ");
    std::size_t commands = 0;
    for (std::sregex_iterator at(listed.begin(), listed.end(), command_name), end; at != end; ++at, ++commands) {
        const std::string command = (*at)[1];
        EXPECT_THAT(offered(directory, "cachetally " + command), Contains(command));
        std::string page = contents(directory / ("pages/cachetally-" + command + ".1"));
        page = std::regex_replace(page, std::regex("\\\\-"), "-");
        const std::set<std::string> options = options_in(cachetally(directory.path(), {command, "--help"}).out);
        EXPECT_THAT(options, Not(IsEmpty())) << command;
        const Words words = offered(directory, "cachetally " + command + " --");
        for (const std::string& option : options) {
            EXPECT_THAT(page, HasSubstr(option)) << command;
            EXPECT_THAT(words, Contains(option)) << command;
        }
        EXPECT_EQ(words.size(), options.size()) << command;
    }
    EXPECT_GE(commands, 20U);
}

TEST(Completion, IsGoodForZsh) {
    if (!is_there("zsh")) GTEST_SKIP() << "zsh is not installed";
    const TemporaryDirectory directory;
    write_contents(directory / "_cachetally", cachetally(directory.path(), {"completion", "zsh"}).out);
    // a terminal of its own, in which Tab is pressed
    write_contents(directory / "ask.zsh",
                   "zmodload zsh/zpty\nzpty z zsh -f -i\n"
                   "zpty -w z \"PS1='> '; fpath=(" +
                       directory.path().string() + " \\$fpath); autoload -U compinit; compinit -u -d " +
                       (directory / "dump") +
                       "; print READY\"\n"
                       "until zpty -r -t z chunk && [[ $chunk == *READY* && $chunk != *print* ]]; do sleep 0.05; done\n"
                       "zpty -w -n z \"$1\"$'\\t'\nout=''\n"
                       "for i in {1..100}; do while zpty -r -t z chunk; do out+=$chunk; done\n"
                       "[[ $out == *\"$2\"* ]] && break; sleep 0.05; done\nprint -r -- \"$out\"\nzpty -d z\n");
    const auto after_tab = [&](const std::string& line, const std::string& expected) {
        return said_by(directory, "zsh -f " + (directory / "ask.zsh") + " '" + line + "' '" + expected + "'");
    };
    EXPECT_THAT(after_tab("cachetally run --with val", "valgrind"), HasSubstr("grind"));
    EXPECT_THAT(after_tab("cachetally trace conv", "convert"), HasSubstr("ert"));
    EXPECT_THAT(after_tab("cachetally run lu layout=con", "contiguous"), HasSubstr("tiguous"));
    EXPECT_THAT(after_tab("cachetally run lu --machine generic3-", "generic3-timed"), HasSubstr("timed"));
}

TEST(Completion, IsGoodForFish) {
    if (!is_there("fish")) GTEST_SKIP() << "fish is not installed";
    const TemporaryDirectory directory;
    write_contents(directory / "c.fish", cachetally(directory.path(), {"completion", "fish"}).out);
    const auto offers = [&](const std::string& line) {
        return said_by(directory, "HOME=" + directory.path().string() + " fish -N -c 'source " +
                                      (directory / "c.fish") + "; complete -C \"" + line + "\"'");
    };
    EXPECT_THAT(offers("cachetally ru"), HasSubstr("run\t"));
    EXPECT_THAT(offers("cachetally run --with "), HasSubstr("lackey"));
    EXPECT_THAT(offers("cachetally run lu lay"), HasSubstr("layout=contiguous"));
    EXPECT_THAT(offers("cachetally trace con"), HasSubstr("convert\t"));
    EXPECT_THAT(offers("cachetally machine show generic3-"), HasSubstr("generic3-timed"));
    EXPECT_THAT(offers("cachetally trace convert --with"), Not(HasSubstr("--with")));
}

TEST(Manual, IsReadByManWithoutWarnings) {
    const TemporaryDirectory directory;
    ASSERT_EQ(cachetally(directory.path(), {"manual", "pages"}).status, 0);
    EXPECT_THAT(contents(directory / "pages/cachetally.1"), HasSubstr(".SH COMMANDS"));
    if (!is_there("man")) GTEST_SKIP() << "man is not installed";
    for (const auto& page : std::filesystem::directory_iterator(directory / "pages"))
        EXPECT_EQ(said_by(directory, "(MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z " +
                                         page.path().string() + " 2>&1 > /dev/null)"),
                  "")
            << page.path();
}

TEST(Doctor, SaysWhatIsMissingAndWhatHelps) {
    const TemporaryDirectory directory;
    const Finished there = cachetally(directory.path(), {"doctor", "--json"});
    ASSERT_EQ(there.status, 0);
    const auto facts = nlohmann::json::parse(there.out)["facts"];
    EXPECT_GE(facts.size(), 15U);
    for (const auto& fact : facts) {
        EXPECT_NE(fact["found"], "") << fact;
        EXPECT_TRUE(fact["found"] != "no" || fact["what_to_do"] != "") << fact;
    }
    ::setenv("CACHETALLY_PYTHON", "/no/such/python", 1);
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", directory.path().c_str(), 1);  // where nothing is
    const Finished missing = cachetally(directory.path(), {"doctor"});
    ::setenv("PATH", path.c_str(), 1);
    ::unsetenv("CACHETALLY_PYTHON");
    EXPECT_EQ(missing.status, 0);
    for (const char* text : {"install the package valgrind", "install the package gcc", "install the package gfortran",
                             "/no/such/python: cannot be started", "install the package xdg-utils"})
        EXPECT_THAT(missing.out, HasSubstr(text));
}

}  // namespace
}  // namespace cachetally::testing

// SPDX-License-Identifier: BSD-3-Clause
// Options, keys and files from before a rename give what the present ones give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

class FormerNames : public ::testing::Test {
protected:
    Finished call(const Words& arguments) { return cachetally(directory.path(), arguments); }
    std::string good(const Words& arguments) {
        const Finished finished = call(arguments);
        EXPECT_EQ(finished.status, 0) << finished.err;
        return finished.out;
    }
    /// Runs Python with `f`, the open result file.
    void change(const std::string& file, const std::string& code) {
        std::ofstream(directory.path() / "change.py") << "import h5py\nf = h5py.File('" << file << "', 'r+')\n" << code;
        ASSERT_EQ(std::system(("cd '" + directory.path().string() + "' && /usr/bin/python3 change.py").c_str()), 0);
    }
    TemporaryDirectory directory;
};

TEST_F(FormerNames, OfOptions) {
    const Words l1{"probe", "l1", "--arena", "1"};
    const auto findings = [&](const Words& more) { return call(l1 + more + Words{"--json"}).json()["findings"]; };
    EXPECT_EQ(findings({"--hardened", "--on", "bcm2835"}), findings({"--robust", "--machine", "bcm2835"}));
    const Words campaign{"validate", "--machines", "2", "--tests", "l1"};
    const auto of = [](const std::string& text) { return text.substr(text.find("test  ")); };
    EXPECT_EQ(of(good(campaign + Words{"--hardened"})), of(good(campaign + Words{"--robust"})));
    const Finished former = call({"run", "lu", "n=16", "--no-errors", "--json"});
    ASSERT_EQ(former.status, 0) << former.err;
    EXPECT_EQ(former.json()["monitors"], call({"run", "lu", "n=16", "--no-exact", "--json"}).json()["monitors"]);
    EXPECT_THAT(call({"probe", "--on", "bcm2835", "--machine", "generic3"}).err,
                HasSubstr("--on is the former name of --machine; give one of them"));
}

TEST_F(FormerNames, AreNotInTheHelp) {
    EXPECT_THAT(good({"probe", "--help"}), Not(HasSubstr("--on")));
    EXPECT_THAT(good({"probe", "--help"}), Not(HasSubstr("--hardened")));
    EXPECT_THAT(good({"run", "--help"}), Not(HasSubstr("--no-errors")));
    EXPECT_THAT(call({"probe", "--harden"}).err, Not(HasSubstr("--hardened")));
}

TEST_F(FormerNames, OfInclusion) {
    std::ofstream(directory.path() / "m.yaml")
        << "name: m\ncaches:\n"
           "  - {name: L1, size: 1K, ways: 2, line: 64, next: L2}\n"
           "  - {name: L2, size: 8K, ways: 2, line: 64, next: memory, inclusion: neither}\n";
    EXPECT_THAT(good({"machine", "check", "m.yaml"}), Not(HasSubstr("error")));
}

TEST_F(FormerNames, OfTheCauseInvalidated) {
    good({"run", "lu", "n=32", "-m", "generic3", "--causes", "-o", "lu.h5"});
    const std::string before = good({"show", "lu.h5", "--json"});
    change("lu.h5", "for level in f['causes'].values(): level['misses'].move('invalidated', 'taken_away')\n");
    const auto now = nlohmann::json::parse(good({"show", "lu.h5", "--json", "--trust"}));
    EXPECT_EQ(now["causes"], nlohmann::json::parse(before)["causes"]);
}

TEST_F(FormerNames, OfVariantsInFiles) {
    good({"probe", "levels", "--robust", "--machine", "xray-pentium4xeon", "--arena", "4", "-o", "p.h5"});
    const std::string before = good({"show", "p.h5", "--json"});
    const std::string rename =
        "def old(value): return 'hardened' if value == 'robust' else value\n"
        "column = f['findings/variant']\n"
        "values = [old(each) for each in column.asstr()[:]]\n"
        "del f['findings/variant']\n"
        "column = f['findings'].create_dataset('variant', data=values, dtype=h5py.string_dtype(length=9))\n"
        "for groups in (f['curves'], f['tests']):\n"
        "    for group in groups.values(): group.attrs['variant'] = old(group.attrs['variant'])\n"
        "assert 'hardened' in list(column.asstr())\n";
    change("p.h5", rename);
    EXPECT_EQ(nlohmann::json::parse(good({"show", "p.h5", "--json", "--trust"}))["findings"],
              nlohmann::json::parse(before)["findings"]);
    good({"figure", "curves", "p.h5", "-o", "p.svg", "--variant", "hardened", "--trust"});
}

}  // namespace
}  // namespace cachetally::testing

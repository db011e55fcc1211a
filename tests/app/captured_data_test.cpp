// SPDX-License-Identifier: BSD-3-Clause
// Data of captured programs: elements of arrays from debugging information, and memory that programs map.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/app/captured.hpp"

namespace cachetally::testing {
namespace {

class CapturedData : public Captured {
protected:
    /// The program of arrays.c; false where there is no such compiler.
    bool compiled(const std::string& compiler, const std::string& options) const {
        if (std::system(("command -v " + compiler + " > /dev/null 2>&1").c_str()) != 0) return false;
        const std::string source = CACHETALLY_SOURCE_DIR "/tests/workloads/capture/programs/arrays.c";
        const std::string command = compiler + " -O1 -g " + options + " -o " + (directory / "arrays") + " " + source;
        EXPECT_EQ(std::system(command.c_str()), 0);
        return true;
    }
    /// "8", of two-dimensional arrays with the elements of a row, "8 x 30".
    static std::string elements_of(const Json& regions, const std::string& name) {
        for (const Json& region : regions)
            if (region["name"] == name)
                return region["element_bytes"].dump() +
                       (region["row_elements"] == 0 ? "" : " x " + region["row_elements"].dump());
        return "none";
    }
};

TEST_F(CapturedData, ElementsAreThoseOfTheTypes) {
    unsigned compilers = 0;
    for (const char* const compiler : {"gcc", "clang"})
        for (const char* const format : {"-gdwarf-4", "-gdwarf-5"}) {
            if (!compiled(compiler, format)) continue;
            ++compilers;
            const std::string with = std::string(compiler) + " " + format;
            const Finished done =
                cachetally(directory.path(), {"record", "-o", "t.ct.h5", "--force", "--", "./arrays"});
            EXPECT_EQ(done.status, 0) << with << done.err;
            const Json regions = cachetally(directory.path(), {"trace", "info", "t.ct.h5", "--json"}).json()["regions"];
            const std::string local = compiler == std::string("gcc") ? "local.0" : "main.local";
            const std::pair<std::string, const char*> right[] = {{"a", "8"},         {"p", "16"},   {"m", "8 x 30"},
                                                                 {"typed", "4 x 8"}, {"cube", "2"}, {"single", "8"},
                                                                 {"text", "1"},      {local, "4"}};
            for (const auto& [name, elements] : right)
                EXPECT_EQ(elements_of(regions, name), elements) << with << " " << name;
        }
    EXPECT_GE(compilers, 2U) << "gcc is missing";
}

TEST_F(CapturedData, MappedMemoryHasTheNameOfItsFileOrOfWhoMapsIt) {
    ASSERT_TRUE(compiled("gcc", ""));
    write_contents(directory / "numbers.bin", std::string(1 << 16, 'x'));
    const Finished done =
        cachetally(directory.path(), reported + Words{"--data-only", "-o", "r.h5", "--", "./arrays", "numbers.bin"});
    ASSERT_EQ(done.status, 0) << done.err;
    const Json report = this->report();
    const Json& structures = report["attribution"]["structures"];
    EXPECT_EQ(named(structures, "(numbers.bin)")["accesses"], 1024) << structures;
    EXPECT_EQ(named(structures, "mapped: fill arrays.c:")["accesses"], 1024) << structures;
}

}  // namespace
}  // namespace cachetally::testing

// SPDX-License-Identifier: BSD-3-Clause
// Data of programs that cachetally-cc compiles have the names that the capture under valgrind gives them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "tests/app/captured.hpp"

namespace cachetally::testing {
namespace {

using ::testing::IsSupersetOf;
using ::testing::Pair;
using ::testing::PrintToString;

using Rows = std::map<std::string, std::uint64_t>;  ///< accesses by name

const std::string memory = CACHETALLY_SOURCE_DIR "/tests/workloads/capture/programs/memory.c";

class CapturedByCompiled : public Captured {
protected:
    /// In the test's folder. `compiler` may set variables, and have options.
    void build(const std::string& compiler, const std::string& source, const std::string& name) const {
        const auto word = compiler.find("cachetally-");
        const std::string command =
            (word == std::string::npos ? compiler
                                       : compiler.substr(0, word) + CACHETALLY_COMPILERS "/" + compiler.substr(word)) +
            " -g -pthread -I" CACHETALLY_SOURCE_DIR "/include -o '" + (directory / name) + "' " + source + " -ldl";
        ASSERT_EQ(std::system(command.c_str()), 0) << command;
    }
    /// Accesses of each data structure.
    Rows rows(const std::string& with, const Words& program) const {
        const Finished done =
            cachetally(directory.path(), reported + Words{"--data-only", "--with", with, "--"} + program);
        EXPECT_EQ(done.status, 0) << done.err;
        Rows found;
        const Json report = this->report();
        for (const Json& row : report["attribution"]["structures"])
            found[row["name"]] += row["accesses"].get<std::uint64_t>();
        return found;
    }
    void build_library() const {
        write_contents(directory / "library.c", "long numbers[512];\n");
        build("gcc -shared -fPIC", directory / "library.c", "library.so");
    }
};

/// Those that it gives a number of accesses of their own.
void expect_memory(const Rows& rows) {
    const std::pair<const char*, std::uint64_t> right[] = {{"heap: wrapped memory.c:25 < matrix", 1001},
                                                           {"heap: wrapped memory.c:25 < table", 502},
                                                           {"heap: turned_off memory.c:", 303},
                                                           {"late", 44},
                                                           {"heap: own memory.c:", 204},
                                                           {"heap: released_elsewhere memory.c:", 210},
                                                           {"(n.dat)", 856},
                                                           {"mapped: of_nobody memory.c:", 707},
                                                           {"mapped: moved memory.c:", 310},
                                                           {"library.so:numbers", 48},
                                                           {"mapped: in_place_of memory.c:", 49},
                                                           {"(mapped memory)", 112},
                                                           {"(heap)", 611}};
    for (const auto& [begin, accesses] : right) {
        const auto row = rows.lower_bound(begin);
        ASSERT_TRUE(row != rows.end() && row->first.starts_with(begin)) << begin << PrintToString(rows);
        EXPECT_EQ(row->second, accesses) << row->first;
    }
    EXPECT_FALSE(rows.contains("(elsewhere)"));
}

/// What it allocates, maps and names; libraries do so on its behalf, too.
Rows own(const Rows& rows) {
    Rows named;
    for (const auto& row : rows)
        if (row.first.find(" memory.c:") != std::string::npos || row.first == "(n.dat)" || row.first == "late")
            named.insert(row);
    return named;
}

TEST_F(CapturedByCompiled, MemoryHasTheNamesThatItHasUnderValgrind) {
    build_library();
    build("gcc -O1", memory, "plain");
    build("cachetally-cc -O1", memory, "compiled");
    const Rows compiled = rows("compiled", {"./compiled", "n.dat"});
    expect_memory(compiled);
    EXPECT_EQ(own(compiled).size(), 10U);
    EXPECT_THAT(own(rows("valgrind", {"./plain", "n.dat"})), IsSupersetOf(own(compiled)));
}

TEST_F(CapturedByCompiled, MemoryHasNamesByEachCompiler) {
    build_library();
    build("cachetally-cc -O3 -fomit-frame-pointer", memory, "compiled");
    expect_memory(rows("compiled", {"./compiled", "n.dat"}));
    if (std::system("command -v clang > /dev/null 2>&1") != 0) GTEST_SKIP() << "clang is not installed";
    build("CACHETALLY_CC=clang cachetally-cc -O2", memory, "compiled");
    expect_memory(rows("compiled", {"./compiled", "n.dat"}));
}

TEST_F(CapturedByCompiled, ArgumentsAndEnvironmentAreOfTheStack) {
    write_contents(directory / "program.c", R"(
#include <stdlib.h>
static void read(const volatile char* text) { for (int i = 0; i < 9000; i += 3) (void)text[i]; }
int main(int argc, char** argv) { read(argv[argc - 1]); read(getenv("LONGEST")); return 0; }
)");
    build("gcc -O1", directory / "program.c", "plain");
    build("cachetally-cc -O1", directory / "program.c", "compiled");
    const std::string longest(9000, 'x');
    setenv("LONGEST", longest.c_str(), 1);
    for (const char* with : {"compiled", "valgrind"}) {
        const Rows found = rows(with, {with[0] == 'c' ? "./compiled" : "./plain", longest});
        EXPECT_GE(found.at("stack"), 6000U) << with;
        EXPECT_FALSE(found.contains("(elsewhere)")) << with << PrintToString(found);
    }
}

TEST_F(CapturedByCompiled, OperatorNewHasItsCallerHoweverTheLibraryIsLinked) {
    write_contents(directory / "program.cpp", R"(
#include <thread>
#include <vector>
__attribute__((noinline)) void fill(volatile long* a, int count) { for (int i = 0; i < count; ++i) a[i] = i; }
__attribute__((noinline)) void vector() { std::vector<long> v; v.reserve(500); fill(v.data(), 401); }
__attribute__((noinline)) void array(int n) { long* all = new long[n]; fill(all, 302); delete[] all; }
__attribute__((noinline)) void one() { vector(); array(400); __asm__ volatile(""); }
int main() { one(); std::thread(one).join(); return 0; }
)");
    for (const char* const options : {"-O1", "-O2 -static-libstdc++", "-O2 -static"}) {
        SCOPED_TRACE(options);
        build(std::string("cachetally-c++ ") + options, directory / "program.cpp", "program");
        const Rows found = rows("compiled", {"./program"});
        EXPECT_THAT(found, IsSupersetOf({Pair("heap: vector() program.cpp:5 < one()", 802),
                                         Pair("heap: array(int) program.cpp:6 < one()", 604)}));
    }
}

TEST_F(CapturedByCompiled, AFileNameMayHaveAnEndOfALine) {
    build_library();
    for (const char* const name : {"a\nb", "a\\012b"}) {
        build("cachetally-cc -O1", memory, name);
        expect_memory(rows("compiled", {std::string("./") + name, "n.dat"}));
    }
}

}  // namespace
}  // namespace cachetally::testing

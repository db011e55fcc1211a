// SPDX-License-Identifier: BSD-3-Clause
// Programs that cachetally-cc and its kin compile: every access of one that is known, threads, and all ways to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "workloads/capture/captured_process.hpp"
#include "workloads/capture/captured_program.hpp"
#include "workloads/capture/elf_marker.hpp"
#include "workloads/traces/byte_stream.hpp"

namespace cachetally {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t rounds = 20000, threads = 4;  // of programs/compiled.c
const std::string sources = CACHETALLY_SOURCE_DIR "/tests/workloads/capture/programs";

/// A folder of its own, and the compilers that need not be installed.
class Compiled : public ::testing::Test {
protected:
    Compiled() { std::filesystem::create_directories(folder); }
    ~Compiled() override { std::filesystem::remove_all(folder); }

    static int shell(const std::string& command) { return std::system(command.c_str()); }

    /// The program's path; `compiler` with its options, which may set variables.
    std::string build(const std::string& compiler, const std::string& source, const std::string& name = "program") {
        const auto word = compiler.rfind("cachetally-");
        const std::string command = compiler.substr(0, word) + CACHETALLY_COMPILERS "/" + compiler.substr(word) +
                                    " -I" CACHETALLY_SOURCE_DIR "/include -o " + path(name) + " " + source;
        EXPECT_EQ(shell(command), 0) << command;
        return path(name);
    }
    std::string known(const std::string& compiler = "cachetally-cc -O1") {
        return build(compiler + " -pthread", sources + "/compiled.c");
    }
    std::string written(const std::string& name, const std::string& text) const {
        std::ofstream(path(name)) << text;
        return path(name);
    }
    std::string path(const std::string& name) const { return (folder / name).string(); }

    const std::filesystem::path folder =
        std::filesystem::path(::testing::TempDir()) / ("compiled" + std::to_string(::getpid()));
};

struct Captured {
    std::vector<std::vector<Reference>> streams;
    std::vector<std::vector<std::size_t>> barriers;  ///< by stream: references before each
    CapturedEvents events;
    ProgramEnd end;
    std::string failure;

    /// Of all streams, in regions of this name.
    std::vector<Reference> references(const std::string& name) const {
        std::vector<Reference> found;
        for (const auto& stream : streams)
            for (const Reference& reference : stream)
                if (is_in(reference, name)) found.push_back(reference);
        return found;
    }
    bool is_in(const Reference& reference, const std::string& name) const {
        return std::ranges::any_of(events.regions, [&](const Region& region) {
            return region.name == name && region.contains(reference.address);
        });
    }
    /// "L OFFSET SIZE" or "S OFFSET SIZE"
    std::vector<std::string> list(const std::string& name) const {
        std::vector<std::string> lines;
        const Address base = std::ranges::find(events.regions, name, &Region::name)->base;
        for (const Reference& reference : references(name))
            lines.push_back((reference.kind == ReferenceKind::store ? "S " : "L ") +
                            std::to_string(reference.address - base) + " " + std::to_string(reference.size));
        return lines;
    }
};

Captured captured(std::vector<std::string> command, unsigned cores = 1, unsigned chunks = 8,
                  const std::string& from = "") {
    CaptureOptions options;
    options.command = std::move(command);
    options.chunks = chunks;
    options.decoder.cores = cores;
    options.decoder.from = from;
    options.decoder.barriers_end_phases = true;
    const std::unique_ptr<CapturedProgram> program = capture(options);
    Captured all;
    all.streams.resize(cores);
    all.barriers.resize(cores);
    std::vector<bool> waits(cores), over(cores);
    try {
        while (std::ranges::find(over, false) != over.end()) {
            for (unsigned core = 0; core < cores; ++core) {
                if (waits[core] || over[core]) continue;
                const Batch batch = program->next(core);
                all.streams[core].insert(all.streams[core].end(), batch.references.begin(), batch.references.end());
                over[core] = batch.control.kind == Control::Kind::end;
                waits[core] = batch.control.kind == Control::Kind::barrier || batch.control.kind == Control::Kind::meet;
                if (batch.control.kind == Control::Kind::barrier)
                    all.barriers[core].push_back(all.streams[core].size());
            }
            bool all_wait = true;
            for (unsigned core = 0; core < cores; ++core) all_wait = all_wait && (waits[core] || over[core]);
            if (all_wait) waits.assign(cores, false);
        }
    } catch (const TraceError& error) {
        all.failure = error.what();
    }
    all.end = program->end();
    all.events = program->events();
    return all;
}

// Offsets in `data`: cells 0, shorts 64, text 72, copy 136, sum 200. A copy of 40 bytes is one of 32 and one of 8.
void expect_golden(const Captured& all) {
    EXPECT_THAT(all.list("data"), ElementsAre("L 0 8", "S 8 8",                             // cells[1] = cells[0] + 1
                                              "L 64 2", "S 64 2", "L 66 2", "S 66 2",       // shorts
                                              "L 72 32", "S 136 32", "L 104 8", "S 168 8",  // memcpy
                                              "S 136 32", "S 168 8", "L 200 8", "S 200 8",  // memset; atomic_fetch_add
                                              "S 24 8", "L 136 1"));                        // cells[3], the result
    std::uint64_t bytes[2] = {0, 0};
    for (const Reference& reference : all.references("big"))
        bytes[reference.kind == ReferenceKind::store ? 1 : 0] += reference.size;
    EXPECT_THAT(bytes, ElementsAre(48, 48));
    EXPECT_EQ(all.end.status, 0);
    EXPECT_EQ(all.failure, "");
    EXPECT_EQ(all.events.dropped, 0U);
}

TEST_F(Compiled, RecordingBeginsAtAFunction) {
    const std::string program = known("cachetally-cc -O0");
    const Captured whole = captured({program, "golden"}), late = captured({program, "golden"}, 1, 8, "golden");
    EXPECT_EQ(late.list("data"), whole.list("data"));
    EXPECT_LT(late.streams[0].size(), whole.streams[0].size());
    EXPECT_EQ(late.failure, "");
    EXPECT_EQ(captured({program, "golden"}, 1, 8, "main").streams[0].size(), whole.streams[0].size());
    const Captured never = captured({program, "golden"}, 1, 8, "treads");
    EXPECT_EQ(never.failure, "--from: the program never entered a function 'treads'; did you mean 'threads'?");
    EXPECT_TRUE(never.streams[0].empty());
}

TEST_F(Compiled, EveryAccessOfAKnownProgram) { expect_golden(captured({known(), "golden"})); }

TEST_F(Compiled, EveryAccessAtEachLevelOfOptimisation) {
    for (const char* const level : {"-O0", "-O2", "-O3 -static"}) {
        SCOPED_TRACE(level);
        expect_golden(captured({known(std::string("cachetally-cc ") + level), "golden"}));
    }
}

TEST_F(Compiled, EveryAccessByClang) {
    if (find_program("clang").empty()) GTEST_SKIP() << "clang is not installed";
    expect_golden(captured({known("CACHETALLY_CC=clang cachetally-cc -O1"), "golden"}));
}

// Thread 0 only waits. Each other adds to the sum in as many rounds before the barrier, a load and a store each.
TEST_F(Compiled, ThreadsHaveStreamsOfTheirOwnAndMeetAtBarriers) {
    const Captured all = captured({known(), "threads"}, threads + 1);
    EXPECT_EQ(all.end.status, 0) << "an atomic operation was not atomic";
    EXPECT_EQ(all.events.threads, threads);
    for (unsigned core = 1; core <= threads; ++core) {
        ASSERT_EQ(all.barriers[core].size(), 1U);
        const auto begin = all.streams[core].begin();
        const auto barrier = begin + static_cast<std::ptrdiff_t>(all.barriers[core].front());
        const auto of_data = [&](const Reference& reference) { return all.is_in(reference, "data"); };
        EXPECT_EQ(std::count_if(begin, barrier, of_data), 2 * rounds);
        EXPECT_GE(std::count_if(barrier, all.streams[core].end(), of_data), 3 * rounds);
    }
}

// Four threads that wait for each other, and two chunks.
TEST_F(Compiled, MoreThreadsThanChunksDropReferencesAndSaySo) {
    const Captured all = captured({known(), "threads"}, 1, 2);
    EXPECT_EQ(all.end.status, 0);
    EXPECT_GE(all.references("data").size() + all.events.dropped, 5 * threads * rounds);
}

TEST_F(Compiled, AFullRingWaits) {
    const Captured all = captured({known(), "long", path("done")}, 1, 1);
    EXPECT_EQ(all.end.status, 0) << "errno is not what it was";
    EXPECT_EQ(all.references("data").size(), 500 * 2 * rounds);
    EXPECT_EQ(all.events.dropped, 0U);
}

TEST_F(Compiled, AProgramThatIsKilledLeavesAllItsReferences) {
    const Captured all = captured({known(), "killed"});
    EXPECT_EQ(all.references("data").size(), 2 * rounds);
    EXPECT_EQ(all.failure, "the program was ended by signal 9 (Killed)");
    EXPECT_EQ(all.end.signal, SIGKILL);
}

TEST_F(Compiled, AProgramOutlivesItsReader) {
    const std::string program = known();
    const pid_t reader = ::fork();
    if (reader == 0) {
        CaptureOptions options;
        options.command = {program, "long", path("done")};
        options.chunks = 4;
        const std::unique_ptr<CapturedProgram> source = capture(options);
        source->next(0);
        ::raise(SIGKILL);
    }
    ::waitpid(reader, nullptr, 0);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!std::filesystem::exists(path("done")) && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(std::filesystem::exists(path("done")));
}

TEST_F(Compiled, AChildOfAForkIsNotRecorded) {
    const Captured all = captured({known(), "fork"});
    EXPECT_EQ(all.end.status, 0);
    EXPECT_EQ(all.events.forks, 1U);
    EXPECT_EQ(all.references("data").size(), 400U);
}

TEST_F(Compiled, AnotherProgramIsNotRecorded) {
    const Captured all = captured({known(), "exec"});
    EXPECT_EQ(all.end.status, 0);
    EXPECT_EQ(all.failure, "");
    EXPECT_EQ(all.events.executed, "/bin/true");
    EXPECT_EQ(all.references("data").size(), 200U);
}

TEST_F(Compiled, HandlersOfSignalsAreRecorded) {
    const Captured all = captured({known(), "signals"}, 1, 4);
    EXPECT_EQ(all.end.status, 0);
    const std::uint64_t found = all.references("data").size();
    EXPECT_GE(found, 100 * 2 * rounds - 1000);  // a handler may lose a reference that it interrupts
    EXPECT_LE(found, 100 * 2 * rounds + 200);
}

TEST_F(Compiled, ExitStatus) { EXPECT_EQ(captured({known(), "status"}).end.status, 3); }

TEST_F(Compiled, AProgramAloneDoesItsWork) {
    const std::string program = known();
    EXPECT_EQ(shell(program + " golden"), 0);
    EXPECT_EQ(shell(program + " threads"), 0);
    EXPECT_EQ(WEXITSTATUS(shell("CACHETALLY_RING=/nowhere " + program + " status")), 3);
    EXPECT_EQ(shell("test -z \"$(" + program + " fork 2>&1)\""), 0);
}

TEST_F(Compiled, TheRuntimeIsFoundInFilesThatHaveIt) {
    const std::string program = known();
    EXPECT_TRUE(has_capture_runtime(program));
    EXPECT_EQ(shell("strip " + program), 0);
    EXPECT_TRUE(has_capture_runtime(program));
    EXPECT_FALSE(has_capture_runtime("/bin/true"));
    EXPECT_FALSE(has_capture_runtime(sources + "/compiled.c"));
    EXPECT_FALSE(has_capture_runtime("/nowhere"));
}

constexpr char cpp[] = R"(
#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include "cachetally.h"
struct Shape { virtual ~Shape() = default; virtual long area() const = 0; };
struct Square : Shape { long a; explicit Square(long s) : a(s) {} long area() const override { return a * a; } };
int main() {
    std::vector<long> numbers(1000);
    CACHETALLY_REGION("numbers", numbers.data(), 8000, 8);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<long>(i * 7919 % 1000);
    std::sort(numbers.begin(), numbers.end());
    const std::unique_ptr<Shape> shape = std::make_unique<Square>(numbers[3]);
    long area = 0;
    std::thread([&] { area = shape->area(); }).join();
    try { throw std::runtime_error("x"); } catch (const std::exception& e) { area += std::string(e.what()) == "x"; }
    return area == 10 ? 0 : 1;
}
)";

// Sorting a thousand numbers loads and stores each several times.
TEST_F(Compiled, ProgramsInCpp) {
    const std::string source = written("program.cpp", cpp);
    for (const std::string compiler : {"", "CACHETALLY_CXX=clang++ "}) {
        if (!compiler.empty() && find_program("clang++").empty()) continue;
        SCOPED_TRACE(compiler);
        const Captured all = captured({build(compiler + "cachetally-c++ -std=c++17 -O2 -pthread", source)});
        EXPECT_EQ(all.end.status, 0);
        EXPECT_EQ(all.events.threads, 1U);
        EXPECT_GT(all.references("numbers").size(), 10000U);
    }
}

TEST_F(Compiled, ProgramsInFortran) {
    if (find_program("gfortran").empty()) GTEST_SKIP() << "gfortran is not installed";
    const std::string source = written("program.f90", R"(
program sums
  real(8), allocatable :: a(:)
  integer :: i, n
  n = 1000 + command_argument_count()
  allocate(a(n))
  do i = 1, n
    a(i) = i
  end do
  do i = 2, n
    a(i) = a(i) + a(i-1)
  end do
  if (a(n) /= 500500) stop 1
end program
)");
    const Captured all = captured({build("cachetally-fc -O1", source)});
    EXPECT_EQ(all.end.status, 0);
    const std::size_t references = all.streams.front().size();
    EXPECT_GE(references, 1000U + 2 * 999U);
    EXPECT_LE(references, 1000U + 3 * 999U + 50U);
}

TEST_F(Compiled, LibrariesAndSeparateLinking) {
    const std::string library =
        written("library.c", "void fill(volatile long* a) { for (int i = 0; i < 10; ++i) a[i] = i; }");
    const std::string program = written("main.c", R"(
#include "cachetally.h"
void fill(volatile long*);
long a[10];
int main(void) { CACHETALLY_REGION("a", a, sizeof a, 8); fill(a); return 0; }
)");
    build("cachetally-cc -shared -fPIC", library, "libfill.so");
    build("cachetally-cc -c -O2", program, "main.o");
    const Captured all = captured({build("cachetally-cc", path("main.o") + " " + path("libfill.so"))});
    EXPECT_EQ(all.references("a").size(), 10U);
}

TEST_F(Compiled, ACMakeProject) {
    const std::string source =
        written("CMakeLists.txt",
                "cmake_minimum_required(VERSION 3.13)\nproject(p C)\nfind_package(Threads "
                "REQUIRED)\nadd_executable(known " +
                    sources + "/compiled.c)\ntarget_include_directories(known PRIVATE " +
                    CACHETALLY_SOURCE_DIR "/include)\ntarget_link_libraries(known Threads::Threads)\n");
    const std::string log = " > " + path("log") + " 2>&1";
    ASSERT_EQ(shell("cmake -S " + folder.string() + " -B " + path("build") +
                    " -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=" + CACHETALLY_COMPILERS "/cachetally-cc" + log),
              0);
    ASSERT_EQ(shell("cmake --build " + path("build") + log), 0);
    expect_golden(captured({path("build/known"), "golden"}));
}

TEST_F(Compiled, WrongUse) {
    CaptureOptions options;
    options.command = {"/bin/true"};
    options.with = CaptureWith::compiled;
    EXPECT_THROW(capture(options), TraceError);
    options.command = {known()};
    options.children = true;
    EXPECT_THROW(capture(options), TraceError);
}

}  // namespace
}  // namespace cachetally

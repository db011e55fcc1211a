// SPDX-License-Identifier: BSD-3-Clause
// C that is generated, and the compiler: what it makes, and what goes wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <regex>

#include "probes/cpu/compiler.hpp"
#include "probes/cpu/configuration.hpp"
#include "tests/storage/temporary.hpp"

namespace cachetally {
namespace {

using ::testing::HasSubstr;
using testing::message_of;
using testing::TemporaryDirectory;
using testing::write_contents;

constexpr CpuType whole_number_type{}, double_type{CpuElement::float64, 1}, floatx4{CpuElement::float32, 4};

std::size_t count_of(const std::string& text, const std::string& pattern) {
    const std::regex words(pattern);
    return static_cast<std::size_t>(
        std::distance(std::sregex_iterator(text.begin(), text.end(), words), std::sregex_iterator()));
}

TEST(CpuConfiguration, ChainsDependOnThemselvesAlone) {
    using Words = std::vector<std::string>;
    EXPECT_EQ(chains_of(Operation::add, whole_number_type, 1).statements, Words{"p1 = p1 + p2"});
    EXPECT_EQ(chains_of(Operation::multiply, whole_number_type, 3).statements,
              (Words{"p1 = p1 * p4", "p2 = p2 * p4", "p3 = p3 * p4"}));
    EXPECT_EQ(chains_of(Operation::divide, double_type, 2).statements, (Words{"p1 = p3 / p1", "p2 = p3 / p2"}));
    EXPECT_EQ(chains_of(Operation::multiply_add, floatx4, 1).statements, Words{"p1 = p2 + p1 * p3"});
    EXPECT_EQ(ring_of(whole_number_type, 3).statements, (Words{"p1 = p1 + p3", "p2 = p2 + p1", "p3 = p3 + p2"}));
}

/// Values that die out, grow without end or become slow numbers would change what is measured.
TEST(CpuConfiguration, OperandsStayOrdinary) {
    for (const CpuType type : {whole_number_type, CpuType{CpuElement::int64, 1}}) {
        const std::vector<double> initial = chains_of(Operation::divide, type, 1).initial;
        std::uint64_t p = static_cast<std::uint64_t>(initial[0]);
        for (int i = 0; i < 1000; ++i) p = static_cast<std::uint64_t>(initial[1]) / p;
        EXPECT_EQ(p, static_cast<std::uint64_t>(initial[0]));
    }
    const std::vector<double> divided = chains_of(Operation::divide, double_type, 1).initial,
                              fused = chains_of(Operation::multiply_add, double_type, 1).initial;
    float quotient = static_cast<float>(divided[0]), sum = static_cast<float>(fused[0]);
    for (int i = 0; i < 1'000'000; ++i) {
        quotient = static_cast<float>(divided[1]) / quotient;
        sum = static_cast<float>(fused[1]) + sum * static_cast<float>(fused[2]);
        ASSERT_TRUE(quotient > 1 && quotient < 2 && sum >= 1 && sum <= 4) << i;
    }
}

TEST(CpuConfiguration, EachStatementHasACaseOfItsOwn) {
    for (const unsigned chains : {1U, 3U, 7U, 200U}) {
        const Configuration configuration = chains_of(Operation::add, whole_number_type, chains);
        const std::uint64_t all = statements_per_round(configuration);
        EXPECT_GE(all, 128U);
        EXPECT_EQ(all % chains, 0U);
        EXPECT_LT(all, 128U + chains);
        const std::string text = c_function(configuration, "f");
        EXPECT_EQ(count_of(text, "case [0-9]+: p"), all);
        EXPECT_EQ(count_of(text, "p1 = p1 \\+"), all / chains);
        EXPECT_EQ(count_of(text, "T p[0-9]+ = in\\["), chains + 1);  // begun by volatiles, and
        EXPECT_EQ(count_of(text, "out = p[0-9]+;"), chains + 1);     // used
    }
}

TEST(CpuConfiguration, TypesHaveNamesAndBytes) {
    EXPECT_EQ(floatx4.name(), "floatx4");
    EXPECT_EQ(floatx4.bytes(), 16U);
    EXPECT_EQ((CpuType{CpuElement::int32, 8}.bytes()), 32U);
    EXPECT_EQ(double_type.name(), "double");
    EXPECT_EQ(cpu_types().size(), 10U);
}

/// With TMPDIR in a directory that must be empty again.
class CpuCompiler : public ::testing::Test {
protected:
    CpuCompiler() {
        if (const char* before = std::getenv("TMPDIR")) before_ = before;
        ::setenv("TMPDIR", folder.path().c_str(), 1);
    }
    ~CpuCompiler() override {
        before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1);
        EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    }
    std::string script(const std::string& text) {
        const std::string path = tools / "compiler";
        write_contents(path, "#!/bin/sh\n" + text + "\n");
        ::chmod(path.c_str(), 0700);
        return path;
    }
    static std::string error_of(const std::string& command, const std::string& source = "int f(void) { return 7; }\n") {
        return message_of([&] { CCompiler(command, [] {}).compile(source); });
    }
    TemporaryDirectory folder, tools;

private:
    std::string before_;
};

TEST_F(CpuCompiler, MakesFunctions) {
    const auto code = CCompiler("cc", [] {}).compile("int f(void) { return 7; }\n");
    EXPECT_EQ(reinterpret_cast<int (*)()>(code->find("f"))(), 7);
    EXPECT_THAT(message_of([&] { code->find("g"); }), HasSubstr("has no 'g'"));
}

TEST_F(CpuCompiler, MakesAllConfigurations) {
    for (const CpuType type : cpu_types()) {
        std::vector<Configuration> all;
        for (const Operation operation : cpu_operations) all.push_back(chains_of(operation, type, 2));
        all.push_back(ring_of(type, 5));
        const auto code = CCompiler("cc", [] {}).compile(c_source(all));
        for (std::size_t i = 0; i < all.size(); ++i)
            reinterpret_cast<void (*)(std::uint64_t)>(code->find("nano_" + std::to_string(i)))(3);
    }
}

TEST_F(CpuCompiler, SaysWhatIsWrong) {
    EXPECT_THAT(error_of("no-such-compiler"), HasSubstr("'no-such-compiler' cannot be run: No such file"));
    EXPECT_THAT(error_of("cc", "int f(void) { return nothing; }\n"),
                ::testing::AllOf(HasSubstr("failed with status 1"), HasSubstr("code.c:1:"), HasSubstr("nothing")));
    EXPECT_THAT(error_of("false"), HasSubstr("'false' with -std=gnu11"));
    EXPECT_THAT(error_of("true"), HasSubstr("what 'true' made cannot be loaded"));
    EXPECT_THAT(error_of(script("kill -9 $$")), HasSubstr("was ended by signal 9"));
}

TEST_F(CpuCompiler, NoFolderIsAnError) {
    ::setenv("TMPDIR", (tools / "missing").c_str(), 1);
    EXPECT_THAT(error_of("cc"), HasSubstr("TMPDIR may name another place"));
}

TEST_F(CpuCompiler, OneThatHangsIsEnded) {
    const std::string hanging = script("sleep 600 & echo $! > " + tools / "child" + "; wait");
    const auto begin = std::chrono::steady_clock::now();
    const auto look = [&] {
        if (std::filesystem::exists(tools / "child") && std::filesystem::file_size(tools / "child") > 0)
            throw std::runtime_error("over");
    };
    EXPECT_EQ(message_of([&] { CCompiler(hanging, look).compile(""); }), "over");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(300));
    // What it had started is gone as well, or waits for its parent.
    const std::string child = testing::contents(tools / "child"), number = child.substr(0, child.find('\n'));
    std::string state = "Z";
    for (int i = 0; i < 1000; ++i) {
        const std::string status = testing::contents("/proc/" + number + "/stat");
        state = status.empty() ? "Z" : status.substr(status.rfind(')') + 2, 1);
        if (state == "Z" || state == "X") break;
        ::usleep(10'000);
    }
    EXPECT_THAT(state, ::testing::AnyOf("Z", "X"));
}

}  // namespace
}  // namespace cachetally

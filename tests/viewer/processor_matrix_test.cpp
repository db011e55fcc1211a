// SPDX-License-Identifier: BSD-3-Clause
// What was measured between processors, as text, JSON and file; and beside what the machine states.
#include "viewer/processor_matrix_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "cachetally/topology.hpp"
#include "probes/probe_file.hpp"
#include "storage/file.hpp"
#include "viewer/probe_summary.hpp"
#include "viewer/probe_text.hpp"

namespace cachetally {
namespace {

using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

/// Of processors 2 and 5: 90.25 one way, not measured the other.
ProcessorMatrix of_two() {
    const double none = std::numeric_limits<double>::quiet_NaN();
    return {"cores",
            "robust",
            "transfer",
            "cycles",
            {2, 5},
            {none, 90.25, none, none},
            {none, 88, none, none},
            {none, 93, none, none}};
}

TEST(ProcessorMatrix, IsASquareTable) {
    EXPECT_EQ(to_text(of_two(), 120),
              "cores robust, transfer: cycles per load of lines that one processor wrote and another one loads\n"
              "from  to 2  to 5\n"
              "   2        90.2\n"
              "   5     -\n");
}

TEST(ProcessorMatrix, OfMoreThanSixteenIsSummarised) {
    for (const unsigned count : {16U, 17U}) {
        ProcessorMatrix matrix{"cores", "robust", "transfer"};
        for (unsigned i = 0; i < count; ++i) matrix.processors.push_back(i);
        matrix.median.assign(count * count, std::numeric_limits<double>::quiet_NaN());
        matrix.median[1] = 50, matrix.median[2] = 60, matrix.median[3] = 100;
        const std::string text = to_text(matrix, 200);
        EXPECT_EQ(text.find("to 15") != std::string::npos, count == 16);
        EXPECT_EQ(text.find("17 processors, 3 of 272 ways measured: least 50.0, median 60.0, most 100.0") !=
                      std::string::npos,
                  count == 17);
    }
}

TEST(ProcessorMatrix, OfJsonHasNullWhereNothingWasMeasured) {
    const ProcessorMatrix matrix = of_two();
    EXPECT_EQ(to_json({&matrix, 1}).dump(),
              R"([{"name":"transfer","unit":"cycles","processors":[2,5],"median":[[null,90.25],[null,null]],)"
              R"("low":[[null,88.0],[null,null]],"high":[[null,93.0],[null,null]]}])");
}

TEST(ProcessorMatrix, OfAFileIsReadBack) {
    TestReport report;
    report.test = "cores";
    report.variant = "robust";
    report.matrices.push_back(of_two());
    const std::string path = ::testing::TempDir() + "processor_matrix_file.h5";
    std::filesystem::remove(path);
    {
        ResultFile file(path);
        write_probe(file.root(), {&report, 1});
        const Group group = file.root().open_group("matrices").open_group("00_cores_robust_transfer");
        EXPECT_EQ(group.open_dataset("median").shape(), (std::vector<std::uint64_t>{2, 2}));
        EXPECT_EQ(group.open_dataset("low").text_attribute("units"), "cycles");
        file.finish();
    }
    const InputFile file(path);
    const auto reports = read_probe(file.root());
    std::filesystem::remove(path);
    ASSERT_EQ(reports.size(), 1U);
    ASSERT_EQ(reports[0].matrices.size(), 1U);
    const ProcessorMatrix& read = reports[0].matrices[0];
    EXPECT_EQ(read.processors, (std::vector<unsigned>{2, 5}));
    EXPECT_EQ(read.median[1], 90.25);
    EXPECT_EQ(read.low[1], 88);
    EXPECT_EQ(read.high[1], 93);
    EXPECT_TRUE(std::isnan(read.median[2]));
    EXPECT_THAT(to_text(reports, 120), HasSubstr("from  to 2  to 5"));
}

TEST(ProcessorMatrix, SharersBesideWhatIsStated) {
    TestReport report;
    report.test = "cores";
    report.variant = "robust";
    report.answer("L1", "shared_among", "0 1", "");
    report.answer("L2", "shared_among", "0+1", "");
    const MachineDescription stated = load_machine("generic3");
    const std::vector<Fact> sharing{{"L1", "shared_among", {0, "0 1"}}, {"L2", "shared_among", {0, "0 1"}}};
    const std::string text = probe_summary({&report, 1}, &stated, 200, sharing);
    const auto line = [&](const std::string& level) {
        const std::size_t begin = text.find('\n' + level) + 1;
        return text.substr(begin, text.find('\n', begin) - begin);
    };
    EXPECT_THAT(line("L1"), HasSubstr("L1     private  "));
    EXPECT_THAT(line("L2"), HasSubstr("L2     shared by 0-1 (stated otherwise)  "));
    for (const char* level : {"L1", "L2"}) EXPECT_THAT(line(level), EndsWith(", private"));
    EXPECT_THAT(line("L3"), Not(AnyOf(HasSubstr("private"), HasSubstr("shared"))));
}

/// The line of L3 that says by whom it is shared.
std::string sharers_in_words(const std::string& among) {
    TestReport report;
    report.test = "cores";
    report.variant = "robust";
    report.answer("L3", "shared_among", among, "");
    const std::string text = probe_summary({&report, 1}, nullptr, 200, {});
    const std::size_t begin = text.find("L3     ") + 7;
    return text.substr(begin, text.find('\n', begin) - begin);
}

// As Linux writes shared_cpu_list: ranges from two on.
TEST(ProcessorMatrix, ManySharersAreRanges) {
    EXPECT_EQ(sharers_in_words("0 1 2 3"), "private");
    EXPECT_EQ(sharers_in_words("0-3"), "shared by 0-3");
    EXPECT_EQ(sharers_in_words("0-7+64-71 8-15+72-79"), "shared by 0-7,64-71 8-15,72-79");
    EXPECT_EQ(sharers_in_words("0+1+64+65 2"), "shared by 0-1,64-65 2");
    EXPECT_EQ(sharers_in_words("0+2+4+6"), "shared by 0,2,4,6");
    EXPECT_EQ(sharers_in_words("0+8 1+9 2+10 3+11 4+12"), "shared by 0,8 1,9 2,10 3,11 4,12");
    EXPECT_EQ(sharers_in_words("0+8 1+9 2+10 3+11 4+12 5+13"), "shared by 0,8 1,9 2,10 3,11 and 2 more groups");
}

}  // namespace
}  // namespace cachetally

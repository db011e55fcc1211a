// SPDX-License-Identifier: BSD-3-Clause
// What probes and campaigns write is what docs/format.md lists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "probes/probe_file.hpp"
#include "probes/recording/recorder.hpp"
#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/validation.hpp"
#include "storage/file.hpp"

namespace cachetally {
namespace {

std::string text_of_file(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

class ProbeFile : public ::testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(path_); }

    /// Every name in the group is in the section, in code.
    void expect_listed(const Group& group, const std::string& section) {
        const std::size_t begin = format_.find("## " + section + "\n"), end = format_.find("\n## ", begin + 1);
        ASSERT_NE(begin, std::string::npos) << section;
        const std::string text = format_.substr(begin, end - begin);
        for (const std::string& name : group.children())
            EXPECT_THAT(text, ::testing::HasSubstr("`" + name + "`")) << section;
    }

    const std::string format_ = text_of_file(std::string(CACHETALLY_SOURCE_DIR) + "/docs/format.md");
    // of its own for each test: they run side by side
    const std::string path_ =
        ::testing::TempDir() + "probe_" + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".h5";
};

TEST_F(ProbeFile, HasWhatTheFormatLists) {
    SimulatedOptions simulated;
    simulated.largest_arena = 64 << 10;
    SimulatedTarget target(load_machine("bcm2835"), simulated);
    SuiteOptions options;
    options.tests = {"levels", "latency"};
    const std::vector<TestReport> reports = run_suite(target, options);
    ResultFile file(path_, ResultFile::Existing::overwrite);
    write_probe(file.root(), reports);
    expect_listed(file.root().open_group("findings"), "Probes");
    for (const char* each : {"curves", "tests"}) {
        const Group group = file.root().open_group(each);
        ASSERT_FALSE(group.children().empty());
        for (const std::string& name : group.children()) expect_listed(group.open_group(name), "Probes");
    }
    EXPECT_EQ(read_probe(file.root()).size(), reports.size());
}

TEST_F(ProbeFile, OfARecordingHasWhatTheFormatLists) {
    SimulatedOptions simulated;
    simulated.largest_arena = 64 << 10;
    SimulatedTarget target(load_machine("bcm2835"), simulated);
    Recorder recorder(target, "bcm2835");
    SuiteOptions options;
    options.tests = {"response"};
    const std::vector<TestReport> reports = run_suite(recorder, options);
    ResultFile file(path_, ResultFile::Existing::overwrite);
    write_probe(file.root(), reports);
    write_recording(file.root(), recorder.recording());
    const Group curves = file.root().open_group("curves"), recording = file.root().open_group("recording");
    for (const std::string& name : curves.children()) expect_listed(curves.open_group(name), "Probes");
    for (const char* each : {"arenas", "runs", "strings", "suite"}) expect_listed(recording.open_group(each), "Probes");
}

TEST_F(ProbeFile, OfSeveralProcessorsHasWhatTheFormatLists) {
    SimulatedTarget target(read_machine(
        "name: two\ncores: 2\ncaches:\n  - {name: L1, size: 4 KiB, ways: 4, latency: 3, shared_by: 1, next: memory}\n"
        "coherence: {protocol: mesi}\nmemory: {latency: 100}\n",
        "two.yaml"));
    Recorder recorder(target, "two");
    SuiteOptions options;
    options.tests = {"cores"};
    const std::vector<TestReport> reports = run_suite(recorder, options);
    ResultFile file(path_, ResultFile::Existing::overwrite);
    write_probe(file.root(), reports);
    write_recording(file.root(), recorder.recording());
    const Group matrices = file.root().open_group("matrices"), recording = file.root().open_group("recording");
    ASSERT_EQ(matrices.children().size(), 1U);
    expect_listed(matrices.open_group(matrices.children().front()), "Probes");
    const Group runs = recording.open_group("runs");
    EXPECT_TRUE(runs.has("processor"));
    expect_listed(runs, "Probes");
    EXPECT_EQ(recording.read<unsigned>("processors"), (std::vector<unsigned>{0, 1}));
}

TEST_F(ProbeFile, OfACampaignHasWhatTheFormatLists) {
    ValidationResult result;
    result.scores.push_back({"l1", "robust", "ways", 1, 2, 3});
    result.failures.push_back({7, 2, 3, {"L1 ways: 3 found, 4 true", "L1 line: 32 found, 64 true"}});
    ResultFile file(path_, ResultFile::Existing::overwrite);
    write_validation(file.root(), result);
    for (const char* each : {"summary", "worst"}) expect_listed(file.root().open_group(each), "Scores of probes");
    EXPECT_EQ(file.root().open_group("worst").read<std::uint64_t>("machine"), std::vector<std::uint64_t>{7});
    const ValidationResult read = read_validation(file.root());
    ASSERT_EQ(read.failures.size(), 1U);
    EXPECT_EQ(read.failures[0].wrong_findings, result.failures[0].wrong_findings);
}

}  // namespace
}  // namespace cachetally

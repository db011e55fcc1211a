// The commands that campaigns name repeat what they found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "probes/validation/campaign.hpp"
#include "probes/validation/random_machine.hpp"
#include "probes/validation/truth.hpp"

namespace cachetally {
namespace {

using testing::HasSubstr;
using testing::Not;

/// What the command would find: from the machine file, as probe reads it.
std::vector<std::string> wrong_again(const CampaignOptions& options, std::uint64_t number) {
    const MachineDescription machine = read_machine(write_machine(random_machine(options.seed, number)), "random.yaml");
    const MachineRun run = machine_run(options, number);
    SimulatedTarget target(machine, run.target);
    std::vector<std::string> wrong;
    for (TestReport& report : run_suite(target, run.suite)) {
        judge(report, facts_of(machine));
        for (const Finding& each : report.findings)
            if (each.verdict == Verdict::wrong) wrong.push_back(each.test + ' ' + in_words(each));
    }
    return wrong;
}

TEST(Replay, FindsTheSameFromTheMachineFile) {
    CampaignOptions options;
    options.machines = 4;
    options.seed = 5;
    options.noise = "mixed";
    options.suite.tests = {"latency"};  // wrong often enough, otherwise for other noise
    options.suite.hardened = false;
    const CampaignResult result = run_campaign(options);
    std::size_t compared = 0;
    for (const Failure& failure : result.failures) {
        EXPECT_EQ(wrong_again(options, failure.machine), failure.wrong_findings) << failure.replay;
        compared += failure.wrong_findings.size();
    }
    EXPECT_GT(compared, 1U);
}

TEST(Replay, CommandsNameWhatTheCampaignChose) {
    CampaignOptions options;
    options.seed = 3;
    options.noise = "realistic";
    options.no_events = "none here";
    options.directory = "worst";
    options.suite.tests = {"l1", "tlb"};
    options.suite.published = false;
    const std::string seed = std::to_string(machine_run(options, 17).target.seed);
    EXPECT_EQ(replay_command(options, 17),
              "cachetally probe l1 tlb --hardened --on worst/random-3-17.yaml --noise "
              "realistic --no-events 'none here' --seed " +
                  seed + " --orders 1");
    options.suite.tests.clear();
    options.suite.published = true;
    EXPECT_THAT(replay_command(options, 17), HasSubstr(" --cheap "));
    EXPECT_THAT(replay_command(options, 50), Not(HasSubstr("--cheap")));
}

TEST(Replay, MixedNoiseIsNamed) {
    CampaignOptions options;
    options.noise = "mixed";
    std::set<std::string> names;
    for (std::uint64_t number = 0; number < 20; ++number) {
        const MachineRun run = machine_run(options, number);
        names.insert(run.noise);
        const std::string command = replay_command(options, number);
        const std::string option = run.noise == "none" ? " --seed" : " --noise " + run.noise + " --seed";
        EXPECT_THAT(command, HasSubstr(".yaml" + option));
    }
    EXPECT_EQ(names, (std::set<std::string>{"none", "quiet", "realistic"}));
}

TEST(Replay, SizesAreTheirWords) {
    Finding finding;
    finding.level = "L2";
    finding.parameter = "capacity";
    finding.unit = "bytes";
    finding.value = Value{1376256, ""};
    finding.low = finding.high = 1376256;
    finding.truth = Value{1 << 20, ""};
    EXPECT_EQ(in_words(finding), "L2 capacity: 1344 KiB found, 1 MiB true");
}

}  // namespace
}  // namespace cachetally

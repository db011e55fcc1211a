// SPDX-License-Identifier: BSD-3-Clause
// cachetally campaign: every point is what `run` tells of it alone, however the work is divided; and what users see.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"
#include "storage/file.hpp"
#include "storage/provenance.hpp"
#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

constexpr const char* small_campaign =
    "machines:\n"
    "  - {machine: generic3, set: {L2.size: [256 KiB, 512 KiB]}}\n"
    "workloads: [{run: lu, set: {n: [16, 24], block: 8}}, {run: radix, set: {keys: 300}}]\n"
    "monitors: [none, {set: {counters: [4, 8], granularity: 1-2}}, {set: {link: L1D-L2, counters: 4, eviction: lru}}]\n"
    "seeds: [1, 3]\n";

std::string machine_without_comment(const fs::path& path) {
    const std::string text = contents(path.string());
    return text.substr(text.find('\n') + 1);
}

class Campaigns : public ::testing::Test {
protected:
    void SetUp() override { write("c.yaml", small_campaign); }

    void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
    std::string path(const std::string& name) const { return (directory_.path() / name).string(); }
    Finished call(const Words& words) const { return cachetally(directory_.path(), words); }
    Finished good(const Words& words) const {
        Finished finished = call(words);
        EXPECT_EQ(finished.status, 0) << finished.err;
        return finished;
    }

    /// All but /provenance of a file: the bytes of each dataset, as h5py finds them, and its attributes.
    std::string contents(const std::string& name) const {
        const std::string script =
            "import h5py,sys,hashlib\n"
            "out=[]\n"
            "def see(n,o):\n"
            "    if n.startswith('provenance'): return\n"
            "    out.append((n,sorted((k,str(v)) for k,v in o.attrs.items() if 'LIST' not in k)))\n"
            "    if isinstance(o,h5py.Dataset): "
            "out.append((str(o.dtype),o.shape,hashlib.sha256(o[()].tobytes()).hexdigest()))\n"
            "f=h5py.File(sys.argv[1]);see('/',f);f.visititems(see);print(out)\n";
        std::ofstream(path("contents.py")) << script;
        const std::string command =
            "/usr/bin/python3 " + path("contents.py") + " " + path(name) + " > " + path("out.txt");
        EXPECT_EQ(std::system(command.c_str()), 0);
        std::ifstream file(path("out.txt"));
        std::string text((std::istreambuf_iterator<char>(file)), {});
        EXPECT_GT(text.size(), 1000U);
        return text;
    }

    TemporaryDirectory directory_;
};

TEST_F(Campaigns, EveryPointIsARunOfItsOwn) {
    good({"campaign", "run", "c.yaml", "--jobs", "2"});
    const InputFile file(path("c.campaign/result.h5"));
    const Group table = file.root().open_group("campaign");
    const auto column = [&](const std::string& name) { return table.read<double>(name); };
    const auto machine = table.read_texts("machine"), workload = table.read_texts("workload"),
               monitor = table.read_texts("monitor");
    ASSERT_EQ(machine.size(), 2U * 3 * 2 * 6);
    const auto size = column("L2.size"), n = column("n"), seed = column("seed"), events = column("events");
    std::string yaml = good({"machine", "show", "generic3", "--yaml"}).out;
    for (std::size_t i = 0; i < machine.size(); i += i % 5 == 0 ? 1 : 3) {
        std::string changed = yaml;
        const std::string stated = "512 KiB";
        ASSERT_NE(changed.find(stated), std::string::npos);
        changed.replace(changed.find(stated), stated.size(), fmt::format("{:.0f}", size[i]));
        write("m.yaml", changed);
        Words words{"run", workload[i], "-m", "m.yaml", "--json", fmt::format("seed={:.0f}", seed[i])};
        if (workload[i] == "lu") {
            words.push_back(fmt::format("n={:.0f}", n[i]));
            words.emplace_back("block=8");
        } else {
            EXPECT_TRUE(std::isnan(n[i]));
            words.emplace_back("keys=300");
        }
        words.emplace_back("--monitor");
        words.push_back(monitor[i]);
        const json alone = good(words).json();
        EXPECT_EQ(column("references")[i], alone["references"].get<double>());
        EXPECT_EQ(column("cycles")[i], alone["cycles"].get<double>());
        for (const char* level : {"L1D", "L2", "L3"}) {
            const json& counts = alone["levels"][level];
            const auto sum = [&](const char* a, const char* b, const char* c) {
                return counts[a].get<double>() + counts[b].get<double>() + counts[c].get<double>();
            };
            EXPECT_EQ(column(std::string("accesses_") + level)[i], sum("loads", "stores", "fetches")) << level;
            EXPECT_EQ(column(std::string("misses_") + level)[i], sum("load_misses", "store_misses", "fetch_misses"));
        }
        EXPECT_EQ(column("misses_DTLB")[i], alone["tlbs"]["DTLB"]["misses"].get<double>());
        EXPECT_EQ(column("reads_memory")[i], alone["memories"]["memory"]["reads"].get<double>());
        if (monitor[i] == "none") {
            EXPECT_TRUE(std::isnan(events[i]) && std::isnan(column("error")[i]));
            continue;
        }
        const json& told = alone["monitors"].front();
        for (const char* key : {"events", "swapouts", "error", "bytes_per_event"})
            EXPECT_EQ(column(key)[i], told[key].get<double>()) << key << " of point " << i;
    }
}

TEST_F(Campaigns, TheSameHoweverTheWorkIsDivided) {
    good({"campaign", "run", "c.yaml", "--jobs", "1", "--folder", "one"});
    good({"campaign", "run", "c.yaml", "--jobs", "3", "--folder", "three", "--points-per-bundle", "30"});
    for (const char* shard : {"3/3", "1/3", "2/3"})
        good({"campaign", "run", "c.yaml", "--shard", shard, "--folder", "parts"});
    good({"campaign", "merge", "parts"});
    const std::string one = contents("one/result.h5");
    EXPECT_EQ(contents("three/result.h5"), one);
    EXPECT_EQ(contents("parts/result.h5"), one);
}

TEST_F(Campaigns, WhatIsDoneIsNotDoneAgain) {
    good({"campaign", "run", "c.yaml", "--shard", "1/2"});
    const auto time = fs::last_write_time(path("c.campaign/bundles/000000.h5"));
    EXPECT_THAT(call({"campaign", "merge", "c.campaign"}).err, HasSubstr("of 72 points are not done"));
    const Finished status = good({"campaign", "status", "c.campaign", "--json"});
    EXPECT_EQ(status.json()["done"], 36);
    EXPECT_EQ(status.json()["running"], 0);
    EXPECT_THAT(good({"campaign", "resume", "c.campaign"}).out, HasSubstr("72 points, 72 done, 0 failed"));
    EXPECT_EQ(fs::last_write_time(path("c.campaign/bundles/000000.h5")), time);
}

TEST_F(Campaigns, DamagedAndForeignBundlesAreSetAside) {
    good({"campaign", "run", "c.yaml", "--folder", "whole"});
    good({"campaign", "run", "c.yaml", "--folder", "hurt"});
    fs::resize_file(path("hurt/bundles/000001.h5"), 1000);
    fs::copy_file(path("hurt/bundles/000003.h5"), path("hurt/bundles/000002.h5"), fs::copy_options::overwrite_existing);
    EXPECT_THAT(call({"campaign", "merge", "hurt"}).err,
                HasSubstr("12 of 72 points are not done (bundles 1, 2 are damaged, or of other points)"));
    good({"campaign", "resume", "hurt"});
    EXPECT_EQ(listing(path("hurt/aside")), "000001.1.h5 000002.1.h5");
    EXPECT_EQ(contents("hurt/result.h5"), contents("whole/result.h5"));
}

TEST_F(Campaigns, APointThatFailsIsToldAndTriedAgain) {
    good({"trace", "convert", "radix", "t.ct.h5", "keys=300"});
    write("t.yaml", "machines: [generic3]\nworkloads: [{run: lu, set: {n: 16, block: 8}}, {trace: t.ct.h5}]\n");
    write("m.yaml",
          "machines: [{machine: generic3, set: {cores: [1, 2]}}]\n"
          "workloads: [{run: lu, set: {n: 16, block: 8, processors: 2}}]\n");
    good({"campaign", "run", "t.yaml"});
    const Finished failed = call({"campaign", "run", "m.yaml"});
    EXPECT_EQ(failed.status, 1);
    EXPECT_THAT(failed.out, HasSubstr("2 points, 1 done, 1 failed"));
    EXPECT_THAT(failed.out, HasSubstr("point 0 failed: it has 2 streams, and the machine 1 core; give the machine "
                                      "more, as in 'set: {cores: 2}'"));
    EXPECT_THAT(failed.out, HasSubstr("result.h5 is marked partial: 1 of 2 points failed"));
    const InputFile file(path("m.campaign/result.h5"));
    EXPECT_EQ(file.root().open_group("failures").read<std::uint64_t>("item"), std::vector<std::uint64_t>{0});
    EXPECT_EQ(file.root().open_group("campaign").read<std::uint8_t>("failed"), (std::vector<std::uint8_t>{1, 0}));
    EXPECT_EQ(call({"campaign", "resume", "m.campaign"}).status, 1);
    std::ifstream log(path("m.campaign/errors.log"));
    const std::string text((std::istreambuf_iterator<char>(log)), {});
    EXPECT_EQ(std::ranges::count(text, '\n'), 2) << "once by run, once by resume: " << text;
}

TEST_F(Campaigns, NothingIsMixed) {
    good({"campaign", "run", "c.yaml", "--shard", "1/4"});
    write("d.yaml", "machines: [generic3]\nworkloads: [lu]\n");
    EXPECT_THAT(call({"campaign", "run", "d.yaml", "--folder", "c.campaign"}).err,
                HasSubstr("'c.campaign' holds another campaign ('c')"));
    write("c.yaml", std::string(small_campaign) + "count: 5\n");
    EXPECT_THAT(call({"campaign", "run", "c.yaml"}).err, HasSubstr("with other contents or options"));

    write("my.yaml", good({"machine", "show", "generic3", "--yaml"}).out);
    write("e.yaml", "machines: [my.yaml]\nworkloads: [{run: lu, set: {n: 16, block: 8}}]\nseeds: 1-4\n");
    good({"campaign", "run", "e.yaml", "--shard", "1/2"});
    write("my.yaml", good({"machine", "show", "bench3", "--yaml"}).out);
    EXPECT_THAT(call({"campaign", "resume", "e.campaign"}).err,
                HasSubstr("my.yaml' is not what it was when the campaign began"));
    fs::remove(path("my.yaml"));  // the folder has its text
    EXPECT_THAT(good({"campaign", "resume", "e.campaign"}).out, HasSubstr("4 points, 4 done"));
}

TEST_F(Campaigns, TheSameFileByAnotherPathIsTheSameCampaign) {
    good({"campaign", "run", "c.yaml", "--shard", "1/2"});
    good({"campaign", "run", path("c.yaml"), "--folder", "c.campaign", "--shard", "2/2"});
    EXPECT_THAT(good({"campaign", "run", "./c.yaml"}).out, HasSubstr("72 points, 72 done"));
}

TEST_F(Campaigns, NothingOfOthersIsReplaced) {
    fs::create_directory(path("own"));
    write("own/notes", "mine");
    EXPECT_THAT(call({"campaign", "run", "c.yaml", "--folder", "own"}).err,
                HasSubstr("'own' holds files and no campaign; name another folder"));
    EXPECT_EQ(listing(path("own")), "notes");
    EXPECT_THAT(call({"campaign", "run", "c.yaml", "--folder", "c.yaml"}).err, HasSubstr("'c.yaml' is a file"));
    good({"campaign", "run", "c.yaml", "--shard", "1/1", "--folder", "c"});
    fs::remove(path("c/result.h5"));
    write("c/result.h5", "mine");
    EXPECT_THAT(call({"campaign", "merge", "c"}).err,
                HasSubstr("result.h5' is in the way, and no result of a campaign"));
    good({"campaign", "merge", "c", "-o", "c.h5"});
    for (const char* own : {"c/bundles/000000.h5", "c/campaign.json", "c/../c/aside/x.h5"}) {
        const Finished refused = call({"campaign", "merge", "c", "-o", own, "--force"});
        EXPECT_EQ(refused.status, 2);
        EXPECT_THAT(refused.err, HasSubstr("is among what the campaign is made of"));
    }
    good({"campaign", "merge", "c", "-o", "c.h5", "--force"});
}

TEST_F(Campaigns, AMergeNeedsTheFolderAlone) {
    write("my.yaml", good({"machine", "show", "generic3", "--yaml"}).out);
    good({"trace", "convert", "radix", "t.ct.h5", "keys=300"});
    write("e.yaml", "machines: [my.yaml]\nworkloads: [{trace: t.ct.h5}]\n");
    good({"campaign", "run", "e.yaml"});
    fs::remove(path("t.ct.h5"));
    write("my.yaml", "other");
    fs::rename(path("e.campaign"), path("moved"));
    good({"campaign", "merge", "moved", "-o", "e.h5"});
    EXPECT_EQ(contents("e.h5"), contents("moved/result.h5"));
    EXPECT_THAT(call({"campaign", "resume", "moved"}).err, HasSubstr("is not what it was when the campaign began"));
}

TEST_F(Campaigns, CancelledOnesGoOnWhenAsked) {
    good({"campaign", "run", "c.yaml", "--shard", "1/2"});
    good({"campaign", "cancel", "c.campaign"});
    const Finished work = call({"campaign", "work", "c.campaign", "--shard", "2/2"});
    EXPECT_EQ(work.status, 1);
    EXPECT_THAT(call({"campaign", "run", "c.yaml", "--slurm"}).err,
                HasSubstr("'cachetally campaign resume c.campaign' goes on"));
    EXPECT_THAT(work.err, HasSubstr("cancelled"));
    EXPECT_THAT(good({"campaign", "status", "c.campaign"}).out, HasSubstr("36 done"));
    EXPECT_THAT(good({"campaign", "resume", "c.campaign"}).out, HasSubstr("72 done"));
    EXPECT_THAT(good({"campaign", "cancel", "c.campaign"}).out, HasSubstr("all is done, there is nothing to cancel"));
    EXPECT_EQ(good({"campaign", "status", "c.campaign", "--json"}).json()["cancelled"], false);
    EXPECT_THAT(good({"campaign", "resume", "c.campaign", "--slurm"}).out, HasSubstr("72 done")) << "nothing to submit";
}

TEST_F(Campaigns, ValidationGivesTheSameScores) {
    const Words options{"validate", "--machines", "23", "--tests", "l1", "--robust", "--seed", "5"};
    const json at_once = good(options + Words{"--json"}).json();
    EXPECT_THAT(good(options + Words{"--folder", "v", "--shard", "2/2"}).out, HasSubstr("23 machines, 11 done"));
    good({"campaign", "resume", "v"});
    EXPECT_EQ(good({"show", "v/result.h5", "--json"}).json(), at_once);
    EXPECT_THAT(call(options + Words{"--folder", "v", "--json"}).err, HasSubstr("--json cannot stand beside --folder"));
    EXPECT_THAT(good(options + Words{"--folder", "w", "--dry-run"}).out,
                HasSubstr("validate: 23 machines in 23 bundles"));
    EXPECT_FALSE(fs::exists(path("w")));
    EXPECT_THAT(call(options + Words{"--slurm"}).err, HasSubstr("--slurm needs --folder"));
    EXPECT_THAT(call(options + Words{"--folder", "v", "--worst", "bad", "--shard", "1/2"}).err,
                HasSubstr("give the command without --shard once more"));
    EXPECT_THAT(call(options + Words{"--folder", "v", "--most-worst", "2"}).err, HasSubstr("for --worst"));
    good(options + Words{"--worst", "direct", "--most-worst", "2"});
    good(options + Words{"--folder", "v", "--worst", "later", "--most-worst", "2"});
    std::size_t files = 0, equal = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(path("direct"))) {
        ++files;
        equal += machine_without_comment(entry.path()) ==
                 machine_without_comment(fs::path(path("later")) / entry.path().filename());
    }
    EXPECT_GT(files, 0U);
    EXPECT_EQ(equal, files);
    EXPECT_THAT(call({"validate", "--machines", "24", "--folder", "v"}).err, HasSubstr("'v' holds"));
}

TEST_F(Campaigns, WhatAMergeTellsNeedsNoRecordingOfNoise) {
    const std::string recording = std::string(CACHETALLY_SOURCE_DIR) + "/tests/probes/recordings/zen4-vm-1.h5";
    fs::copy_file(recording, path("noise.h5"));
    good({"validate", "--machines", "2", "--tests", "prefetcher", "--robust", "--noise", "noise.h5", "--folder", "v"});
    fs::remove(path("noise.h5"));
    good({"campaign", "merge", "v", "-o", "merged.h5"});
    EXPECT_EQ(good({"show", "merged.h5", "--json"}).json(), good({"show", "v/result.h5", "--json"}).json());
}

TEST_F(Campaigns, SweepsGiveTheSameCells) {
    good({"trace", "convert", "radix", "t.ct.h5", "keys=300"});
    const Words several{"sweep",      "--workload", "lu,n=32",        "--workload", "t.ct.h5",
                        "--workload", "fft,n=256",  "--counters",     "4,16",       "--granularity",
                        "1-2",        "--vary",     "width=4,8",      "--link",     "core-L1D,L1D-L2",
                        "--slowdown", "-m",         "generic3-timed", "--where",    "error<50"};
    const Words one{"sweep", "lu", "n=32", "--counters", "4,16", "--count", "5000"};
    std::size_t number = 0;
    for (const Words& words : {several, one}) {
        const std::string folder = fmt::format("sweep{}", number++), file = folder + ".h5";
        const std::size_t workloads = words == one ? 1 : 3;
        good(words + Words{"-o", file});
        EXPECT_THAT(good(words + Words{"--folder", folder, "--shard", "1/3"}).out,
                    HasSubstr(fmt::format("{}, 1 done", numbered(workloads, "workload"))));
        EXPECT_THAT(call({"campaign", "merge", folder}).status, workloads == 1 ? 0 : 1);
        good({"campaign", "resume", folder, "--jobs", "2"});
        EXPECT_EQ(good({"show", folder + "/result.h5", "--json"}).json(), good({"show", file, "--json"}).json());
        const InputFile alone(path(file)), merged(path(folder + "/result.h5"));
        EXPECT_EQ(merged.root().children(), alone.root().children());
        EXPECT_EQ(read_provenance(merged.root()).trace_hash, read_provenance(alone.root()).trace_hash);
    }
    EXPECT_THAT(call(several + Words{"--folder", "x", "--json"}).err, HasSubstr("--json cannot stand beside --folder"));
    EXPECT_THAT(call(several + Words{"--shard", "1/2"}).err, HasSubstr("--shard needs --folder"));
    EXPECT_THAT(call(several + Words{"--workload", "lu,n=32,seed=1"}).err,
                HasSubstr("--workload 'lu,n=32,seed=1' is swept already, as 'lu,n=32'; keep one"));
    EXPECT_THAT(call(several + Words{"--workload", "./t.ct.h5"}).err, HasSubstr("is swept already, as 't.ct.h5'"));
    EXPECT_THAT(call({"sweep", "-", "--folder", "x"}).err, HasSubstr("can be read only once"));
    good({"trace", "convert", "radix", "t.ct.h5", "keys=400", "--force"});
    EXPECT_THAT(call({"campaign", "resume", "sweep0"}).err, HasSubstr("is not what it was when the campaign began"));
}

TEST_F(Campaigns, TheStudyOfTheDocsHasTenThousandPoints) {
    const std::string out =
        good(
            {"campaign", "run", std::string(CACHETALLY_SOURCE_DIR) + "/examples/campaigns/placement.yaml", "--dry-run"})
            .out;
    EXPECT_THAT(out, HasSubstr("placement: 10000 points in 250 bundles\n"));
}

TEST_F(Campaigns, ScriptsForASchedulerAreShown) {
    const std::string out = good({"campaign", "run", "c.yaml", "--slurm", "--dry-run", "--tasks", "5", "--partition",
                                  "long", "--time", "1:00:00", "--memory", "2G", "--jobs", "3", "--sbatch", "--nice=7"})
                                .out;
    for (const char* line :
         {"#SBATCH --array=1-5\n", "#SBATCH --partition=long\n", "#SBATCH --time=1:00:00\n", "#SBATCH --mem=2G\n",
          "#SBATCH --nice=7\n", "#SBATCH --cpus-per-task=3\n", "--shard \"$SLURM_ARRAY_TASK_ID/5\" --jobs 3\n",
          "# sbatch --dependency=afterany:JOB merge.sh\n", " --partial\n"})
        EXPECT_THAT(out, HasSubstr(line));
    const Words asked{"campaign", "run", "c.yaml", "--slurm", "--dry-run", "--points-per-task", "20"};
    EXPECT_THAT(good(asked).out, HasSubstr("#SBATCH --array=1-4\n")) << "of 72 points";
    EXPECT_THAT(call(asked + Words{"--tasks", "5"}).err, HasSubstr("--tasks"));
    EXPECT_THAT(call(asked + Words{"--shard", "1/2"}).err, HasSubstr("--shard"));
    EXPECT_THAT(call(asked + Words{"--sbatch", "--a\nb"}).err, HasSubstr("write an option in one line"));
    EXPECT_THAT(good(asked + Words{"--sbatch", "--comment=a b"}).out, HasSubstr("#SBATCH --comment=\"a b\"\n"));
    for (const char* const own : {"--array=1-3", "-d 7"})
        EXPECT_THAT(call(asked + Words{"--sbatch", own}).err, HasSubstr("is set by the scripts themselves"));
    EXPECT_FALSE(fs::exists(path("c.campaign"))) << "nothing was begun";
}

TEST_F(Campaigns, WrongUse) {
    EXPECT_EQ(call({"campaign", "run", "none.yaml"}).status, 2);
    const Finished none = call({"campaign", "status", "nowhere"});
    EXPECT_EQ(none.status, 1);
    EXPECT_THAT(none.err, HasSubstr("'nowhere' holds no campaign"));
    const Finished shard = call({"campaign", "run", "c.yaml", "--shard", "5/4"});
    EXPECT_EQ(shard.status, 2);
    EXPECT_THAT(shard.err, HasSubstr("write I/N"));
    EXPECT_FALSE(fs::exists(path("c.campaign"))) << "nothing was begun";
    EXPECT_THAT(call({"campaign", "status", "here/campaign.json"}).err, Not(HasSubstr("campaign.campaign")));
    write("l.yaml",
          "machines: [generic3, schulz2002]\nworkloads: [{run: lu, set: {n: 16}}]\nmonitors: [{set: {link: "
          "core-L1D}}]\n");
    EXPECT_THAT(
        good({"campaign", "run", "l.yaml", "--dry-run"}).err,
        HasSubstr("warning: l.yaml:3:12: 1 of 2 machines cannot have this monitor, and their points will fail"));
    EXPECT_THAT(call({"campaign", "run", "c.yaml", "--tasks", "5"}).err, HasSubstr("--slurm"));
    EXPECT_THAT(call({"campaign", "work", "c.yaml"}).err, HasSubstr("--shard is required"));
}

TEST_F(Campaigns, WhatTracesCannotIsToldBeforehand) {
    good({"trace", "convert", "lu", "one.ct.h5", "n=32"});
    good({"trace", "convert", "lu", "two.ct.h5", "n=32", "processors=2"});
    const auto dry_run = [&](const std::string& machines, const std::string& trace) {
        write("t.yaml", fmt::format("machines: {}\nworkloads: [{{trace: {}}}]\n", machines, trace));
        return call({"campaign", "run", "t.yaml", "--dry-run"});
    };
    const std::string one = "[generic3]", also_two = "[generic3, {machine: generic3, set: {cores: 2}}]";
    EXPECT_EQ(dry_run(one, "one.ct.h5").err, "");
    EXPECT_THAT(dry_run(also_two, "one.ct.h5").err, HasSubstr("warning: one.ct.h5 has one stream of references"));
    EXPECT_EQ(dry_run(also_two, "two.ct.h5").err, "");
    const Finished none = dry_run(one, "two.ct.h5");
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.err, HasSubstr("t.yaml:2:13: error: 'two.ct.h5' runs on 2 processors, and no machine has more"));
}

}  // namespace
}  // namespace cachetally::testing

// SPDX-License-Identifier: BSD-3-Clause
// The commands that campaigns name repeat what they found.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "probes/validation/random_machine.hpp"
#include "probes/validation/truth.hpp"
#include "probes/validation/validation.hpp"
#include "sim/model/indexing/table.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Replay, CommandsNameWhatTheCampaignChose) {
    ValidationOptions options;
    options.seed = 3;
    options.noise = "realistic";
    options.no_events = "none here";
    options.directory = "worst";
    options.suite.tests = {"l1", "tlb"};
    options.suite.published = false;
    const std::string seed = std::to_string(machine_run(options, 17).target.seed);
    EXPECT_EQ(replay_command(options, 17),
              "cachetally probe l1 tlb --robust --machine worst/random-3-17.yaml --noise "
              "realistic --no-events 'none here' --seed " +
                  seed + " --orders 1");
    options.suite.tests.clear();
    options.suite.published = true;
    EXPECT_THAT(replay_command(options, 17), HasSubstr(" --cheap "));
    EXPECT_THAT(replay_command(options, 50), Not(HasSubstr("--cheap")));
}

TEST(Replay, MixedNoiseIsNamed) {
    ValidationOptions options;
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

TEST(Replay, SmallPagesAndFilesAreNamed) {
    ValidationOptions options;
    options.population = Population::wide;
    std::set<bool> drawn;
    for (std::uint64_t number = 0; number < 40; ++number) {
        const bool small = random_machine(options.seed, number, Population::wide).small_pages;
        drawn.insert(small);
        EXPECT_EQ(machine_run(options, number).target.large_pages.empty(), small);
        EXPECT_EQ(replay_command(options, number).find(" --small-pages") != std::string::npos, small);
    }
    EXPECT_EQ(drawn.size(), 2U);
    options.given.push_back({"mine/one.yaml", load_machine("bcm2835")});
    EXPECT_THAT(replay_command(options, 0), HasSubstr(" --machine mine/one.yaml --seed"));
    options.small_pages = true;
    EXPECT_THAT(replay_command(options, 0), HasSubstr(" --machine mine/one.yaml --small-pages --seed"));
}

// As docs/results/probes.md scores them.
TEST(RandomMachine, UsualOnesAreThoseOfEarlierScores) {
    const MachineDescription machine = random_machine(918273, 203);
    std::vector<std::uint64_t> sizes;
    for (const CacheConfig& cache : machine.caches) sizes.push_back(cache.size);
    EXPECT_EQ(sizes, (std::vector<std::uint64_t>{2 << 10, 16 << 10, 128 << 10, 1536 << 10}));
    EXPECT_EQ(machine.caches[3].seed, 318178171U);
    EXPECT_EQ(machine.pages.seed, 843009844U);
    EXPECT_EQ(random_machine(918273, 203, Population::usual).machine, machine);
}

// Each is a machine that there can be, and all kinds are among them; sizes are those of the usual ones.
TEST(RandomMachine, WideOnesHaveEveryKind) {
    std::set<std::string> kinds;
    unsigned timed = 0, parallel = 0;
    for (std::uint64_t number = 0; number < 200; ++number) {
        const RandomMachine drawn = random_machine(5, number, Population::wide);
        EXPECT_NO_THROW(Topology{drawn.machine}) << number;
        const MachineDescription usual = random_machine(5, number);
        const CacheConfig& l1 = drawn.machine.caches.front();
        kinds.insert(drawn.machine.coherence.by == CoherenceBy::snooping ? "snooping" : "directory");
        kinds.insert(drawn.small_pages ? "small pages" : "large pages");
        kinds.insert(l1.virtually_indexed ? "virtual" : "physical");
        if (!l1.virtually_indexed && l1.size / l1.ways > drawn.machine.pages.size) kinds.insert("longer than pages");
        if (l1.indexing == indexings::xor_hash) kinds.insert("hashed");
        timed += l1.outstanding_misses > 0;
        parallel += drawn.machine.cores > 1;
        for (const Fact& fact : facts_of(drawn.machine)) {
            if (fact.parameter == "parallelism") kinds.insert("parallelism of " + fact.level);
            if (fact.parameter == "transfer_groups") kinds.insert("transfers");
        }
        const std::string text = write_machine(drawn.machine);  // as --worst keeps it
        EXPECT_EQ(write_machine(read_machine(text, "drawn.yaml")), text);
        for (std::size_t i = 0; i < usual.caches.size(); ++i) {
            const CacheConfig& cache = drawn.machine.caches[i];
            if (drawn.machine.cores > 1) kinds.insert("shared by " + std::to_string(cache.shared_by));
            EXPECT_EQ(cache.size, usual.caches[i].size);
            kinds.insert(std::string(name_of(cache.replacement)));
            kinds.insert(std::string(name_of(cache.prefetch.kind)));
        }
    }
    EXPECT_GT(timed, 30U);  // of 200, 25 %
    EXPECT_LT(timed, 70U);
    EXPECT_GT(parallel, 20U);  // 20 %
    EXPECT_LT(parallel, 60U);
    for (const char* kind : {"small pages", "large pages", "virtual", "physical", "longer than pages", "hashed",
                             "bit_plru", "nru", "none", "next_line", "stride", "stream", "parallelism of L2",
                             "transfers", "shared by 0", "shared by 1", "shared by 2", "snooping", "directory"})
        EXPECT_TRUE(kinds.contains(kind)) << kind;
}

// Beside what the wide ones have.
TEST(RandomMachine, ModernOnesHaveEveryKind) {
    std::set<std::string> kinds;
    for (std::uint64_t number = 0; number < 200; ++number) {
        const RandomMachine drawn = random_machine(5, number, Population::modern);
        EXPECT_NO_THROW(Topology{drawn.machine}) << number;
        for (const CacheConfig& cache : drawn.machine.caches) {
            kinds.insert(std::string(name_of(cache.replacement)));
            kinds.insert(std::string(name_of(cache.prefetch.kind)));
            if (cache.sector != 0) kinds.insert("sectors of " + cache.name);
            if (cache.slices != 0) kinds.insert(std::to_string(cache.slices) + " slices");
        }
        for (const TlbConfig& tlb : drawn.machine.tlbs) kinds.insert(fmt::format("{} pages an entry", tlb.coalesces));
        if (!drawn.machine.pages.walk_caches.empty()) kinds.insert("page-walk caches");
    }
    for (const char* kind : {"qlru_h11_m1_r0_u0", "drrip", "srrip", "adjacent_line", "sectors of L1", "sectors of L2",
                             "2 slices", "6 slices", "10 slices", "12 slices", "page-walk caches", "1 pages an entry",
                             "2 pages an entry", "4 pages an entry", "8 pages an entry", "16 pages an entry"})
        EXPECT_TRUE(kinds.contains(kind)) << kind;
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

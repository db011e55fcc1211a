// SPDX-License-Identifier: BSD-3-Clause
// The machines that are built in, and files as machines.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cachetally/topology.hpp"

namespace cachetally {
namespace {

TEST(MachinePresets, AreValidNamedDescribedAndSourced) {
    std::vector<std::string> names;
    for (const PresetInfo& preset : machine_presets()) {
        names.push_back(preset.name);
        const MachineDescription machine = load_machine(preset.name);
        EXPECT_EQ(machine.name, preset.name);
        EXPECT_FALSE(preset.description.empty()) << preset.name;
        EXPECT_EQ(machine.description, preset.description);
        EXPECT_FALSE(machine.source.empty()) << preset.name;
        EXPECT_NO_THROW(Topology{machine}) << preset.name;
        EXPECT_EQ(write_machine(read_machine(write_machine(machine), "again")), write_machine(machine)) << preset.name;
    }
    for (const char* name : {"schulz2002", "generic3", "bench3", "bench3tlb"})
        EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
}

TEST(MachinePresets, TheMachineOfSchulzHasTwoLevelsOf16ByteLinesAndNoTlb) {
    const MachineDescription machine = load_machine("schulz2002");
    ASSERT_EQ(machine.caches.size(), 2U);
    EXPECT_EQ(machine.caches[0].line, 16U);
    EXPECT_EQ(machine.caches[1].line, 16U);
    EXPECT_TRUE(machine.tlbs.empty());
}

TEST(MachinePresets, TheBenchmarkMachinesDifferInTheTlbAlone) {
    MachineDescription without = load_machine("bench3"), with = load_machine("bench3tlb");
    ASSERT_EQ(without.caches.size(), 3U);
    EXPECT_EQ(without.caches[0].size, 32U << 10);
    EXPECT_EQ(without.caches[1].size, 256U << 10);
    EXPECT_EQ(without.caches[2].size, 8U << 20);
    EXPECT_EQ(without.caches[0].ways, 8U);
    EXPECT_EQ(without.caches[1].ways, 8U);
    EXPECT_EQ(without.caches[2].ways, 16U);
    EXPECT_TRUE(without.tlbs.empty());
    ASSERT_EQ(with.tlbs.size(), 2U);
    EXPECT_EQ(with.pages.mapping, Mapping::contiguous);
    with.name = without.name;
    with.description = without.description;
    with.tlbs.clear();
    with.pages = without.pages;
    EXPECT_EQ(write_machine(with), write_machine(without));
}

std::string message_of(const std::string& name) {
    try {
        load_machine(name);
        return "";
    } catch (const MachineError& error) {
        return error.what();
    }
}

TEST(LoadMachine, SuggestsThePresetThatWasMeant) {
    const std::string message = message_of("generic4");
    const std::string begin =
        "generic4: error: this is no built-in machine, and cannot be read as a machine file: No such file or "
        "directory; did you "
        "mean 'generic3'? known are: ";
    EXPECT_EQ(message.substr(0, begin.size()), begin);
    EXPECT_NE(message.find("bench3, bench3tlb, "), std::string::npos) << message;
}

TEST(LoadMachine, RefusesWhatIsNoFile) {
    EXPECT_NE(message_of("/").find(
                  "/: error: this is no built-in machine, and cannot be read as a machine file: Is a directory"),
              std::string::npos)
        << message_of("/");
    EXPECT_EQ(message_of("/dev/zero"), "/dev/zero: error: the file is larger than 1 MiB, which no machine file is");
    EXPECT_EQ(message_of("/dev/null"),
              "/dev/null:1:1: error: a machine is a mapping of keys to values, as in 'cores: 4'");
}

TEST(LoadMachine, ReadsAFile) {
    const auto path = std::filesystem::path(testing::TempDir()) / "cachetally_load_machine.yaml";
    std::ofstream(path) << "name: mine\ncores: 2\n";
    const MachineDescription machine = load_machine(path.string());
    std::filesystem::remove(path);
    EXPECT_EQ(machine.name, "mine");
    EXPECT_EQ(machine.file, path.string());
    EXPECT_EQ(machine.text, "name: mine\ncores: 2\n");
}

}  // namespace
}  // namespace cachetally

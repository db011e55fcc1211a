// SPDX-License-Identifier: BSD-3-Clause
// The machine that a kernel and a processor state: folders and leaves made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

#include "cachetally/topology.hpp"
#include "sim/topology/host_machine.hpp"

namespace cachetally {
namespace {

using ::testing::HasSubstr;
using Leaves = std::map<std::pair<std::uint32_t, std::uint32_t>, std::array<std::uint32_t, 4>>;

Cpuid cpuid_of(Leaves leaves) {
    return [leaves = std::move(leaves)](std::uint32_t leaf, std::uint32_t subleaf) {
        const auto found = leaves.find({leaf, subleaf});
        return found == leaves.end() ? std::array<std::uint32_t, 4>{} : found->second;
    };
}

class HostMachine : public ::testing::Test {
protected:
    HostMachine() : directory_(std::filesystem::path(::testing::TempDir()) / "cachetally-host-XXXXXX") {
        if (::mkdtemp(directory_.data()) == nullptr) throw std::runtime_error("no directory: " + directory_);
    }
    ~HostMachine() override { std::filesystem::remove_all(directory_); }
    void add(const std::string& level, const std::string& type, const std::string& size, const std::string& ways,
             const std::string& shared) {
        const std::filesystem::path index = directory_ + "/index" + std::to_string(caches_++);
        std::filesystem::create_directory(index);
        const auto write = [&](const char* name, const std::string& text) {
            std::ofstream(index / name) << text << '\n';
        };
        write("level", level), write("type", type), write("size", size), write("ways_of_associativity", ways);
        write("coherency_line_size", "64"), write("shared_cpu_list", shared);
    }
    MachineDescription machine(const Cpuid& cpuid) {
        return read_machine(host_machine_file(directory_, cpuid), "host");
    }
    std::string directory_;

private:
    unsigned caches_ = 0;
};

TEST_F(HostMachine, HasTheCachesOfTheKernel) {
    add("1", "Data", "48K", "12", "0,8"), add("1", "Instruction", "32K", "8", "0,8");
    add("2", "Unified", "1280K", "20", "0,8"), add("3", "Unified", "24576K", "12", "0-15");
    const MachineDescription found = machine(cpuid_of({}));
    ASSERT_EQ(found.caches.size(), 4U);
    EXPECT_EQ(found.caches[0].size, 48U << 10);
    EXPECT_EQ(found.caches[0].ways, 12U);
    EXPECT_EQ(found.caches[0].serves, Serves::data);
    EXPECT_EQ(found.caches[2].size, 1280U << 10);
    EXPECT_EQ(found.caches[2].next, "L3");
    EXPECT_EQ(found.caches[2].shared_by, 1U);
    EXPECT_EQ(found.caches[3].shared_by, 0U);  // all
    EXPECT_EQ(found.caches[3].next, "memory");
    EXPECT_THAT(found.description, HasSubstr("assumed: DTLB, ITLB, STLB, latencies"));
    EXPECT_TRUE(is_assumed(found, "TLB1") && is_assumed(found, "TLB2") && !is_assumed(found, "L1"));
    EXPECT_NO_THROW(Topology{found});
}

TEST_F(HostMachine, HasTheTlbsOfIntelsLeaf18) {
    add("1", "Data", "32K", "8", "0");
    const std::uint32_t full = 0x100, first = 1 << 5, second = 2 << 5;
    const MachineDescription found = machine(cpuid_of({{{0, 0}, {0x1f, 0x756e6547, 0, 0}},
                                                       {{0x18, 0}, {4, 0, 0, 0}},
                                                       {{0x18, 1}, {0, 8 << 16 | 1, 16, first | 2}},
                                                       {{0x18, 2}, {0, 6 << 16 | 1, 16, first | 1}},
                                                       {{0x18, 3}, {0, 16 << 16 | 8, 1, full | first | 5}},  // 1 GiB
                                                       {{0x18, 4}, {0, 12 << 16 | 3, 128, second | 3}}}));
    ASSERT_EQ(found.tlbs.size(), 3U);
    EXPECT_EQ(found.tlbs[0].entries, 96U);
    EXPECT_EQ(found.tlbs[0].ways, 6U);
    EXPECT_EQ(found.tlbs[1].entries, 128U);
    EXPECT_EQ(found.tlbs[2].entries, 1536U);
    EXPECT_EQ(found.tlbs[2].ways, 12U);
    EXPECT_THAT(found.description, HasSubstr("assumed: latencies"));
    EXPECT_FALSE(is_assumed(found, "TLB1") || is_assumed(found, "TLB2"));
}

TEST_F(HostMachine, HasTheTlbsOfAmdsLeavesAlsoInUnitsOf32) {
    add("1", "Data", "32K", "8", "0");
    Leaves leaves = {{{0, 0}, {0x10, 0x68747541, 0, 0}},
                     {{0x80000000, 0}, {0x80000021, 0, 0, 0}},
                     {{0x80000005, 0}, {0, 0xff48ff40, 0, 0}},   // 72 and 64, fully associative
                     {{0x80000006, 0}, {0, 0x68004200, 0, 0}}};  // 2048 in 8 ways
    const MachineDescription found = machine(cpuid_of(leaves));
    EXPECT_EQ(found.tlbs[0].entries, 72U);
    EXPECT_EQ(found.tlbs[0].ways, 72U);
    EXPECT_EQ(found.tlbs[1].entries, 64U);
    EXPECT_EQ(found.tlbs[2].entries, 2048U);
    EXPECT_EQ(found.tlbs[2].ways, 8U);
    leaves[{0x80000006, 0}][1] = 0x60804200;  // 128 units
    leaves[{0x80000021, 0}][0] = 1 << 14;
    EXPECT_EQ(machine(cpuid_of(leaves)).tlbs[2].entries, 4096U);
}

/// By hand: 48 KiB in 12 ways, 32 KiB in 8 and 1,280 KiB in 10, each of two threads of a core, and 30 MiB in 12, of
/// 128.
const Leaves same_fields = {{{4, 0}, {0x4121, 11 << 22 | 63, 63, 0}},
                            {{4, 1}, {0x4122, 7 << 22 | 63, 63, 0}},
                            {{4, 2}, {0x4143, 9 << 22 | 63, 2047, 0}},
                            {{4, 3}, {0x1fc163, 11 << 22 | 63, 40959, 0}}};

TEST_F(HostMachine, HasTheCachesOfIntelsLeaf4OrAmdsLeaf1DWhereTheKernelHasNone) {
    Leaves intel = same_fields, amd = {{{0, 0}, {0x10, 0x68747541, 0, 0}}, {{0x80000000, 0}, {0x8000001e, 0, 0, 0}}};
    intel[{0, 0}] = {4, 0x756e6547, 0, 0};
    for (const auto& [leaf, words] : same_fields) amd[{0x8000001d, leaf.second}] = words;
    amd[{0x80000006, 0}] = {0, 0, 0x02008140, 0};  // another L2, which counts only where leaf 0x8000001D is missing
    for (const Leaves& leaves : {intel, amd}) {
        const MachineDescription found = machine(cpuid_of(leaves));
        ASSERT_EQ(found.caches.size(), 4U);
        EXPECT_EQ(found.caches[0].size, 48U << 10);
        EXPECT_EQ(found.caches[0].ways, 12U);
        EXPECT_EQ(found.caches[0].serves, Serves::data);
        EXPECT_EQ(found.caches[1].size, 32U << 10);
        EXPECT_EQ(found.caches[1].serves, Serves::fetch);
        EXPECT_EQ(found.caches[2].size, 1280U << 10);
        EXPECT_EQ(found.caches[2].shared_by, 1U);
        EXPECT_EQ(found.caches[3].size, 30U << 20);
        EXPECT_EQ(found.caches[3].shared_by, 0U);
        EXPECT_THAT(found.description, HasSubstr("caches as CPUID states them, TLBs by"));
    }
}

/// As a virtual machine on an AMD Zen 5 server processor states them: leaves 4 and 0x8000001D are empty, and the L3's
/// associativity is 9, so that its size of 508 MiB means nothing.
TEST_F(HostMachine, HasTheCachesOfAmdsOlderLeavesWithoutAnL3WhoseFieldsAreInvalid) {
    Leaves leaves = {{{0, 0}, {0x10, 0x68747541, 0, 0}},
                     {{0x80000000, 0}, {0x80000021, 0, 0, 0}},
                     {{0x80000005, 0}, {0xff60ff40, 0xff60ff40, 0x300c0140, 0x20080140}},
                     {{0x80000006, 0}, {0x40802040, 0x60804040, 0x04006140, 0x0fe09140}}};
    MachineDescription found = machine(cpuid_of(leaves));
    ASSERT_EQ(found.caches.size(), 3U);
    EXPECT_EQ(found.caches[0].size, 48U << 10);
    EXPECT_EQ(found.caches[0].ways, 12U);
    EXPECT_EQ(found.caches[1].size, 32U << 10);
    EXPECT_EQ(found.caches[1].ways, 8U);
    EXPECT_EQ(found.caches[2].size, 1U << 20);
    EXPECT_EQ(found.caches[2].ways, 8U);
    EXPECT_EQ(found.caches[2].next, "memory");
    EXPECT_EQ(found.tlbs[0].entries, 96U);
    EXPECT_THAT(found.description, HasSubstr("caches as CPUID states them (no L3), TLBs by CPUID"));
    leaves[{0x80000006, 0}][3] = 0x01008140;  // 32 MiB in 16 ways
    found = machine(cpuid_of(leaves));
    ASSERT_EQ(found.caches.size(), 4U);
    EXPECT_EQ(found.caches[3].size, 32U << 20);
    EXPECT_EQ(found.caches[3].ways, 16U);
    EXPECT_EQ(found.caches[3].shared_by, 0U);
}

TEST_F(HostMachine, WithoutCachesIsRefused) {
    try {
        host_machine_file(directory_, cpuid_of({}));
        FAIL();
    } catch (const MachineError& error) {
        EXPECT_THAT(error.what(), HasSubstr("nor CPUID states caches of this machine; name a machine file"));
    }
}

}  // namespace
}  // namespace cachetally

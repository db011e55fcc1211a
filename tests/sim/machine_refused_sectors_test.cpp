// SPDX-License-Identifier: BSD-3-Clause
// Machine files whose caches cannot have the sectors that they state.
#include "tests/sim/machine_refusal.hpp"

namespace cachetally {
namespace {

class MachineSectorsRefused : public testing::TestWithParam<Refusal> {};

TEST_P(MachineSectorsRefused, InTheseWords) { EXPECT_EQ(complaints(GetParam().text), GetParam().messages); }

INSTANTIATE_TEST_SUITE_P(
    Sectors, MachineSectorsRefused,
    testing::Values(
        Refusal{
            "SectorIsNoPowerOfTwo",
            "caches:\n"
            "  - {name: L1, next: memory, size: 4K, ways: 2, sector: 24}\n",
            "m:2:57: error: the sectors of 'L1' have 24 bytes; write a power of two from 8 to 32, half the line, or "
            "remove it"},
        Refusal{
            "SectorIsTheLine",
            "caches:\n"
            "  - {name: L1, next: memory, size: 4K, ways: 2, sector: 64}\n",
            "m:2:57: error: the sectors of 'L1' have 64 bytes; write a power of two from 8 to 32, half the line, or "
            "remove it"},
        Refusal{"MoreThan64Sectors",
                "caches:\n"
                "  - {name: L1, next: memory, size: 8K, ways: 2, line: 1024, sector: 8}\n",
                "m:2:69: error: the sectors of 'L1' have 8 bytes; write a power of two from 16 to 512, half the line, "
                "or remove it"},
        Refusal{"SectorIsShorterThanALineAbove",
                "caches:\n"
                "  - {name: L1, next: L2, size: 4K, ways: 2}\n"
                "  - {name: L2, next: memory, size: 8K, ways: 2, line: 128, sector: 32}\n",
                "m:3:68: error: the sectors of 'L2' have 32 bytes, less than the 64 of a line of 'L1' above; write at "
                "least 64 here"},
        Refusal{"SectorIsShorterThanOneAbove",
                "caches:\n"
                "  - {name: L1, next: L2, size: 4K, ways: 2, sector: 32}\n"
                "  - {name: L2, next: memory, size: 8K, ways: 2, sector: 16}\n",
                "m:3:57: error: the sectors of 'L2' have 16 bytes, less than the 32 of a sector of 'L1' above; write "
                "at least 32 here"},
        Refusal{"SectorOfAnInclusiveLevel",
                "caches:\n"
                "  - {name: L1, next: L2, size: 4K, ways: 2, sector: 32}\n"
                "  - {name: L2, next: memory, size: 8K, ways: 2, inclusion: inclusive, sector: 32}\n",
                "m:3:79: error: the sectors of 'L2' have 32 bytes, less than the 64 of a line of 'L1' above; write at "
                "least 64 here"},
        Refusal{"SectorsOfVictims",
                "caches:\n"
                "  - {name: L1, next: V, size: 4K, ways: 2}\n"
                "  - {name: V, next: memory, size: 4K, ways: 2, inclusion: victim, sector: 32}\n",
                "m:3:75: error: 'V' is filled by victims, which are whole lines; remove 'sector'"},
        Refusal{"SectorsAboveVictims",
                "caches:\n"
                "  - {name: L1, next: V, size: 4K, ways: 2, sector: 32}\n"
                "  - {name: V, next: memory, size: 4K, ways: 2, inclusion: victim}\n",
                "m:2:52: error: 'L1' hands its victims to 'V' as whole lines; remove 'sector'"},
        Refusal{"CoherentSectors",
                "cores: 2\ncoherence: {protocol: mesi}\n"
                "caches:\n"
                "  - {name: L1, next: memory, shared_by: 1, size: 4K, ways: 2, sector: 32}\n",
                "m:4:71: error: 'L1' is kept coherent by whole lines; remove 'sector'"}),
    case_name);

}  // namespace
}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// A test of one's own, and what is true of what it finds: the bytes that the first TLB reaches (docs/probe-authors.md).
#include <algorithm>

#include "cachetally/probe_program.hpp"
#include "cachetally/probe_test.hpp"

namespace {

using namespace cachetally;

constexpr std::uint64_t most_pages = 2048;

/// One line in each of so many pages, against as many lines that lie packed: only translation differs. Disturbances
/// lengthen times, so that a rise has to be seen each time.
bool exceeds_the_tlb(Meter& meter, const Arena& arena, std::uint64_t pages, std::uint64_t line) {
    const double least_step = meter.noise() > 0 ? 0.5 : 0.05;  // cycles per load
    const PairedStrings strings = paired_strings(pages, arena.page, line, meter.seed());
    for (int trial = 0; trial < (meter.noise() > 0 ? 3 : 1); ++trial) {
        const auto [spread, packed] = meter.settled_in_turn(arena, strings.spread, strings.packed);
        if (spread - packed <= least_step + meter.tolerance(packed)) return false;
    }
    return true;
}

TestReport reach(Meter& meter, const Context& context) {
    TestReport report;
    const std::uint64_t line = l1_of(context).line;
    const Arena arena = meter.arena_up_to(most_pages * meter.page(), meter.page());
    const std::uint64_t most = arena.bytes / arena.page;
    std::uint64_t fits = 1, exceeds = 2;
    while (exceeds <= most && !exceeds_the_tlb(meter, arena, exceeds, line)) {
        fits = exceeds;
        exceeds *= 2;
    }
    if (exceeds > most) {
        report.refuse("TLB1", "reach", "{} pages take no longer than one", fits);
        return report;
    }
    while (exceeds - fits > 1) {
        const std::uint64_t middle = (fits + exceeds) / 2;
        (exceeds_the_tlb(meter, arena, middle, line) ? exceeds : fits) = middle;
    }
    report.answer("TLB1", "reach", fits * arena.page, "bytes", "one line per page against packed lines, bisected");
    return report;
}

/// The TLB that no other one of data has as its next, if it takes the machine's own pages.
std::vector<Fact> truth_of_reach(const MachineDescription& machine) {
    const auto takes_data = [](const TlbConfig& tlb) { return tlb.serves != Serves::fetch; };
    for (const TlbConfig& tlb : machine.tlbs) {
        const bool is_next = std::ranges::any_of(
            machine.tlbs, [&](const TlbConfig& other) { return takes_data(other) && other.next == tlb.name; });
        if (!takes_data(tlb) || is_next) continue;
        const Mapping mapping = machine.pages.mapping;
        const bool in_order = mapping == Mapping::identity || mapping == Mapping::contiguous;
        const std::uint64_t entry = tlb.granule == 0 ? machine.pages.size * (in_order ? tlb.coalesces : 1)
                                                     : std::min(tlb.granule, machine.pages.size);
        return {{"TLB1", "reach", {static_cast<double>(tlb.entries * entry), ""}}};
    }
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    add_test({.name = "reach",
              .source = "the example of docs/probe-authors.md",
              .meaning = "bytes that the first TLB reaches",
              .robust = reach,
              .level = "TLB1",
              .parameter = "reach",
              .truth = truth_of_reach});
    return run_program(argc, argv);
}

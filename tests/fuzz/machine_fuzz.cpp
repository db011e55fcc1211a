// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes machine files: whatever the bytes are, they make a machine or a MachineError. A machine that is good is also
// written and read back.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cachetally/topology.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    try {
        const cachetally::Topology topology(cachetally::read_machine(text, "fuzz.yaml"));
        (void)topology.to_dot();
        const std::string written = cachetally::write_machine(topology.machine());
        const cachetally::Topology again(cachetally::read_machine(written, "again.yaml"));
        if (cachetally::write_machine(again.machine()) != written) std::abort();
    } catch (const cachetally::MachineError&) {
        // what a bad file shall cause
    }
    return 0;
}

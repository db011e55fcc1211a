// SPDX-License-Identifier: BSD-3-Clause
// The same program on the same machine, by the engine and by SystemC, with all that can be seen of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachetally/run.hpp"
#include "cachetally/topology.hpp"
#include "monitor/monitor.hpp"
#include "monitor/spec_placement.hpp"
#include "sim/tlm/platform.hpp"

namespace cachetally::testing {

/// References, then a control; the last of a core ends with Control::Kind::end.
struct Part {
    std::vector<Reference> references;
    Control control{Control::Kind::end, 0};
    bool fails = false;  ///< the source fails in place of giving it
};
using Program = std::vector<Part>;

struct Seen {
    std::size_t link = 0;
    unsigned copy = 0;
    LinkEvent event;
};
bool operator==(const Seen& a, const Seen& b);
std::string to_text(const Seen& seen);

/// What sees the events of a run.
enum class Watching : std::uint8_t {
    each,      ///< listeners on all links that want each event, with its time; and the monitors
    monitors,  ///< the monitors alone
};

struct Case {
    MachineDescription machine;
    std::vector<Program> programs;  ///< by core
    RunOptions options;
    std::vector<MonitorSpec> monitors;  ///< each on all copies of its link
    Watching watching = Watching::each;
    bool filtered = false;  ///< the source gives filtered references, if they are wished
};

/// A case that is ready to be run, once, by either host.
class Run {
public:
    explicit Run(const Case& test_case);
    ~Run();
    Run(Run&&) noexcept;

    const Topology& topology() const;
    Hierarchy& hierarchy();

    void by_engine();
    /// Elaborates; to be followed by sc_start() and take().
    void elaborate(const std::string& name);
    void take();

    const RunResult& result() const;
    const std::vector<Seen>& seen() const;
    std::vector<MonitorResult> monitors();
    std::size_t filtered() const;  ///< references that came filtered
    const TimedMemory& memory(std::size_t number) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// The first difference in words, or nothing.
std::string difference(Run& first, Run& second);

/// Between what the hierarchy sent and what memories have seen, which are modules of SystemC.
std::string difference_of_memories(Run& systemc);

/// Runs cases by both hosts, those of SystemC side by side in one simulation, and fails the test where they differ.
void expect_equal_hosts(const std::vector<Case>& cases);

}  // namespace cachetally::testing

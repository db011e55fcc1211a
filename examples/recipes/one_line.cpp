// SPDX-License-Identifier: BSD-3-Clause
// A probe test: one_line times loads of one location, over and over. Belongs into probes/ours/; its row is
// {.name = "one_line", .source = "ours", .meaning = "latency of L1 by one location", .robust = one_line, .level = "L1",
//  .parameter = "latency"}. A program of one's own gives the same to add_test().
#include "cachetally/probe_test.hpp"

namespace cachetally {

TestReport one_line(Meter& meter, const Context&) {
    TestReport report;
    const double cycles = meter.settled(meter.target().make_arena(meter.page(), meter.page()), {0});
    const double off = meter.tolerance(cycles);
    report.answer("L1", "latency", cycles, cycles - off, cycles + off, "cycles", "loads of one location");
    return report;
}

}  // namespace cachetally

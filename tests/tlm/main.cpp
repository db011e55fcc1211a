// SPDX-License-Identifier: BSD-3-Clause
// GoogleTest inside sc_main: SystemC's library has main().
#include <gtest/gtest.h>

#include <systemc>

#include "tests/tlm/warnings.hpp"

namespace {

/// Warnings are kept for the tests that ask for them; errors go their usual way.
void report(const sc_core::sc_report& what, const sc_core::sc_actions& actions) {
    if (what.get_severity() != sc_core::SC_WARNING) return sc_core::sc_report_handler::default_handler(what, actions);
    cachetally::testing::warnings().push_back(std::string(what.get_msg_type()) + ": " + what.get_msg());
}

}  // namespace

// At the end the search for leaks may read the guard pages of SystemC's coroutines, and dies of it.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

int sc_main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    sc_core::sc_report_handler::set_handler(report);
    return RUN_ALL_TESTS();
}

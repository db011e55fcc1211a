// SPDX-License-Identifier: BSD-3-Clause
// GoogleTest inside sc_main: SystemC's library has main().
#include <gtest/gtest.h>

#include <systemc>

// At the end the search for leaks may read the guard pages of SystemC's coroutines, and dies of it.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

int sc_main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}

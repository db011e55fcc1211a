// SPDX-License-Identifier: BSD-3-Clause
// The program `cachetally`, as a function: for programs that bring tests of their own (probe_test.hpp).
#pragma once

namespace cachetally {

/// Does what `cachetally` does with this command line, under the name that the first word has; tests that add_test()
/// added are among the others, in `probe`, `validate`, `--help` and messages. Returns the exit status: 0 = done, 1 =
/// failed, 2 = wrong use. To be called once, and returned from main().
int run_program(int argc, char** argv);

}  // namespace cachetally

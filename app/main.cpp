// SPDX-License-Identifier: BSD-3-Clause
// cachetally, with the tests of the project.
#include "cachetally/probe_program.hpp"

int main(int argc, char** argv) { return cachetally::run_program(argc, argv); }

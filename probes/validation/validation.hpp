// SPDX-License-Identifier: BSD-3-Clause
// Validation: tests on many random machines, scored; and the scores in HDF5.
#pragma once

#include <functional>

#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/random_machine.hpp"
#include "probes/validation/tally.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// A machine that is not drawn.
struct GivenMachine {
    std::string file;
    MachineDescription machine;
};

struct ValidationOptions {
    std::uint64_t machines = 100;
    Population population = Population::usual;
    std::vector<GivenMachine> given;  ///< not empty: these, as many as `machines`, in place of random ones
    bool small_pages = false;         ///< no machine has pages but its own
    std::uint64_t seed = 1;
    std::string noise = "none";  ///< a name of noise_names(), or "mixed": one of none, quiet, realistic by machine
    /// In place of those, of the file that `noise` names.
    std::shared_ptr<const RecordedNoise> recorded_noise;
    std::string no_events;               ///< a reason hides the event counts
    std::string directory;               ///< of machine files, in Failure::replay; empty = where the command is run
    std::string program = "cachetally";  ///< that has the tests, in Failure::replay
    unsigned jobs = 1;
    SuiteOptions suite;
    /// Where no tests are named: published variants that are costly are run on every such machine only; 0 = on none.
    std::uint64_t costly_every = 50;
    /// Called by one thread at a time with the number of machines that are done; returning false ends the validation.
    /// SuiteOptions::budget.go_on ends it within a machine, which is then not among the results.
    std::function<bool(std::uint64_t done)> progress;
};

/// How one machine is probed. The seeds of its pages and noise, and, mixed, which noise, are hashes of the seed and the
/// number.
struct MachineRun {
    SimulatedOptions target;
    std::string noise;  ///< a name of noise_names(), or of a recording
    SuiteOptions suite;
};
MachineRun machine_run(const ValidationOptions& options, std::uint64_t number);

MachineDescription validation_machine(const ValidationOptions& options, std::uint64_t number);

/// Where a machine is written: "DIRECTORY/random-1-17.yaml"; or where it came from.
std::string machine_file(const ValidationOptions& options, std::uint64_t number);

/// The command that probes that file in the same way.
std::string replay_command(const ValidationOptions& options, std::uint64_t number);

/// What came of one machine. Throws ProbeError, with the file of a machine that was given.
MachineVerdicts verdicts_of(const ValidationOptions& options, std::uint64_t number);

/// The same for any number of jobs: every machine is a target of its own, its seed a hash of the seed and the number.
ValidationResult run_validation(const ValidationOptions& options);

/// Writes /summary (a column per member of Score) and /worst (machines on which tests failed, worst first, and how).
void write_validation(Group& root, const ValidationResult& result);

/// The same again; costs are not among it. Throws StorageError where the file is damaged.
ValidationResult read_validation(const Group& root);

}  // namespace cachetally

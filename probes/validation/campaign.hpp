// SPDX-License-Identifier: BSD-3-Clause
// A campaign: tests on many random machines, scored; and its scores in HDF5.
#pragma once

#include <functional>

#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/random_machine.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// A machine that is not drawn.
struct GivenMachine {
    std::string file;
    MachineDescription machine;
};

struct CampaignOptions {
    std::uint64_t machines = 100;
    Population population = Population::usual;
    std::vector<GivenMachine> given;  ///< not empty: these, as many as `machines`, in place of random ones
    bool small_pages = false;         ///< no machine has pages but its own
    std::uint64_t seed = 1;
    std::string noise = "none";  ///< a name of noise_names(), or "mixed": one of none, quiet, realistic by machine
    /// In place of those, of the file that `noise` names.
    std::shared_ptr<const RecordedNoise> recorded_noise;
    std::string no_events;       ///< a reason hides the event counts
    std::string directory;       ///< of machine files, in Failure::replay; empty = where the command is run
    std::string program = "cachetally";  ///< that has the tests, in Failure::replay
    unsigned jobs = 1;
    SuiteOptions suite;
    /// Where no tests are named: published variants that are costly are run on every such machine only; 0 = on none.
    std::uint64_t costly_every = 50;
    /// Called by one thread at a time with the number of machines that are done; returning false ends the campaign.
    /// SuiteOptions::budget.go_on ends it within a machine, which is then not among the results.
    std::function<bool(std::uint64_t done)> progress;
};

/// Verdicts on a parameter of all levels of all machines.
struct Score {
    std::string test, variant, parameter;
    std::uint64_t right = 0, wrong = 0, not_identifiable = 0;
};

/// A machine on which tests failed.
struct Failure {
    std::uint64_t machine = 0;
    std::uint64_t wrong = 0,
                  not_identifiable = 0;  ///< findings of robust tests (of published ones where there are no others)
    std::vector<std::string> wrong_findings;  ///< in words
    std::string replay = {};                  ///< the command that repeats it, from the machine's file; empty = unknown
};

struct CampaignResult {
    std::vector<Score> scores;      ///< in the order of tests, then parameters
    std::vector<Failure> failures;  ///< worst first
    std::uint64_t machines = 0;     ///< done
    ProbeCost cost;
};

/// How one machine of a campaign is probed. The seeds of its pages and noise, and, mixed, which noise, are hashes of
/// campaign and number.
struct MachineRun {
    SimulatedOptions target;
    std::string noise;  ///< a name of noise_names(), or of a recording
    SuiteOptions suite;
};
MachineRun machine_run(const CampaignOptions& options, std::uint64_t number);

MachineDescription campaign_machine(const CampaignOptions& options, std::uint64_t number);

/// Where a machine of a campaign is written: "DIRECTORY/random-1-17.yaml"; or where it came from.
std::string machine_file(const CampaignOptions& options, std::uint64_t number);

/// The command that probes that file as the campaign did.
std::string replay_command(const CampaignOptions& options, std::uint64_t number);

/// The same for any number of jobs: every machine is a target of its own, its seed a hash of campaign and number.
CampaignResult run_campaign(const CampaignOptions& options);

/// "L2 capacity: 12 KiB found, 16 KiB true"
std::string in_words(const Finding& finding);

/// Writes /summary (a column per member of Score) and /worst (machines on which tests failed, worst first, and how).
void write_campaign(Group& root, const CampaignResult& result);

/// The same again; costs are not among it. Throws StorageError where the file is damaged.
CampaignResult read_campaign(const Group& root);

}  // namespace cachetally

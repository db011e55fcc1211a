// SPDX-License-Identifier: BSD-3-Clause
// Verdicts on machines, counted: what one machine comes to, small enough to be kept for a million of them, and the
// scores of all.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "probes/result.hpp"
#include "probes/validation/truth.hpp"
#include "storage/group.hpp"

namespace cachetally {

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

struct ValidationResult {
    std::vector<Score> scores;      ///< in the order of tests, then parameters
    std::vector<Failure> failures;  ///< worst first
    std::uint64_t machines = 0;     ///< done
    ProbeCost cost;
};

/// A finding on a machine; or a fact of it that no finding of the test is about.
struct Judgement {
    std::string test, variant, level, parameter;
    bool is_finding = true;
    bool has_value = false;
    Verdict verdict = Verdict::unknown;
    std::string words = {};  ///< of a wrong finding
    friend bool operator==(const Judgement&, const Judgement&) = default;
};

struct MachineVerdicts {
    std::uint64_t machine = 0;
    bool is_done = false;
    ProbeCost cost;
    std::vector<Judgement> judgements;
};

/// `facts`: of the machine, as far as the test can know them.
void add_report(MachineVerdicts& verdicts, const TestReport& report, const std::vector<Fact>& facts);

/// "L2 capacity: 12 KiB found, 16 KiB true"
std::string in_words(const Finding& finding);

/// Counts verdicts on machines, all of which it must have seen before the first is added: what a test answers on other
/// machines and says nothing of on this one, though it is there, is not identified.
class VerdictTally {
public:
    /// `robust`: robust tests were run, and machines fail by these alone.
    explicit VerdictTally(bool robust) : robust_(robust) {}

    void see(const MachineVerdicts& machine);
    void add(const MachineVerdicts& machine);

    /// Of the worst machines no more than most_failures.
    ValidationResult result();

    static constexpr std::size_t most_failures = 10'000;

private:
    void add(const Judgement& judgement, Verdict verdict, Failure& failure);
    void keep_worst();

    bool robust_;
    std::set<std::array<std::string, 4>> answered_;  ///< on some machine
    ValidationResult result_;
};

/// Writes /verdicts, a row per judgement, and /machines, a row per machine; reads them back. Throws StorageError.
void write_verdicts(Group& root, const std::vector<MachineVerdicts>& machines);
std::vector<MachineVerdicts> read_verdicts(const Group& root);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Recording: what a target was asked and what it answered, kept so that tests can be run again without it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "probes/suite.hpp"
#include "probes/target.hpp"

namespace cachetally {

class Group;

/// One question and its answer.
struct RecordedRun {
    enum class Kind : std::uint8_t {
        run,
        latencies,
        stream,
        transfer = 16,   ///< between processors
        run_after = 17,  ///< of several
        prime_and_probe = 18,
    };
    enum class End : std::uint8_t {
        complete,
        budget_spent,
        ended,    ///< because Budget::go_on said so
        refused,  ///< by the target, which says why
    };

    Kind kind = Kind::run;
    End end = End::complete;
    std::uint32_t arena = 0;   ///< in Recording::arenas
    std::uint32_t string = 0;  ///< in Recording::strings; of streams 0
    bool floating_point = false;
    unsigned chains = 1;
    bool stores = false;
    Streaming stream = {};  ///< of those
    Effort effort;          ///< of latencies: warm_up, and `laps` samples; of several processors: `laps` rounds
    std::uint32_t processor = 0, other_processor = 0;  ///< that is timed; that writes, or runs the other string
    std::uint32_t other_string = 0;                    ///< of run_after; the probe of prime_and_probe
    std::uint32_t parts = 0, used = 0;                 ///< of prime_and_probe
    Renewal renewed = Renewal::none;                   ///< likewise
    std::uint64_t touched = PrimeProbe::nowhere;       ///< likewise
    Measurement measurement = {};
    std::vector<double> latencies = {};  ///< cycles
    std::string refusal = {};
    ProbeCost cost = {};  ///< of the target so far
};

struct RecordedArena {
    Arena arena;
    std::string refusal = {};                     ///< not empty: the target had none
    std::vector<std::uint64_t> physical_pages{};  ///< by page; empty where they could not be read
};

struct RecordedString {
    Recipe recipe;
    std::vector<std::uint64_t> listed{};  ///< offsets, or pages, where the recipe says so

    /// Throws std::invalid_argument for a recipe of which no string can be made in so many bytes.
    Offsets offsets(std::uint64_t arena_bytes) const;

    friend bool operator==(const RecordedString&, const RecordedString&) = default;
};

/// Strings, each of them once.
class RecordedStrings {
public:
    RecordedStrings() = default;
    explicit RecordedStrings(std::vector<RecordedString> all);

    const std::vector<RecordedString>& all() const { return all_; }
    std::optional<std::uint32_t> find(const Chase& chase) const;
    std::uint32_t find_or_add(const Chase& chase);

private:
    std::optional<std::uint32_t> find(const RecordedString& string, std::uint64_t digest) const;
    std::uint32_t add(RecordedString string, std::uint64_t digest);

    std::vector<RecordedString> all_;
    std::multimap<std::uint64_t, std::uint32_t> by_digest_;
};

struct Recording {
    std::string target;        ///< "native", or the name of a machine
    double frequency = 0;      ///< of the core, Hz; 0 = not known
    std::string machine_text;  ///< of a machine file: what the machine says of itself; may be empty
    /// What it says of who shares its levels ("shared_among"); empty where it says nothing. Kept beside the recording,
    /// by write_stated_sharing().
    std::vector<Fact> sharing = {};
    SuiteOptions suite;  ///< what was run; its budget is that in cycles
    Capabilities capabilities;
    std::vector<RecordedArena> arenas;  ///< in the order in which they were made
    RecordedStrings strings;
    std::vector<RecordedRun> runs;  ///< in the order in which they were made
};

/// The group `recording` of a result file (docs/format.md). Reading throws StorageError where it is damaged.
void write_recording(Group& root, const Recording& recording);
bool has_recording(const Group& root);
Recording read_recording(const Group& root);

}  // namespace cachetally

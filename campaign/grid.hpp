// SPDX-License-Identifier: BSD-3-Clause
// The points of a campaign: every machine with every workload, seed and monitor, but what conditions and a random draw
// leave out. Points that share references and hierarchy follow each other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "campaign/campaign_file.hpp"
#include "campaign/machine_settings.hpp"
#include "monitor/spec.hpp"

namespace cachetally {

/// A machine file or a trace as it was when the campaign began.
struct CampaignInput {
    std::string path;  ///< empty: built in
    std::string text;  ///< of machines
    std::string hash;  ///< XXH3-128 of the file
    friend bool operator==(const CampaignInput&, const CampaignInput&) = default;
};

struct CampaignInputs {
    std::map<std::string, CampaignInput> machines, traces;  ///< by the name in the campaign file
    friend bool operator==(const CampaignInputs&, const CampaignInputs&) = default;
};

/// What points differ by: a column of the result.
struct Parameter {
    std::string name;  ///< "L2.size", "n", "counters"
    bool is_number = false;
    friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// A kernel with its settings, or a trace.
struct WorkloadPoint {
    std::string name;
    bool is_trace = false;
    std::vector<std::string> settings;
};

class Grid {
public:
    /// Throws FileError where a machine, a workload or a monitor cannot be, or where nothing is left.
    Grid(CampaignFile file, CampaignInputs inputs);

    const CampaignFile& file() const { return file_; }
    const CampaignInputs& inputs() const { return inputs_; }
    std::uint64_t points() const { return all_ ? combinations() : chosen_.size(); }

    /// All but machine, workload, seed and monitor, which every point has.
    const std::vector<Parameter>& parameters() const { return parameters_; }

    struct Place {
        std::size_t machine = 0, workload = 0, seed = 0, monitor = 0;
        friend bool operator==(const Place&, const Place&) = default;
    };
    Place place(std::uint64_t point) const;
    /// The first point that has another machine, workload or seed.
    std::uint64_t group_end(std::uint64_t point) const;

    const std::string& machine_name(const Place& place) const { return machines_[place.machine].entry->name; }
    const std::string& workload_name(const Place& place) const { return workloads_[place.workload].entry->name; }
    std::uint64_t seed(const Place& place) const { return file_.seeds.empty() ? 0 : file_.seeds[place.seed]; }
    /// By parameter; empty where the point does not have it.
    std::vector<std::string> values(const Place& place) const;

    MachineDescription machine(const Place& place) const;
    WorkloadPoint workload(const Place& place) const;
    bool has_monitor(const Place& place) const { return monitors_[place.monitor].entry->name != "none"; }
    /// As parse_common takes it.
    std::string monitor_settings(const Place& place) const;
    /// The link that its file names, or that by which data references leave the core of its machine.
    std::string monitor_link(const Place& place) const;
    /// "link=core-L1D,counters=16", as --monitor takes it on the machine of this point; "none".
    std::string monitor_text(const Place& place) const;
    /// The monitor of a point on its machine. Throws SpecError where the machine cannot have it.
    MonitorSpec monitor_on(const Topology& topology, const Place& place) const;

    /// Names of caches and TLBs, and of memories, of all machines, in their order.
    const std::vector<std::string>& levels() const { return levels_; }
    const std::vector<std::string>& memories() const { return memories_; }

    /// What will go wrong, and is no mistake; a line each.
    const std::vector<std::string>& remarks() const { return remarks_; }

    /// Of the machine that has most.
    unsigned most_cores() const { return most_cores_; }
    /// Why no machine can run so many streams of references; empty where one can.
    std::string too_many_streams(const std::string& workload, std::uint64_t streams) const;

    /// XXH3-128 of all that determines the result of a point: version, machine, workload, trace, options, monitor,
    /// seed.
    std::string hash(std::uint64_t point) const;

private:
    /// An entry of the campaign file with one value for each key that it sets.
    struct Variant {
        const CampaignEntry* entry;
        std::vector<std::string> values;  ///< by key
    };
    class Twins;
    [[noreturn]] static void refuse(const std::string& path, const Mark& mark, std::string message);
    static std::vector<Variant> variants_of(const std::vector<CampaignEntry>& entries, const std::string& path);

    std::uint64_t combinations() const;
    std::uint64_t combination(std::uint64_t point) const { return all_ ? point : chosen_[point]; }
    Place place_of(std::uint64_t combination) const;
    void check_machines();
    void check_links();
    void check_workloads() const;
    void check_processors() const;
    void check_combined_options() const;
    void refuse_twins() const;
    std::string stated_link(const Place& place) const;
    static std::string core_link_of(const Topology& topology);
    void check_monitors() const;
    void find_parameters();
    void choose();
    void draw_among_all();
    bool has_parameter(const std::string& name) const;
    std::optional<std::string> factor_value(const std::string& factor, const Place& place) const;
    bool keeps(const Condition& condition, const Place& place) const;
    bool keeps_all(const Place& place) const;
    std::string value(const std::string& name, const Place& place) const;
    const MachineDescription& unseeded(std::size_t number) const;
    const std::string& machine_text(std::size_t number) const;

    CampaignFile file_;
    CampaignInputs inputs_;
    std::vector<Variant> machines_, workloads_, monitors_;
    std::vector<Parameter> parameters_;
    std::vector<std::string> levels_, memories_, remarks_;
    unsigned most_cores_ = 0;
    std::string one_core_link_;                                          ///< of all machines; empty where they differ
    std::map<std::pair<std::string, std::string>, std::string> stated_;  ///< by machine file, of parameters
    bool all_ = true;
    std::vector<std::uint64_t> chosen_;

    /// Read from its file once, not for each seed and hash: neighbours share it.
    struct ReadMachine {
        std::size_t number = ~std::size_t{0};
        MachineDescription machine;  ///< with the seeds that it states
        std::string text;            ///< empty: not written yet
        std::string core_link;       ///< empty: not looked up yet
    };
    mutable ReadMachine last_machine_;
    mutable std::optional<SettableMachine> last_file_;
    mutable const CampaignEntry* last_entry_ = nullptr;  ///< of last_file_: its machines set the same keys
};

}  // namespace cachetally

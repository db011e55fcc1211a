// SPDX-License-Identifier: BSD-3-Clause
// A machine as a graph: components are vertices, links are edges; validated, ordered, exported as Graphviz.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <cstddef>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cachetally/machine.hpp"

namespace cachetally {

/// One thing that is wrong with a machine description or another file of the user, and what would be right.
struct Diagnostic {
    Mark mark;
    std::string message;
};

/// All that is wrong with a file that a user wrote, in its order. what() has one "file:line:column: error: message" per
/// line, for the first 50.
class FileError : public std::runtime_error {
public:
    FileError(const std::string& file, std::vector<Diagnostic> diagnostics);
    const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

private:
    FileError(std::vector<Diagnostic> ordered, const std::string& file);

    std::vector<Diagnostic> diagnostics_;
};

/// The same of a machine description.
class MachineError : public FileError {
public:
    using FileError::FileError;
};

/// A vertex: a kind of component, of which the machine may hold several copies.
struct Component {
    enum class Kind : std::uint8_t {
        core,
        tlb,
        walker,
        cache,
        numa,          ///< of each node: where requests leave for the memory that they are at home in
        interconnect,  ///< what goes to the memory of another node passes it
        memory,
    };
    Kind kind = Kind::core;
    std::string name;       ///< "core", "walker", "numa", "interconnect", or the configured name
    std::size_t index = 0;  ///< into MachineDescription::tlbs, caches or memories
    unsigned copies = 1;    ///< instances in the machine
    unsigned cores_per_copy = 1;
};

/// An edge: requests go from `from` to `to`. Its name is "FROM-TO", e.g. "core-L1D", "L1D-L2", "L3-memory". There is a
/// copy per copy of the upper component, but one alone into each memory of a NUMA node.
struct LinkInfo {
    std::string name;
    std::size_t from = 0, to = 0;    ///< indices into Topology::components()
    bool virtual_addresses = false;  ///< links from the core to a TLB and between TLBs
};

class Topology {
public:
    using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, Component, LinkInfo>;

    /// Builds and validates the graph. Throws MachineError with everything that is wrong.
    explicit Topology(MachineDescription machine);

    const MachineDescription& machine() const { return machine_; }
    const Graph& graph() const { return graph_; }

    /// Components in topological order: whatever a component sends requests to comes after it.
    const std::vector<Component>& components() const { return components_; }

    /// Links in the order of their upper, then lower component; the position of a link here is its id.
    const std::vector<LinkInfo>& links() const { return links_; }

    /// Id of the link with this name; throws std::invalid_argument that lists the names there are.
    std::size_t link(std::string_view name) const;

    /// Id of the link over which requests for data (or instructions) leave the core towards caches or memory. Throws
    /// std::invalid_argument where nothing serves them: a machine may leave fetches out.
    std::size_t core_link(bool fetch) const;

    /// Graphviz text. `labels` may add a line of text per link name (e.g. monitors, traffic).
    std::string to_dot(const std::map<std::string, std::string>& labels = {}) const;

private:
    void elaborate();

    MachineDescription machine_;
    Graph graph_;
    std::vector<Component> components_;
    std::vector<LinkInfo> links_;
};

/// Reads a machine file (YAML; JSON is YAML). Throws MachineError for everything that is malformed, unknown or out of
/// range; geometry and graph are judged by Topology.
MachineDescription read_machine(const std::string& text, const std::string& file_name);

/// Reads a preset by its name ("schulz2002", "generic3") or else a file by its path, which names the machine where the
/// file does not. Throws MachineError.
MachineDescription load_machine(const std::string& name_or_path);

/// Writes a description as a machine file that read_machine takes back to an equal description (marks, file and text
/// aside). What is as by default is left out, and so is what has no effect: colours of other mappings, walks without
/// TLBs, the entrance of walks without references, entries of a next_line prefetcher, entries, degree and distance of
/// an adjacent_line one. Text must be UTF-8.
std::string write_machine(const MachineDescription& machine);

/// Names and one-line descriptions of the presets that are built in.
struct PresetInfo {
    std::string name;
    std::string description;
};
std::vector<PresetInfo> machine_presets();

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Provenance: from what, by what, where and when a result file came to be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/group.hpp"

namespace cachetally {

/// The facts of the group /provenance. All that may differ between equal runs is here and nowhere else in a file.
struct Provenance {
    std::string version;                    ///< of cachetally
    std::string commit;                     ///< of the source tree; "unknown" where it was built without git
    std::string compiler;                   ///< name and version
    std::vector<std::string> command_line;  ///< one text per argument
    std::uint64_t seed = 0;
    std::string machine_name;
    std::string machine_text;            ///< the machine file, as read
    std::string machine_hash;            ///< XXH3-128 of machine_text; computed where left empty
    std::string trace_name;              ///< empty for kernels; of several traces, a line of each
    std::string trace_hash;              ///< XXH3-128 of the trace file; empty for pipes and kernels
    std::vector<std::string> execution;  ///< how references were carried out; empty for what is no run
    std::string host;
    std::string utc;  ///< "2026-11-21T08:20:49Z"

    void add_trace(const std::string& name, const std::string& hash);
};

/// Fills in version, commit, compiler, host and the present time.
Provenance make_provenance(std::vector<std::string> command_line);

/// The version and commit of this program, e.g. "0.1.0 (032f7ef)".
std::string program_version();

/// The version alone, "0.1.0".
std::string release_version();

/// How this program was built: "Release for x86_64 by GNU 12.2.0, HDF5 1.10.8".
std::string build_facts();

/// Writes the group "provenance" into `root`.
void write_provenance(Group& root, const Provenance& provenance);

/// Reads it back. Throws StorageError where it is absent.
Provenance read_provenance(const Group& root);

}  // namespace cachetally

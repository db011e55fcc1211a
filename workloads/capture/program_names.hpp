// SPDX-License-Identifier: BSD-3-Clause
// ProgramNames: what addresses of a captured program are called, by its files' symbols and debugging information.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "workloads/capture/captured_events.hpp"

namespace cachetally {

/// Of a program counter; what is not known is empty or 0.
struct CodePlace {
    std::string function;  ///< demangled
    std::string file;      ///< of the source
    unsigned line = 0;
    std::string module;  ///< name of the program or library, without its folder
};

/// Reads ELF symbols and DWARF (elfutils' libdw), of separate files of debugging information, too, where they are
/// installed. What cannot be read has no names.
class ProgramNames {
public:
    explicit ProgramNames(std::span<const MappedFile> files);
    ~ProgramNames();
    ProgramNames(const ProgramNames&) = delete;
    ProgramNames& operator=(const ProgramNames&) = delete;

    CodePlace place_of(Address counter) const;

    /// Global and static variables, ascending by address and without overlap; those of libraries as "LIBRARY:NAME".
    std::vector<Region> variables() const;

private:
    struct Files;
    std::unique_ptr<Files> files_;
};

}  // namespace cachetally

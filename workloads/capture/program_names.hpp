// SPDX-License-Identifier: BSD-3-Clause
// ProgramNames: what addresses of a captured program are called, by its files' symbols and debugging information.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "workloads/capture/captured_events.hpp"
#include "workloads/capture/struct_layout.hpp"

namespace cachetally {

/// Reads ELF symbols and DWARF (elfutils' libdw), of separate files of debugging information, too, where they are
/// installed. What cannot be read has no names.
class ProgramNames {
public:
    /// `with_program`: the first file is the program.
    explicit ProgramNames(std::span<const MappedFile> files, bool with_program = true);
    ~ProgramNames();
    ProgramNames(const ProgramNames&) = delete;
    ProgramNames& operator=(const ProgramNames&) = delete;

    CodePlace place_of(Address counter) const;

    /// "function file.c:12", or what of this is known, in the end "library.so+0x12".
    std::string describe(Address counter) const;

    /// Global and static variables, ascending by address and without overlap; those of libraries as "LIBRARY:NAME".
    std::vector<Region> variables() const;

    /// Gives a variable the size of its elements, where its type is known. The first call reads all types.
    void set_elements(Region& variable) const;

    /// Names of functions.
    std::vector<std::string> functions() const;

    /// Fields of a variable by its address, or of a type by its name (StructTypes). The first call reads all types.
    std::optional<StructLayout> layout_of_variable(Address address) const;
    /// Of what the result of a call points to; see StructTypes.
    std::optional<StructLayout> layout_of_result(Address return_address) const;
    std::optional<StructLayout> layout_of_type(const std::string& name) const;

private:
    struct Files;
    std::unique_ptr<Files> files_;
};

/// Those of each era, read when they are asked for.
class NamesByEra {
public:
    explicit NamesByEra(const CapturedFiles& files) : files_(files) {}
    const ProgramNames& of(std::size_t era) {
        std::unique_ptr<ProgramNames>& names = names_[era];
        if (!names) names = std::make_unique<ProgramNames>(files_.of(era));
        return *names;
    }

private:
    const CapturedFiles& files_;
    std::map<std::size_t, std::unique_ptr<ProgramNames>> names_;
};

}  // namespace cachetally

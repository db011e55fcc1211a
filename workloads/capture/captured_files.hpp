// SPDX-License-Identifier: BSD-3-Clause
// CapturedFiles: which files lay in a captured program's memory together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachetally/types.hpp"

namespace cachetally {

/// A file in the program's memory.
struct MappedFile {
    Address base = 0;
    std::uint64_t bytes = 0;
    std::uint32_t protection = 0;  ///< 4 read, 2 write, 1 execute
    std::uint64_t offset = 0;      ///< in the file
    std::string path;

    bool is_code() const { return (protection & 1) != 0; }
    friend bool operator==(const MappedFile&, const MappedFile&) = default;
};

/// Eras of a program: in each of them, an address of code belongs to one file. Another era begins where code takes the
/// place of another file's, as when libraries are closed and opened, or the process executes another program. An era
/// whose code comes back is the same one.
class CapturedFiles {
public:
    void add(const MappedFile& file);
    /// Another program takes the place of all.
    void clear();

    std::size_t era() const { return era_; }
    const std::vector<MappedFile>& of(std::size_t era) const { return eras_[era]; }
    const std::vector<MappedFile>& now() const { return eras_[era_]; }

private:
    using Files = std::vector<MappedFile>;
    void turn_to(Files files);

    std::vector<Files> eras_{{}};
    std::size_t era_ = 0;
};

}  // namespace cachetally

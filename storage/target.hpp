// SPDX-License-Identifier: BSD-3-Clause
// How files are opened: those that are read, with or without their digests; those that are written, under a temporary
// name beside their own, which they get when they are whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cachetally {

enum class Trust : std::uint8_t {
    digests,  ///< what is read must be what was written
    file,     ///< as it is: of an earlier version, or changed by another program since. The HDF5 library may crash.
};

/// What becomes of a file that is there already.
enum class Existing { refuse, overwrite };

/// Where symbolic links lead to.
std::string behind_links(const std::string& path);

/// The name under which a file grows.
std::string temporary_name(const std::string& path);

/// Throws StorageError where no file can be made under this name: its directory is not there, it is a directory, or it
/// exists and is not to be overwritten. `what` is written, e.g. "results".
void check_target(const std::string& path, Existing existing, std::string_view what);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// The driver under the HDF5 library: it never lets it see a write fail, nor a byte that is not what was written.
#pragma once

#include <string>

#include "storage/handle.hpp"
#include "storage/digests.hpp"

namespace cachetally {

/// What the driver keeps of what was written.
struct Written {
    int failure = 0;  ///< errno of the first write that failed
};

/// Registers the driver. The library corrupts its memory where a write fails while it closes a file or dataset, and
/// crashes when the program ends. This driver reports success always, remembers the first failure, and drops all that
/// comes after it; whoever writes asks with check_written(). Reading, it fails where bytes are not what was written, and
/// says so on the library's stack of errors.
Handle register_driver();

/// Makes the driver that of an access property list, for a file that is created. `written` must outlive the file.
void set_driver(const Handle& access, const Handle& driver, Written* written);
/// The same for a file that is read; it must outlive what the library opens.
void set_driver(const Handle& access, const Handle& driver, VerifiedFile* source);

/// Throws StorageError, naming `where`, if something could not be written.
void check_written(int failure, const std::string& where);

/// The same for the file that holds `object`, which must be one that was created with the driver.
void check_object_written(hid_t object, const std::string& where);

/// Throws StorageError, naming `where`, if bytes of the file that holds `object` were found damaged: the library answers
/// "not there" to some questions when it could not read.
void check_object_read(hid_t object, const std::string& where);

}  // namespace cachetally

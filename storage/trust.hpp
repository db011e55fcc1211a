// SPDX-License-Identifier: BSD-3-Clause
// Whether a file is read as it is.
#pragma once

#include <cstdint>

namespace cachetally {

enum class Trust : std::uint8_t {
    digests,  ///< what is read must be what was written
    file,     ///< as it is: of an earlier version, or changed by another program since. The HDF5 library may crash.
};

}  // namespace cachetally

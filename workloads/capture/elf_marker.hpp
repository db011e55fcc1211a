// SPDX-License-Identifier: BSD-3-Clause
// Which programs record their references themselves.
#pragma once

#include <string>

namespace cachetally {

/// Whether the file is a program that cachetally-cc linked: it has the runtime's note.
bool has_capture_runtime(const std::string& path);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Words and units of columns: for the sources of this room only.
#pragma once

#include "storage/group.hpp"

namespace cachetally {

/// Gives each dataset below `group` the attributes `long_name` and, where it holds numbers, `units` ("1": a number of
/// things, or a fraction), unless it has them.
void describe_columns(Group& group);

}  // namespace cachetally

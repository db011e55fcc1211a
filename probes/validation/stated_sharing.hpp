// SPDX-License-Identifier: BSD-3-Clause
// What a real machine says of which processors share its caches.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "probes/validation/truth.hpp"

namespace cachetally {

/// For each level of caches of data "shared_among", as `cores` finds it: the processors given, by the files
/// shared_cpu_list in `folder` (Linux: Documentation/ABI/testing/sysfs-devices-system-cpu). Levels of which a processor
/// says nothing are left out, and so are all where there are no two processors.
std::vector<Fact> stated_sharing(std::span<const unsigned> processors,
                                 const std::string& folder = "/sys/devices/system/cpu");

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// What a program's sites and regions are called, from what is known of it.
#pragma once

#include "workloads/capture/captured_code.hpp"
#include "workloads/capture/captured_sites.hpp"
#include "workloads/capture/program_names.hpp"

namespace cachetally {

SiteNames site_names_of(const CapturedEvents& events, const ProgramCounters& counters, const CapturedSites& sites);

/// The regions that were named, and variables beside them.
std::vector<Region> regions_of(const CapturedEvents& events, const ProgramNames& program);

}  // namespace cachetally

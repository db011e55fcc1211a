// SPDX-License-Identifier: BSD-3-Clause
// What probes found, in HDF5.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cachetally/probe_test.hpp"
#include "probes/result.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// Writes /findings (a column per member of Finding), /curves (a group each: points, trials, points knocked out),
/// /matrices (a group each, where there are any) and /tests (decisions and costs).
void write_probe(Group& root, std::span<const TestReport> reports);

/// A variant as files name it: older files call robust tests hardened.
std::string current_variant(std::string stored);

/// What write_probe() wrote, without the host's seconds. Throws StorageError where the file is damaged.
std::vector<TestReport> read_probe(const Group& root);

/// Writes /stated_sharing: what a real machine says of who shares its levels (validation/stated_sharing.hpp); nothing
/// where it says nothing.
void write_stated_sharing(Group& root, std::span<const Fact> sharing);

/// The same again; nothing where a file does not have it, as older ones. Throws StorageError where it is damaged.
std::vector<Fact> read_stated_sharing(const Group& root);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Reduced copies of result files, small enough to be mailed inside a page.
#pragma once

#include <cstddef>
#include <string>

#include "storage/target.hpp"

namespace cachetally {

/// Throws StorageError where `path` is no result file of a known version, or one of the groups at its root is damaged.
/// Reads no numbers.
void check_result(const std::string& path, Trust trust = Trust::digests);

/// Copies the result file `from` to the new file `to`, all of it but for histograms of more than `most_rows` rows.
/// These keep the coarse levels of their pyramids; their rows become blocks of 16, 256, ... lines by phase, with the
/// column `span` and virtual addresses, functions summed; the group `top` has the 1000 rows with the highest of each
/// count as they were. The root attribute `reduced` says so in words. Throws StorageError, where
/// what is copied cannot be read, too.
void reduce_result(const std::string& from, const std::string& to, Trust trust = Trust::digests,
                   std::size_t most_rows = 40000);

}  // namespace cachetally

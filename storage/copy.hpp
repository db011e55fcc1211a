// SPDX-License-Identifier: BSD-3-Clause
// Copies parts of a result file into another, with the axes of their data.
#pragma once

#include <string>
#include <vector>

#include "storage/group.hpp"

namespace cachetally {

/// Names of all attributes but those of dimension scales, in alphabetical order.
std::vector<std::string> attribute_names(const Object& object);

/// All attributes but those of dimension scales, which point into their file, and whether the file is complete.
void copy_attributes(const Object& from, Object& to);

/// One dataset of a group, without its axes: copy_axes() once all are there.
void copy_dataset(const Group& from, const std::string& name, Group& to);

/// Makes the dimension scales of the datasets of `from` those of their copies in `to`, as far as there are copies.
void copy_axes(const Group& from, Group& to);

/// A group of `from` with all that is below it, and with its axes.
void copy_group(const Group& from, const std::string& name, Group& to);

bool is_group(const Group& group, const std::string& name);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Axes of data, twice: H5DS dimension scales (netCDF4, xarray) and NeXus NXdata attributes (H5Web).
#pragma once

#include <string>
#include <vector>

#include "storage/group.hpp"

namespace cachetally {

/// Makes `group` a NeXus NXdata group whose data are the dataset `signal`. `axes` names one 1-D dataset of the group
/// per dimension of the signal (empty where a dimension has none), of numbers or texts; each becomes a dimension scale
/// of it, and of all datasets of the group that have its shape by now. Those that should be drawn beside it are given
/// as `auxiliary`. Throws StorageError where lengths do not match.
void set_axes(Group& group, const std::string& signal, const std::vector<std::string>& axes,
              const std::vector<std::string>& auxiliary = {});

/// Gives a dataset of the group axes, where it came later than set_axes(), or has another shape than the signal.
void attach_axes(Group& group, const std::string& name, const std::vector<std::string>& axes);

/// The axis of a table whose rows differ by their place: writes the dataset `axis` (0, 1, ...) and gives it to
/// all columns.
void number_rows(Group& group, const std::string& axis, std::size_t rows);

/// Makes `group` a NeXus group of a class ("NXroot", "NXentry", "NXcollection"), whose child `shown` is shown first.
void set_nexus_class(Group& group, const std::string& nexus_class, const std::string& shown = "");

}  // namespace cachetally

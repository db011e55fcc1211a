// Axes of data, twice: H5DS dimension scales (netCDF4, xarray) and NeXus NXdata attributes (H5Web).
#pragma once

#include <string>
#include <vector>

#include "storage/group.hpp"

namespace cachetally {

/// Makes `group` a NeXus NXdata group whose data are the dataset `signal`. `axes` names one 1-D dataset of the group
/// per dimension of the signal (empty where a dimension has none); each becomes a dimension scale of it. Further
/// datasets of the same shape may be given as `auxiliary`. Throws StorageError where lengths do not match.
void set_axes(Group& group, const std::string& signal, const std::vector<std::string>& axes,
              const std::vector<std::string>& auxiliary = {});

/// Makes `group` a NeXus group of a class ("NXroot", "NXentry", "NXcollection"), whose child `shown` is shown first.
void set_nexus_class(Group& group, const std::string& nexus_class, const std::string& shown = "");

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// HDF5 types of numbers and texts: for the sources of this room only.
#pragma once

#include "storage/group.hpp"

namespace cachetally {

hid_t memory_type(Element element);  ///< as this machine holds it
hid_t file_type(Element element);    ///< little-endian, whatever the machine

/// A UTF-8 text of so many bytes, padded with zeros.
Handle fixed_text_type(std::size_t bytes);
/// A UTF-8 text of any length.
Handle variable_text_type();

/// Of datasets that are kept within the header of their object, which has a checksum: at most 64 KiB.
Handle small_properties();
/// A property list that leaves times out and creates no surprises. Chunks that are deflated have a checksum.
Handle dataset_properties(const std::vector<hsize_t>& chunk, std::size_t element_bytes, Compression compression);

}  // namespace cachetally

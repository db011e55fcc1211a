// SPDX-License-Identifier: BSD-3-Clause
// Groups and datasets.
#include "storage/group.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "storage/driver.hpp"
#include "storage/types.hpp"

namespace cachetally {
namespace {

constexpr hsize_t rows_per_chunk = 65536;
constexpr std::size_t smallest_chunked = 1024;  ///< bytes; below, a chunk index costs more than compression saves

/// What is too small for chunks is kept in the object's header. Nothing may be without a checksum but what has its own.
Handle properties_for(std::size_t bytes, const std::vector<hsize_t>& chunk, std::size_t element_bytes,
                      Compression compression) {
    if (bytes != 0 && bytes < smallest_chunked) return small_properties();
    return dataset_properties(chunk, element_bytes, compression);
}

herr_t collect(hid_t, const char* name, const H5L_info_t*, void* target) {
    static_cast<std::vector<std::string>*>(target)->emplace_back(name);
    return 0;
}

Handle create_dataset(const Group& group, const std::string& path, const std::string& name, hid_t type, hid_t space,
                      const Handle& properties) {
    silence_library();
    if (group.has(name)) throw StorageError(fmt::format("{}: exists already", path));
    Handle dataset(H5Dcreate2(group.id(), name.c_str(), type, space, H5P_DEFAULT, properties.get(), H5P_DEFAULT),
                   H5Dclose);
    if (!dataset) throw_storage_error(fmt::format("{}: cannot create the dataset", path));
    return dataset;
}

}  // namespace

std::string Group::path_of(const std::string& name) const {
    return where_.back() == '/' ? where_ + name : where_ + '/' + name;
}

bool Group::has(const std::string& name) const {
    silence_library();
    const htri_t found = H5Lexists(id(), name.c_str(), H5P_DEFAULT);
    if (found < 0 && !name.empty() && name.find('/') == std::string::npos)  // what cannot be looked for is not absent
        throw_storage_error(fmt::format("{}: cannot list the group", where_));
    if (found <= 0) check_object_read(id(), where_);
    return found > 0;
}

std::vector<std::string> Group::children() const {
    silence_library();
    std::vector<std::string> names;
    if (H5Literate(id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names) < 0)
        throw_storage_error(fmt::format("{}: cannot list the group", where_));
    return names;
}

Group Group::create_group(const std::string& name) {
    silence_library();
    if (has(name)) throw StorageError(fmt::format("{}: exists already", path_of(name)));
    const Handle properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_obj_track_times(properties.get(), false);
    Handle group(H5Gcreate2(id(), name.c_str(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), H5Gclose);
    if (!group) throw_storage_error(fmt::format("{}: cannot create the group", path_of(name)));
    return {std::move(group), path_of(name)};
}

Group Group::open_group(const std::string& name) const {
    if (!has(name)) throw StorageError(fmt::format("{}: there is no such group", path_of(name)));
    Handle group(H5Gopen2(id(), name.c_str(), H5P_DEFAULT), H5Gclose);
    if (!group) throw_storage_error(fmt::format("{}: cannot open the group", path_of(name)));
    return {std::move(group), path_of(name)};
}

Dataset Group::open_dataset(const std::string& name) const {
    if (!has(name)) throw StorageError(fmt::format("{}: there is no such dataset", path_of(name)));
    Handle dataset(H5Dopen2(id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset) throw_storage_error(fmt::format("{}: cannot open the dataset", path_of(name)));
    return {std::move(dataset), path_of(name)};
}

Dataset Group::write_array(const std::string& name, Element element, const std::vector<hsize_t>& shape,
                           const void* values, Compression compression) {
    hsize_t elements = 1;
    for (const hsize_t extent : shape) elements *= extent;
    std::vector<hsize_t> chunk;
    if (compression != Compression::none && elements * bytes_of(element) >= smallest_chunked) {
        chunk.assign(shape.size(), 1);
        chunk.back() = std::min(shape.back(), rows_per_chunk);
    }
    const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
    const Handle properties = properties_for(elements * bytes_of(element), chunk, bytes_of(element), compression);
    Handle dataset = create_dataset(*this, path_of(name), name, file_type(element), space.get(), properties);
    if (elements > 0 && H5Dwrite(dataset.get(), memory_type(element), H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        throw_storage_error(fmt::format("{}: cannot write", path_of(name)));
    check_object_written(id(), path_of(name));
    return {std::move(dataset), path_of(name)};
}

Dataset Group::write_texts(const std::string& name, std::span<const std::string> texts) {
    std::size_t longest = 2;  // xarray takes texts of one byte for the letters of others
    for (const auto& text : texts) {
        if (text.find('\0') != std::string::npos)
            throw StorageError(fmt::format("{}: a text holds a zero byte", path_of(name)));
        longest = std::max(longest, text.size());
    }
    std::vector<char> buffer(longest * texts.size(), '\0');
    for (std::size_t i = 0; i < texts.size(); ++i)
        std::copy(texts[i].begin(), texts[i].end(), buffer.begin() + static_cast<std::ptrdiff_t>(i * longest));
    std::vector<hsize_t> chunk;
    if (buffer.size() >= smallest_chunked) chunk = {std::min<hsize_t>(texts.size(), rows_per_chunk)};
    const hsize_t count = texts.size();
    const Handle type = fixed_text_type(longest);
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Handle properties = properties_for(buffer.size(), chunk, 1, Compression::deflate);
    Handle dataset = create_dataset(*this, path_of(name), name, type.get(), space.get(), properties);
    if (count > 0 && H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer.data()) < 0)
        throw_storage_error(fmt::format("{}: cannot write", path_of(name)));
    Dataset texts_there(std::move(dataset), path_of(name));
    texts_there.set_attribute("_Encoding", "utf-8");  // netCDF: xarray shows texts, not bytes
    check_object_written(id(), path_of(name));
    return texts_there;
}

Dataset Group::create_column(const std::string& name, Element element, Compression compression,
                             std::uint64_t chunk_rows) {
    const hsize_t none = 0, unlimited = H5S_UNLIMITED;
    const Handle space(H5Screate_simple(1, &none, &unlimited), H5Sclose);
    const Handle properties = dataset_properties({chunk_rows}, bytes_of(element), compression);
    Handle dataset = create_dataset(*this, path_of(name), name, file_type(element), space.get(), properties);
    return {std::move(dataset), path_of(name)};
}

void Group::throw_shape(const std::string& name, std::size_t have, std::uint64_t rows, std::uint64_t columns) const {
    throw std::invalid_argument(
        fmt::format("{}: {} elements do not fill {} rows of {} columns", path_of(name), have, rows, columns));
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Groups and datasets, and the types and property lists of them.
#include "storage/group.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "storage/driver.hpp"

namespace cachetally {

std::size_t bytes_of(Element element) { return H5Tget_size(memory_type(element)); }

hid_t memory_type(Element element) {
    switch (element) {
        case Element::u8: return H5T_NATIVE_UINT8;
        case Element::u16: return H5T_NATIVE_UINT16;
        case Element::u32: return H5T_NATIVE_UINT32;
        case Element::u64: return H5T_NATIVE_UINT64;
        case Element::i64: return H5T_NATIVE_INT64;
        case Element::f64: return H5T_NATIVE_DOUBLE;
    }
    throw std::logic_error("memory_type: not an element type");
}

hid_t file_type(Element element) {
    switch (element) {
        case Element::u8: return H5T_STD_U8LE;
        case Element::u16: return H5T_STD_U16LE;
        case Element::u32: return H5T_STD_U32LE;
        case Element::u64: return H5T_STD_U64LE;
        case Element::i64: return H5T_STD_I64LE;
        case Element::f64: return H5T_IEEE_F64LE;
    }
    throw std::logic_error("file_type: not an element type");
}

Handle fixed_text_type(std::size_t bytes) {
    Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    if (!type || H5Tset_size(type.get(), bytes) < 0 || H5Tset_strpad(type.get(), H5T_STR_NULLPAD) < 0 ||
        H5Tset_cset(type.get(), H5T_CSET_UTF8) < 0)
        throw_storage_error("cannot make a text type");
    return type;
}

Handle variable_text_type() {
    Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    if (!type || H5Tset_size(type.get(), H5T_VARIABLE) < 0 || H5Tset_cset(type.get(), H5T_CSET_UTF8) < 0)
        throw_storage_error("cannot make a text type");
    return type;
}

Handle small_properties() {
    Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    if (!list || H5Pset_obj_track_times(list.get(), false) < 0 || H5Pset_layout(list.get(), H5D_COMPACT) < 0)
        throw_storage_error("cannot make a property list");
    return list;
}

Handle dataset_properties(const std::vector<hsize_t>& chunk, std::size_t element_bytes, Compression compression) {
    Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    if (!list || H5Pset_obj_track_times(list.get(), false) < 0) throw_storage_error("cannot make a property list");
    if (chunk.empty()) return list;
    if (H5Pset_chunk(list.get(), static_cast<int>(chunk.size()), chunk.data()) < 0)
        throw_storage_error("cannot set the chunk size");
    if (compression == Compression::none) return list;
    if ((element_bytes > 1 && H5Pset_shuffle(list.get()) < 0) || H5Pset_deflate(list.get(), 1) < 0 ||
        H5Pset_fletcher32(list.get()) < 0)
        throw_storage_error("cannot set the compression");
    return list;
}

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
    if (group.has(name)) throw StorageError("{}: exists already", path);
    Handle dataset(H5Dcreate2(group.id(), name.c_str(), type, space, H5P_DEFAULT, properties.get(), H5P_DEFAULT),
                   H5Dclose);
    if (!dataset) throw_storage_error("{}: cannot create the dataset", path);
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
        throw_storage_error("{}: cannot list the group", where_);
    if (found <= 0) check_object_read(id(), where_);
    return found > 0;
}

std::vector<std::string> Group::children() const {
    silence_library();
    std::vector<std::string> names;
    if (H5Literate(id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names) < 0)
        throw_storage_error("{}: cannot list the group", where_);
    return names;
}

Group Group::create_group(const std::string& name) {
    silence_library();
    if (has(name)) throw StorageError("{}: exists already", path_of(name));
    const Handle properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_obj_track_times(properties.get(), false);
    Handle group(H5Gcreate2(id(), name.c_str(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), H5Gclose);
    if (!group) throw_storage_error("{}: cannot create the group", path_of(name));
    return {std::move(group), path_of(name)};
}

Group Group::open_group(const std::string& name) const {
    if (!has(name)) throw StorageError("{}: there is no such group", path_of(name));
    Handle group(H5Gopen2(id(), name.c_str(), H5P_DEFAULT), H5Gclose);
    if (!group) throw_storage_error("{}: cannot open the group", path_of(name));
    return {std::move(group), path_of(name)};
}

Dataset Group::open_dataset(const std::string& name) const {
    if (!has(name)) throw StorageError("{}: there is no such dataset", path_of(name));
    Handle dataset(H5Dopen2(id(), name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset) throw_storage_error("{}: cannot open the dataset", path_of(name));
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
        throw_storage_error("{}: cannot write", path_of(name));
    check_object_written(id(), path_of(name));
    return {std::move(dataset), path_of(name)};
}

namespace {

constexpr std::size_t shortest_text = 2;  // xarray takes texts of one byte for the letters of others

/// Texts of `longest` bytes, one after the other.
std::vector<char> padded(std::span<const std::string> texts, std::size_t longest, const std::string& where) {
    std::vector<char> buffer(longest * texts.size(), '\0');
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (texts[i].find('\0') != std::string::npos) throw StorageError("{}: a text holds a zero byte", where);
        if (texts[i].size() > longest) throw StorageError("{}: a text is longer than {} bytes", where, longest);
        std::copy(texts[i].begin(), texts[i].end(), buffer.begin() + static_cast<std::ptrdiff_t>(i * longest));
    }
    return buffer;
}

}  // namespace

Dataset Group::write_texts(const std::string& name, std::span<const std::string> texts) {
    std::size_t longest = shortest_text;
    for (const auto& text : texts) longest = std::max(longest, text.size());
    const std::vector<char> buffer = padded(texts, longest, path_of(name));
    std::vector<hsize_t> chunk;
    if (buffer.size() >= smallest_chunked) chunk = {std::min<hsize_t>(texts.size(), rows_per_chunk)};
    const hsize_t count = texts.size();
    const Handle type = fixed_text_type(longest);
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Handle properties = properties_for(buffer.size(), chunk, 1, Compression::deflate);
    Handle dataset = create_dataset(*this, path_of(name), name, type.get(), space.get(), properties);
    if (count > 0 && H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer.data()) < 0)
        throw_storage_error("{}: cannot write", path_of(name));
    Dataset texts_there(std::move(dataset), path_of(name));
    texts_there.set_attribute("_Encoding", "utf-8");  // netCDF: xarray shows texts, not bytes
    check_object_written(id(), path_of(name));
    return texts_there;
}

Dataset Group::create_growing(const std::string& name, hid_t type, std::size_t bytes, Compression compression,
                              std::uint64_t chunk_rows) {
    const hsize_t none = 0, unlimited = H5S_UNLIMITED;
    const Handle space(H5Screate_simple(1, &none, &unlimited), H5Sclose);
    const Handle properties = dataset_properties({chunk_rows}, bytes, compression);
    return {create_dataset(*this, path_of(name), name, type, space.get(), properties), path_of(name)};
}

Dataset Group::create_column(const std::string& name, Element element, Compression compression,
                             std::uint64_t chunk_rows) {
    return create_growing(name, file_type(element), bytes_of(element), compression, chunk_rows);
}

Dataset Group::create_text_column(const std::string& name, std::size_t longest, std::uint64_t chunk_rows) {
    longest = std::max(longest, shortest_text);
    Dataset column = create_growing(name, fixed_text_type(longest).get(), longest, Compression::deflate, chunk_rows);
    column.set_attribute("_Encoding", "utf-8");
    return column;
}

void Group::throw_shape(const std::string& name, std::size_t have, std::uint64_t rows, std::uint64_t columns) const {
    throw std::invalid_argument(
        fmt::format("{}: {} elements do not fill {} rows of {} columns", path_of(name), have, rows, columns));
}

namespace {

constexpr std::uint64_t largest_read = std::uint64_t{1} << 40;  ///< bytes; no file of ours comes near

bool holds_numbers(hid_t dataset) {
    const Handle type(H5Dget_type(dataset), H5Tclose);
    const H5T_class_t found = H5Tget_class(type.get());
    return found == H5T_INTEGER || found == H5T_FLOAT || found == H5T_ENUM;
}

}  // namespace

std::vector<std::uint64_t> Dataset::shape() const {
    const Handle space(H5Dget_space(id()), H5Sclose);
    const int rank = H5Sget_simple_extent_ndims(space.get());
    if (rank < 0) throw_storage_error("{}: cannot read the shape", where_);
    std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
    return {extents.begin(), extents.end()};
}

std::uint64_t Dataset::rows() const {
    const auto extents = shape();
    if (extents.empty()) throw StorageError("{}: is a single value, not a column", where_);
    return extents.front();
}

std::uint64_t Dataset::elements() const {
    const Handle type(H5Dget_type(id()), H5Tclose);
    std::uint64_t bytes = H5Tget_size(type.get());
    std::uint64_t count = 1;
    for (const auto extent : shape()) {
        if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > largest_read)
            throw StorageError("{}: claims to be impossibly large", where_);
        count *= extent;
    }
    return count;
}

void Dataset::read_all(Element element, void* values) const {
    silence_library();
    if (!holds_numbers(id())) throw StorageError("{}: does not hold numbers", where_);
    if (elements() == 0) return;
    if (H5Dread(id(), memory_type(element), H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        throw_storage_error("{}: cannot read", where_);
}

bool Dataset::holds_texts() const {
    const Handle type(H5Dget_type(id()), H5Tclose);
    return H5Tget_class(type.get()) == H5T_STRING;
}

std::vector<std::string> Dataset::read_texts() const {
    silence_library();
    const Handle type(H5Dget_type(id()), H5Tclose);
    if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) > 0)
        throw StorageError("{}: does not hold texts of fixed length", where_);
    const std::size_t bytes = H5Tget_size(type.get());
    const std::size_t count = elements();
    std::vector<char> buffer(count * bytes);
    if (count > 0 && H5Dread(id(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer.data()) < 0)
        throw_storage_error("{}: cannot read", where_);
    std::vector<std::string> texts;
    texts.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view text(buffer.data() + i * bytes, bytes);
        texts.emplace_back(text.substr(0, text.find('\0')));
    }
    return texts;
}

void Dataset::read_slab(Element element, std::uint64_t first, std::uint64_t count, void* values) const {
    silence_library();
    const std::uint64_t extent = rows();
    if (!holds_numbers(id())) throw StorageError("{}: does not hold numbers", where_);
    if (shape().size() != 1 || first > extent || count > extent - first)
        throw StorageError("{}: rows {} to {} are beyond its {} rows", where_, first, first + count, extent);
    if (count == 0) return;
    const Handle file_space(H5Dget_space(id()), H5Sclose);
    const hsize_t start = first, length = count;
    const Handle memory_space(H5Screate_simple(1, &length, nullptr), H5Sclose);
    if (H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, &start, nullptr, &length, nullptr) < 0 ||
        H5Dread(id(), memory_type(element), memory_space.get(), file_space.get(), H5P_DEFAULT, values) < 0)
        throw_storage_error("{}: cannot read rows {} to {}", where_, first, first + count);
}

void Dataset::append_rows(Element element, std::uint64_t count, const void* values) {
    append_values(memory_type(element), count, values);
}

void Dataset::append_texts(std::span<const std::string> texts) {
    const Handle type(H5Dget_type(id()), H5Tclose);
    const std::vector<char> buffer = padded(texts, H5Tget_size(type.get()), where_);
    append_values(type.get(), texts.size(), buffer.data());
}

void Dataset::append_values(hid_t type, std::uint64_t count, const void* values) {
    silence_library();
    if (count == 0) return;
    const hsize_t start = rows(), length = count, total = start + count;
    if (H5Dset_extent(id(), &total) < 0) throw_storage_error("{}: cannot grow", where_);
    const Handle file_space(H5Dget_space(id()), H5Sclose);
    const Handle memory_space(H5Screate_simple(1, &length, nullptr), H5Sclose);
    if (H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, &start, nullptr, &length, nullptr) < 0 ||
        H5Dwrite(id(), type, memory_space.get(), file_space.get(), H5P_DEFAULT, values) < 0)
        throw_storage_error("{}: cannot append", where_);
    check_object_written(id(), where_);
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Reading datasets, and appending to columns.
#include <fmt/format.h>

#include "storage/driver.hpp"
#include "storage/types.hpp"

namespace cachetally {
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
    if (rank < 0) throw_storage_error(fmt::format("{}: cannot read the shape", where_));
    std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
    return {extents.begin(), extents.end()};
}

std::uint64_t Dataset::rows() const {
    const auto extents = shape();
    if (extents.empty()) throw StorageError(fmt::format("{}: is a single value, not a column", where_));
    return extents.front();
}

std::uint64_t Dataset::elements() const {
    const Handle type(H5Dget_type(id()), H5Tclose);
    std::uint64_t bytes = H5Tget_size(type.get());
    std::uint64_t count = 1;
    for (const auto extent : shape()) {
        if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > largest_read)
            throw StorageError(fmt::format("{}: claims to be impossibly large", where_));
        count *= extent;
    }
    return count;
}

void Dataset::read_all(Element element, void* values) const {
    silence_library();
    if (!holds_numbers(id())) throw StorageError(fmt::format("{}: does not hold numbers", where_));
    if (elements() == 0) return;
    if (H5Dread(id(), memory_type(element), H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        throw_storage_error(fmt::format("{}: cannot read", where_));
}

std::vector<std::string> Dataset::read_texts() const {
    silence_library();
    const Handle type(H5Dget_type(id()), H5Tclose);
    if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) > 0)
        throw StorageError(fmt::format("{}: does not hold texts of fixed length", where_));
    const std::size_t bytes = H5Tget_size(type.get());
    const std::size_t count = elements();
    std::vector<char> buffer(count * bytes);
    if (count > 0 && H5Dread(id(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer.data()) < 0)
        throw_storage_error(fmt::format("{}: cannot read", where_));
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
    if (!holds_numbers(id())) throw StorageError(fmt::format("{}: does not hold numbers", where_));
    if (shape().size() != 1 || first > extent || count > extent - first)
        throw StorageError(
            fmt::format("{}: rows {} to {} are beyond its {} rows", where_, first, first + count, extent));
    if (count == 0) return;
    const Handle file_space(H5Dget_space(id()), H5Sclose);
    const hsize_t start = first, length = count;
    const Handle memory_space(H5Screate_simple(1, &length, nullptr), H5Sclose);
    if (H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, &start, nullptr, &length, nullptr) < 0 ||
        H5Dread(id(), memory_type(element), memory_space.get(), file_space.get(), H5P_DEFAULT, values) < 0)
        throw_storage_error(fmt::format("{}: cannot read rows {} to {}", where_, first, first + count));
}

void Dataset::append_rows(Element element, std::uint64_t count, const void* values) {
    silence_library();
    if (count == 0) return;
    const hsize_t start = rows(), length = count, total = start + count;
    if (H5Dset_extent(id(), &total) < 0) throw_storage_error(fmt::format("{}: cannot grow", where_));
    const Handle file_space(H5Dget_space(id()), H5Sclose);
    const Handle memory_space(H5Screate_simple(1, &length, nullptr), H5Sclose);
    if (H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, &start, nullptr, &length, nullptr) < 0 ||
        H5Dwrite(id(), memory_type(element), memory_space.get(), file_space.get(), H5P_DEFAULT, values) < 0)
        throw_storage_error(fmt::format("{}: cannot append", where_));
    check_object_written(id(), where_);
}

}  // namespace cachetally

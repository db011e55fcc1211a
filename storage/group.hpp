// SPDX-License-Identifier: BSD-3-Clause
// Group, Dataset, Attribute access: what is inside an HDF5 file, as values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/handle.hpp"

namespace cachetally {

/// Number types that columns may have.
enum class Element : std::uint8_t { u8, u16, u32, u64, i64, f64 };

template <class T>
constexpr Element element_of();
template <>
constexpr Element element_of<std::uint8_t>() {
    return Element::u8;
}
template <>
constexpr Element element_of<std::uint16_t>() {
    return Element::u16;
}
template <>
constexpr Element element_of<std::uint32_t>() {
    return Element::u32;
}
template <>
constexpr Element element_of<std::uint64_t>() {
    return Element::u64;
}
template <>
constexpr Element element_of<std::int64_t>() {
    return Element::i64;
}
template <>
constexpr Element element_of<double>() {
    return Element::f64;
}

std::size_t bytes_of(Element element);

/// Something in a file that carries attributes. Errors are StorageErrors that name file and object.
class Object {
public:
    hid_t id() const { return handle_.get(); }

    /// "FILE:/path/of/object", for messages.
    const std::string& where() const { return where_; }

    bool has_attribute(const std::string& name) const;
    void set_attribute(const std::string& name, std::string_view text);
    void set_attribute(const std::string& name, const char* text) { set_attribute(name, std::string_view(text)); }
    void set_attribute(const std::string& name, const std::vector<std::string>& texts);
    void set_attribute(const std::string& name, double value);
    void set_attribute(const std::string& name, std::uint64_t value);
    void set_attribute(const std::string& name, std::int64_t value);
    void set_attribute(const std::string& name, unsigned value) { set_attribute(name, std::uint64_t{value}); }
    void set_attribute(const std::string& name, int value) { set_attribute(name, std::int64_t{value}); }
    void set_attribute(const std::string& name, bool value) { set_attribute(name, std::uint64_t{value}); }

    std::string text_attribute(const std::string& name) const;
    std::vector<std::string> texts_attribute(const std::string& name) const;
    double real_attribute(const std::string& name) const;
    std::uint64_t whole_attribute(const std::string& name) const;  ///< an error where the value is negative
    std::int64_t signed_attribute(const std::string& name) const;

protected:
    Object(Handle handle, std::string where) : handle_(std::move(handle)), where_(std::move(where)) {}
    ~Object() = default;
    Object(Object&&) = default;
    Object& operator=(Object&&) = default;

    Handle handle_;
    std::string where_;

private:
    Handle create_attribute(const std::string& name, hid_t type, hid_t space);
    void set_number(const std::string& name, hid_t file_type, hid_t memory_type, const void* value);
    Handle open_attribute(const std::string& name) const;
    void get_number(const std::string& name, hid_t memory_type, H5T_class_t expected, void* value) const;
};

/// An array of numbers or texts with one or two dimensions.
class Dataset : public Object {
public:
    Dataset(Handle handle, std::string where) : Object(std::move(handle), std::move(where)) {}

    std::vector<std::uint64_t> shape() const;
    std::uint64_t rows() const;  ///< extent of the first dimension
    bool holds_texts() const;

    /// All elements, row by row. Numbers are converted where the file holds another number type.
    template <class T>
    std::vector<T> read() const {
        std::vector<T> values(elements());
        read_all(element_of<T>(), values.data());
        return values;
    }
    std::vector<std::string> read_texts() const;

    /// Rows first .. first + rows.size() - 1 of a column; an error where they are beyond its end.
    template <class T>
    void read_rows(std::uint64_t first, std::span<T> rows) const {
        read_slab(element_of<T>(), first, rows.size(), rows.data());
    }

    /// Adds texts to the end of a column that was made by Group::create_text_column(); an error where one is longer.
    void append_texts(std::span<const std::string> texts);

    /// Adds rows to the end of a column that was made by Group::create_column().
    template <class T>
    void append(std::span<const T> rows) {
        append_rows(element_of<T>(), rows.size(), rows.data());
    }

private:
    std::uint64_t elements() const;
    void read_all(Element element, void* values) const;
    void read_slab(Element element, std::uint64_t first, std::uint64_t count, void* values) const;
    void append_rows(Element element, std::uint64_t count, const void* values);
    void append_values(hid_t type, std::uint64_t count, const void* values);
};

enum class Compression : std::uint8_t {
    none,     ///< for bytes that are compressed already
    deflate,  ///< shuffle + deflate level 1
};

class Group : public Object {
public:
    Group(Handle handle, std::string where) : Object(std::move(handle), std::move(where)) {}

    bool has(const std::string& name) const;
    std::vector<std::string> children() const;  ///< names of groups and datasets, in alphabetical order

    Group create_group(const std::string& name);
    Group open_group(const std::string& name) const;
    Dataset open_dataset(const std::string& name) const;

    /// Writes a column (1-D). Objects are refused where the name is taken.
    template <class T>
    Dataset write(const std::string& name, std::span<const T> values, Compression compression = Compression::deflate) {
        return write_array(name, element_of<T>(), {values.size()}, values.data(), compression);
    }
    template <class T>
    Dataset write(const std::string& name, const std::vector<T>& values) {
        return write(name, std::span<const T>(values));
    }

    /// Writes a table (2-D) of rows * columns elements, row by row; chunks are (1, 65536).
    template <class T>
    Dataset write_table(const std::string& name, std::span<const T> values, std::uint64_t rows, std::uint64_t columns) {
        if (values.size() != rows * columns) throw_shape(name, values.size(), rows, columns);
        return write_array(name, element_of<T>(), {rows, columns}, values.data(), Compression::deflate);
    }

    /// Writes a column of texts (UTF-8, padded with zeros to the longest; no text may hold a zero byte).
    Dataset write_texts(const std::string& name, std::span<const std::string> texts);

    /// An empty column that grows by Dataset::append(), for data whose length is not known in advance. Best appended
    /// to by multiples of 65536 rows: a chunk that is full is written once.
    Dataset create_column(const std::string& name, Element element, Compression compression = Compression::deflate,
                          std::uint64_t chunk_rows = 65536);

    /// The same of texts of at most so many bytes.
    Dataset create_text_column(const std::string& name, std::size_t longest, std::uint64_t chunk_rows = 65536);

    /// All elements of a dataset.
    template <class T>
    std::vector<T> read(const std::string& name) const {
        return open_dataset(name).read<T>();
    }
    std::vector<std::string> read_texts(const std::string& name) const { return open_dataset(name).read_texts(); }

private:
    [[noreturn]] void throw_shape(const std::string& name, std::size_t have, std::uint64_t rows,
                                  std::uint64_t columns) const;
    std::string path_of(const std::string& name) const;
    Dataset create_growing(const std::string& name, hid_t type, std::size_t bytes, Compression compression,
                           std::uint64_t chunk_rows);
    Dataset write_array(const std::string& name, Element element, const std::vector<hsize_t>& shape, const void* values,
                        Compression compression);
};

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Attributes of groups and datasets.
#include <fmt/format.h>

#include "storage/driver.hpp"

namespace cachetally {
namespace {

struct FreeTexts {
    hid_t type, space;
    std::vector<char*>& texts;
    ~FreeTexts() { H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts.data()); }
};

}  // namespace

bool Object::has_attribute(const std::string& name) const {
    const htri_t found = H5Aexists(id(), name.c_str());
    if (found < 0 && !name.empty())  // what cannot be looked for is not absent
        throw_storage_error("{}: cannot list the attributes", where_);
    return found > 0;
}

Handle Object::create_attribute(const std::string& name, hid_t type, hid_t space) {
    silence_library();
    if (has_attribute(name) && H5Adelete(id(), name.c_str()) < 0)
        throw_storage_error("{}: cannot replace attribute '{}'", where_, name);
    Handle attribute(H5Acreate2(id(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (!attribute) throw_storage_error("{}: cannot create attribute '{}'", where_, name);
    return attribute;
}

void Object::set_number(const std::string& name, hid_t in_file, hid_t in_memory, const void* value) {
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle attribute = create_attribute(name, in_file, space.get());
    if (H5Awrite(attribute.get(), in_memory, value) < 0)
        throw_storage_error("{}: cannot write attribute '{}'", where_, name);
}

void Object::set_attribute(const std::string& name, double value) {
    set_number(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}
void Object::set_attribute(const std::string& name, std::uint64_t value) {
    set_number(name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value);
}
void Object::set_attribute(const std::string& name, std::int64_t value) {
    set_number(name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

void Object::set_attribute(const std::string& name, std::string_view text) {
    const Handle type = variable_text_type();
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle attribute = create_attribute(name, type.get(), space.get());
    const std::string copy(text);
    const char* pointer = copy.c_str();
    if (H5Awrite(attribute.get(), type.get(), &pointer) < 0)
        throw_storage_error("{}: cannot write attribute '{}'", where_, name);
}

void Object::set_attribute(const std::string& name, const std::vector<std::string>& texts) {
    const Handle type = variable_text_type();
    const hsize_t count = texts.size();
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Handle attribute = create_attribute(name, type.get(), space.get());
    std::vector<const char*> pointers;
    pointers.reserve(texts.size());
    for (const auto& text : texts) pointers.push_back(text.c_str());
    if (!pointers.empty() && H5Awrite(attribute.get(), type.get(), pointers.data()) < 0)
        throw_storage_error("{}: cannot write attribute '{}'", where_, name);
}

Handle Object::open_attribute(const std::string& name) const {
    silence_library();
    if (!has_attribute(name)) throw StorageError("{}: attribute '{}' is missing", where_, name);
    Handle attribute(H5Aopen(id(), name.c_str(), H5P_DEFAULT), H5Aclose);
    if (!attribute) throw_storage_error("{}: cannot open attribute '{}'", where_, name);
    return attribute;
}

void Object::get_number(const std::string& name, hid_t in_memory, H5T_class_t expected, void* value) const {
    const Handle attribute = open_attribute(name);
    const Handle type(H5Aget_type(attribute.get()), H5Tclose);
    const Handle space(H5Aget_space(attribute.get()), H5Sclose);
    const H5T_class_t found = H5Tget_class(type.get());
    const bool number = found == H5T_INTEGER || found == expected;
    if (!number || H5Sget_simple_extent_npoints(space.get()) != 1)
        throw StorageError("{}: attribute '{}' is not a single number", where_, name);
    if (H5Aread(attribute.get(), in_memory, value) < 0)
        throw_storage_error("{}: cannot read attribute '{}'", where_, name);
}

double Object::real_attribute(const std::string& name) const {
    double value = 0;
    get_number(name, H5T_NATIVE_DOUBLE, H5T_FLOAT, &value);
    return value;
}

std::int64_t Object::signed_attribute(const std::string& name) const {
    std::int64_t value = 0;
    get_number(name, H5T_NATIVE_INT64, H5T_INTEGER, &value);
    return value;
}

std::uint64_t Object::whole_attribute(const std::string& name) const {
    std::int64_t low = 0;  // a negative number would be clamped to 0 by the conversion
    get_number(name, H5T_NATIVE_INT64, H5T_INTEGER, &low);
    if (low < 0) throw StorageError("{}: attribute '{}' is negative", where_, name);
    std::uint64_t value = 0;
    get_number(name, H5T_NATIVE_UINT64, H5T_INTEGER, &value);
    return value;
}

std::vector<std::string> Object::texts_attribute(const std::string& name) const {
    const Handle attribute = open_attribute(name);
    const Handle type(H5Aget_type(attribute.get()), H5Tclose);
    const Handle space(H5Aget_space(attribute.get()), H5Sclose);
    const hssize_t count = H5Sget_simple_extent_npoints(space.get());
    if (H5Tget_class(type.get()) != H5T_STRING || count < 0)
        throw StorageError("{}: attribute '{}' is not a text", where_, name);
    if (count == 0) return {};
    const auto size = static_cast<std::size_t>(count);
    std::vector<std::string> result;
    const std::string failure = fmt::format("{}: cannot read attribute '{}'", where_, name);
    if (H5Tis_variable_str(type.get()) > 0) {
        const Handle text = variable_text_type();
        std::vector<char*> pointers(size, nullptr);
        const FreeTexts guard{text.get(), space.get(), pointers};
        if (H5Aread(attribute.get(), text.get(), pointers.data()) < 0) throw_storage_error(failure);
        for (const char* pointer : pointers) result.emplace_back(pointer == nullptr ? "" : pointer);
        return result;
    }
    const std::size_t bytes = H5Tget_size(type.get());
    std::vector<char> buffer(size * bytes);
    if (H5Aread(attribute.get(), type.get(), buffer.data()) < 0) throw_storage_error(failure);
    for (std::size_t i = 0; i < size; ++i) {
        const std::string text(buffer.data() + i * bytes, bytes);
        result.push_back(text.substr(0, text.find('\0')));
    }
    return result;
}

std::string Object::text_attribute(const std::string& name) const {
    auto texts = texts_attribute(name);
    if (texts.size() != 1) throw StorageError("{}: attribute '{}' is not a single text", where_, name);
    return std::move(texts.front());
}

}  // namespace cachetally

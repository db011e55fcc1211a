// SPDX-License-Identifier: BSD-3-Clause
// Consolidated metadata, as Zarr stores have (its .zmetadata).
#include "storage/consolidated.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "storage/copy.hpp"

namespace cachetally {
namespace {

using nlohmann::json;

template <class T>
json numbers_of(hid_t attribute, hid_t type, hssize_t count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    if (count > 0 && H5Aread(attribute, type, values.data()) < 0) throw_storage_error("cannot read an attribute");
    return values;
}

/// Null where JSON has no word for it, as files of other programs may have them.
json value_of(const Object& object, const std::string& name) {
    const Handle attribute(H5Aopen(object.id(), name.c_str(), H5P_DEFAULT), H5Aclose);
    const Handle type(H5Aget_type(attribute.get()), H5Tclose), space(H5Aget_space(attribute.get()), H5Sclose);
    const bool single = H5Sget_simple_extent_type(space.get()) == H5S_SCALAR;
    const hssize_t count = H5Sget_simple_extent_npoints(space.get());
    const bool whole = H5Tget_class(type.get()) == H5T_INTEGER, positive = H5Tget_sign(type.get()) == H5T_SGN_NONE;
    if (H5Tget_class(type.get()) == H5T_STRING)
        return single ? json(object.text_attribute(name)) : json(object.texts_attribute(name));
    if (!whole && H5Tget_class(type.get()) != H5T_FLOAT) return nullptr;
    json numbers = !whole     ? numbers_of<double>(attribute.get(), H5T_NATIVE_DOUBLE, count)
                   : positive ? numbers_of<std::uint64_t>(attribute.get(), H5T_NATIVE_UINT64, count)
                              : numbers_of<std::int64_t>(attribute.get(), H5T_NATIVE_INT64, count);
    return count == 1 ? numbers.front() : numbers;
}

json attributes_of(const Object& object) {
    json found = json::object();
    for (const std::string& name : attribute_names(object)) found[name] = value_of(object, name);
    return found;
}

void describe(const Group& group, const std::string& path, json& all) {
    const std::vector<std::string> children = group.children();
    all[path.empty() ? "/" : path] = {{"attributes", attributes_of(group)}, {"members", children}};
    for (const std::string& name : children) {
        const std::string child = path.empty() ? name : path + '/' + name;
        if (child == "provenance") continue;
        if (is_group(group, name)) {
            describe(group.open_group(name), child, all);
        } else {
            const Dataset data = group.open_dataset(name);
            all[child] = {{"attributes", attributes_of(data)}, {"shape", data.shape()}};
        }
    }
}

}  // namespace

void consolidate_metadata(Group& root) {
    constexpr const char* name = "consolidated_metadata";
    // of a file that this one was copied from
    if (root.has(name) && H5Ldelete(root.id(), name, H5P_DEFAULT) < 0)
        throw_storage_error("{}: cannot replace {}", root.where(), name);
    json all = json::object();
    describe(root, "", all);
    const std::string text = all.dump(-1, ' ', false, json::error_handler_t::replace);
    // no column: readers of netCDF want an axis of each
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    if (H5Tset_size(type.get(), text.size()) < 0 || H5Tset_strpad(type.get(), H5T_STR_NULLPAD) < 0 ||
        H5Tset_cset(type.get(), H5T_CSET_UTF8) < 0 || H5Pset_obj_track_times(properties.get(), false) < 0)
        throw_storage_error("cannot make a property list");
    Dataset dataset(
        Handle(H5Dcreate2(root.id(), name, type.get(), space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
               H5Dclose),
        root.where() + name);
    if (dataset.id() < 0 || H5Dwrite(dataset.id(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) < 0)
        throw_storage_error("{}: cannot write", dataset.where());
    dataset.set_attribute("_Encoding", "utf-8");  // netCDF: xarray shows texts, not bytes
    dataset.set_attribute("long_name", "consolidated metadata");
}

}  // namespace cachetally

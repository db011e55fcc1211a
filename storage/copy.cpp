// SPDX-License-Identifier: BSD-3-Clause
// Copies attributes, datasets and axes between files.
#include "storage/copy.hpp"

#include <hdf5_hl.h>

#include <algorithm>
#include <set>
#include <vector>

#include "storage/columns.hpp"

namespace cachetally {
namespace {

void copy_attribute(const Object& from, Object& to, const std::string& name) {
    const Handle attribute(H5Aopen(from.id(), name.c_str(), H5P_DEFAULT), H5Aclose);
    const Handle type(H5Aget_type(attribute.get()), H5Tclose), space(H5Aget_space(attribute.get()), H5Sclose);
    const H5T_class_t kind = H5Tget_class(type.get());
    if (kind == H5T_VLEN || kind == H5T_COMPOUND) return;  // of dimension scales
    if (kind == H5T_REFERENCE) return;                     // to a place in the other file
    const auto points = static_cast<std::size_t>(std::max<hssize_t>(1, H5Sget_simple_extent_npoints(space.get())));
    std::vector<char> buffer(points * H5Tget_size(type.get()));
    const Handle copy(H5Acreate2(to.id(), name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (H5Aread(attribute.get(), type.get(), buffer.data()) < 0 || H5Awrite(copy.get(), type.get(), buffer.data()) < 0)
        throw_storage_error("{}: cannot copy the attribute '{}'", from.where(), name);
    if (H5Tis_variable_str(type.get()) > 0) H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, buffer.data());
}

/// Attributes of dimension scales and of those who have them.
const std::set<std::string> scale_attributes{"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"};

/// Name of the first scale of a dimension; empty where there is none.
std::string scale_of(const Dataset& data, unsigned dimension) {
    std::string name;
    const auto take = [](hid_t, unsigned, hid_t scale, void* into) -> herr_t {
        std::vector<char> path(1 + static_cast<std::size_t>(std::max<ssize_t>(0, H5Iget_name(scale, nullptr, 0))));
        H5Iget_name(scale, path.data(), path.size());
        const std::string whole(path.data());
        *static_cast<std::string*>(into) = whole.substr(whole.rfind('/') + 1);
        return 1;
    };
    if (H5DSget_num_scales(data.id(), dimension) <= 0) return name;
    H5DSiterate_scales(data.id(), dimension, nullptr, take, &name);
    return name;
}

}  // namespace

std::vector<std::string> attribute_names(const Object& object) {
    std::vector<std::string> names;
    const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* into) -> herr_t {
        if (!scale_attributes.contains(name)) static_cast<std::vector<std::string>*>(into)->emplace_back(name);
        return 0;
    };
    H5Aiterate2(object.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names);
    return names;
}

void copy_attributes(const Object& from, Object& to) {
    for (const std::string& name : attribute_names(from))
        if (name != "complete" && name != "incomplete") copy_attribute(from, to, name);
}

bool is_group(const Group& group, const std::string& name) {
    H5O_info_t info;
    return H5Oget_info_by_name2(group.id(), name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
           info.type == H5O_TYPE_GROUP;
}

void copy_dataset(const Group& from, const std::string& name, Group& to) {
    const Handle bare(H5Pcreate(H5P_OBJECT_COPY), H5Pclose);
    H5Pset_copy_object(bare.get(), H5O_COPY_WITHOUT_ATTR_FLAG);
    if (H5Ocopy(from.id(), name.c_str(), to.id(), name.c_str(), bare.get(), H5P_DEFAULT) < 0)
        throw_storage_error("{}/{}: cannot be copied", from.where(), name);
    Dataset copy = to.open_dataset(name);
    copy_attributes(from.open_dataset(name), copy);
}

void copy_axes(const Group& from, Group& to) {
    for (const std::string& name : from.children()) {
        if (is_group(from, name) || !to.has(name)) continue;
        const Dataset data = from.open_dataset(name);
        if (H5DSis_scale(data.id()) > 0) continue;
        std::vector<std::string> axes;
        for (unsigned i = 0; i < data.shape().size(); ++i) axes.push_back(scale_of(data, i));
        attach_axes(to, name, axes);
    }
}

void copy_group(const Group& from, const std::string& name, Group& to) {
    const Group source = from.open_group(name);
    Group target = to.create_group(name);
    copy_attributes(source, target);
    for (const std::string& each : source.children()) {
        if (is_group(source, each))
            copy_group(source, each, target);
        else
            copy_dataset(source, each, target);
    }
    copy_axes(source, target);
}

}  // namespace cachetally

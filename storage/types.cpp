// SPDX-License-Identifier: BSD-3-Clause
// HDF5 types and property lists.
#include "storage/types.hpp"

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

}  // namespace cachetally

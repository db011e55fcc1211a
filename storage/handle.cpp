// SPDX-License-Identifier: BSD-3-Clause
// Errors of the HDF5 library as exceptions.
#include "storage/handle.hpp"

namespace cachetally {
namespace {

struct Deepest {
    std::string text;
};

herr_t visit(unsigned, const H5E_error2_t* error, void* target) {
    auto& deepest = *static_cast<Deepest*>(target);
    if (error->desc == nullptr || *error->desc == '\0') return 0;
    deepest.text = error->desc;  // the walk ends at the innermost function: the last text is the cause
    return 0;
}

/// The library writes "time = ..., filename = ..., errno = 28, error message = '...'": the cause is in the quotes.
std::string shortened(const std::string& text) {
    const std::string key = "error message = '";
    const auto begin = text.find(key);
    if (begin == std::string::npos) return text;
    const auto end = text.find('\'', begin + key.size());
    return text.substr(begin + key.size(), end - begin - key.size());
}

}  // namespace

void silence_library() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

void throw_storage_error(const std::string& what) {
    Deepest deepest;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, visit, &deepest);
    H5Eclear2(H5E_DEFAULT);
    if (deepest.text.empty()) throw StorageError(what);
    throw StorageError("{}: {}", what, shortened(deepest.text));
}

bool library_is_thread_safe() {
    hbool_t safe = false;
    return H5is_library_threadsafe(&safe) >= 0 && safe;
}

}  // namespace cachetally

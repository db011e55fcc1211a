// Errors of the HDF5 library as exceptions.
#include "storage/handle.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace cachetally {
namespace {

struct Deepest {
    std::string text;
    bool disk_full = false;
    bool too_large = false;
};

herr_t visit(unsigned, const H5E_error2_t* error, void* target) {
    auto& deepest = *static_cast<Deepest*>(target);
    if (error->desc == nullptr || *error->desc == '\0') return 0;
    const std::string text = error->desc;
    if (text.find(std::strerror(ENOSPC)) != std::string::npos) deepest.disk_full = true;
    if (text.find(std::strerror(EFBIG)) != std::string::npos) deepest.too_large = true;
    deepest.text = text;  // the walk ends at the innermost function: the last text is the cause
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
    if (deepest.disk_full) throw StorageError(fmt::format("{}: the disk is full", what));
    if (deepest.too_large) throw StorageError(fmt::format("{}: the file is larger than the system allows", what));
    if (deepest.text.empty()) throw StorageError(what);
    throw StorageError(fmt::format("{}: {}", what, shortened(deepest.text)));
}

bool library_is_thread_safe() {
    hbool_t safe = false;
    return H5is_library_threadsafe(&safe) >= 0 && safe;
}

}  // namespace cachetally

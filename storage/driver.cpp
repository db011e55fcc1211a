// SPDX-License-Identifier: BSD-3-Clause
// The driver of result files: plain pread and pwrite, a memory of the first failure, and digests of what is read.
#include "storage/driver.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace cachetally {
namespace {

/// What travels in the property list.
struct Settings {
    Written* written = nullptr;      ///< of a file that is created
    VerifiedFile* source = nullptr;  ///< of a file that is read
};

struct OpenFile {
    H5FD_t library{};  // first: the library sees an OpenFile as this
    int descriptor = -1;
    haddr_t end_allocated = 0;
    haddr_t end_written = 0;
    Written* written = nullptr;
    VerifiedFile* source = nullptr;  ///< whose descriptor it is
};

OpenFile& self(H5FD_t* file) { return *reinterpret_cast<OpenFile*>(file); }
const OpenFile& self(const H5FD_t* file) { return *reinterpret_cast<const OpenFile*>(file); }

H5FD_t* open_file(const char* name, unsigned flags, hid_t access, haddr_t) {
    const auto* settings = static_cast<const Settings*>(H5Pget_driver_info(access));
    if (settings == nullptr) return nullptr;
    auto file = std::make_unique<OpenFile>();
    file->written = settings->written;
    file->source = settings->source;
    if (file->source != nullptr) {
        if ((flags & H5F_ACC_RDWR) != 0) return nullptr;
        file->descriptor = file->source->descriptor();
        file->end_written = file->source->size();
        return &file.release()->library;
    }
    if ((flags & H5F_ACC_EXCL) == 0) return nullptr;  // results are created, never changed
    file->descriptor = ::open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->descriptor < 0) return nullptr;
    return &file.release()->library;
}

herr_t close_file(H5FD_t* file) {
    const std::unique_ptr<OpenFile> owned(&self(file));
    if (owned->source == nullptr) ::close(owned->descriptor);
    return 0;
}

int compare(const H5FD_t* a, const H5FD_t* b) { return a == b ? 0 : (a < b ? -1 : 1); }

herr_t query(const H5FD_t*, unsigned long* flags) {
    if (flags != nullptr)
        *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
                 H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

haddr_t end_allocated(const H5FD_t* file, H5FD_mem_t) { return self(file).end_allocated; }
haddr_t end_written(const H5FD_t* file, H5FD_mem_t) { return self(file).end_written; }

herr_t set_end_allocated(H5FD_t* file, H5FD_mem_t, haddr_t end) {
    self(file).end_allocated = end;
    return 0;
}

herr_t get_handle(H5FD_t* file, hid_t, void** handle) {
    *handle = file;
    return 0;
}

herr_t read_verified(VerifiedFile& source, haddr_t address, std::span<char> bytes) {
    if (source.read(address, bytes)) return 0;
    H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_IO, H5E_READERROR, "%s",
             source.fault().c_str());
    return -1;
}

herr_t read_file(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, void* buffer) {
    if (self(file).source != nullptr)
        return read_verified(*self(file).source, address, {static_cast<char*>(buffer), size});
    auto* bytes = static_cast<char*>(buffer);
    while (size > 0) {
        const ssize_t count = ::pread(self(file).descriptor, bytes, size, static_cast<off_t>(address));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -1;
        if (count == 0) {  // beyond the end: zeros
            std::memset(bytes, 0, size);
            return 0;
        }
        const auto done = static_cast<size_t>(count);
        bytes += done, size -= done, address += done;
    }
    return 0;
}

herr_t write_file(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, const void* buffer) {
    OpenFile& open = self(file);
    const auto* bytes = static_cast<const char*>(buffer);
    open.end_written = std::max(open.end_written, address + size);
    while (size > 0 && open.written->failure == 0) {
        const ssize_t count = ::pwrite(open.descriptor, bytes, size, static_cast<off_t>(address));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            open.written->failure = errno;
            return 0;
        }
        const auto done = static_cast<size_t>(count);
        bytes += done, size -= done, address += done;
    }
    return 0;
}

herr_t truncate_file(H5FD_t* file, hid_t, hbool_t) {
    OpenFile& open = self(file);
    if (open.written->failure == 0 && ::ftruncate(open.descriptor, static_cast<off_t>(open.end_allocated)) != 0)
        open.written->failure = errno;
    open.end_written = open.end_allocated;
    return 0;
}

herr_t lock_file(H5FD_t* file, hbool_t writing) {
    // A file system without locks is no reason to fail: the lock only distinguishes a live run from a killed one.
    const bool taken = ::flock(self(file).descriptor, (writing ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0;
    return taken || errno != EWOULDBLOCK ? 0 : -1;
}

herr_t unlock_file(H5FD_t* file) {
    ::flock(self(file).descriptor, LOCK_UN);
    return 0;
}

}  // namespace

Handle register_driver() {
    H5FD_class_t driver{};
    driver.name = "cachetally";
    driver.maxaddr = (haddr_t{1} << 62) - 1;
    driver.fc_degree = H5F_CLOSE_STRONG;
    driver.fapl_size = sizeof(Settings);
    driver.open = open_file;
    driver.close = close_file;
    driver.cmp = compare;
    driver.query = query;
    driver.get_eoa = end_allocated;
    driver.set_eoa = set_end_allocated;
    driver.get_eof = end_written;
    driver.get_handle = get_handle;
    driver.read = read_file;
    driver.write = write_file;
    driver.truncate = truncate_file;
    driver.lock = lock_file;
    driver.unlock = unlock_file;
    constexpr H5FD_mem_t map[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(map), std::end(map), driver.fl_map);
    Handle id(H5FDregister(&driver), H5FDunregister);
    if (!id) throw_storage_error("cannot register the file driver");
    return id;
}

namespace {

void set_driver(const Handle& access, const Handle& driver, const Settings& settings) {
    if (H5Pset_driver(access.get(), driver.get(), &settings) < 0) throw_storage_error("cannot set the file driver");
}

}  // namespace

void set_driver(const Handle& access, const Handle& driver, Written* written) {
    set_driver(access, driver, Settings{written, nullptr});
}

void set_driver(const Handle& access, const Handle& driver, VerifiedFile* source) {
    set_driver(access, driver, Settings{nullptr, source});
}

void check_written(int failure, const std::string& where) {
    if (failure == 0) return;
    const char* text = failure == ENOSPC ? "the disk is full" : std::strerror(failure);
    throw StorageError("{}: cannot write: {}", where, text);
}

namespace {

const OpenFile& file_of(hid_t object, const std::string& where) {
    const Handle file(H5Iget_file_id(object), H5Fclose);
    void* handle = nullptr;
    if (!file || H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &handle) < 0 || handle == nullptr)
        throw_storage_error(where + ": cannot ask for the state of the file");
    return *static_cast<const OpenFile*>(handle);
}

}  // namespace

void check_object_written(hid_t object, const std::string& where) {
    check_written(file_of(object, where).written->failure, where);
}

void check_object_read(hid_t object, const std::string& where) {
    const VerifiedFile* source = file_of(object, where).source;
    if (source != nullptr && !source->fault().empty()) throw StorageError(where + ": " + source->fault());
}

}  // namespace cachetally

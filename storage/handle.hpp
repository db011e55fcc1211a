// SPDX-License-Identifier: BSD-3-Clause
// Handle: owns one identifier of the HDF5 library. StorageError: what goes wrong with files, in words.
#pragma once

#include <hdf5.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "cachetally/error.hpp"

namespace cachetally {

/// Something is wrong with a file; what() names the file and object, what failed, and what the library says.
class StorageError : public Formatted<std::runtime_error> {
public:
    using Formatted::Formatted;
};

/// Owns an HDF5 identifier and closes it with the function of its kind.
class Handle {
public:
    using Closer = herr_t (*)(hid_t);

    Handle() = default;
    Handle(hid_t id, Closer closer) : id_(id), closer_(closer) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), closer_(other.closer_) {}
    Handle& operator=(Handle&& other) noexcept {
        if (this != &other) {
            close();
            id_ = std::exchange(other.id_, -1);
            closer_ = other.closer_;
        }
        return *this;
    }
    ~Handle() { close(); }

    hid_t get() const { return id_; }
    explicit operator bool() const { return id_ >= 0; }

    /// Closes now; true where that succeeded or nothing was open.
    bool close() { return id_ < 0 || closer_(std::exchange(id_, -1)) >= 0; }

private:
    hid_t id_ = -1;
    Closer closer_ = nullptr;
};

/// Stops the HDF5 library from printing errors by itself; they become StorageErrors. Per thread, so called by whatever
/// may fail.
void silence_library();

/// Throws StorageError: "what: why", where why comes from the library's error stack.
[[noreturn]] void throw_storage_error(const std::string& what);
template <class First, class... Rest>
[[noreturn]] void throw_storage_error(fmt::format_string<First, Rest...> what, First&& first, Rest&&... rest) {
    throw_storage_error(fmt::format(what, std::forward<First>(first), std::forward<Rest>(rest)...));
}

/// True where several threads may use the library at once.
bool library_is_thread_safe();

}  // namespace cachetally

// Checksums of the heaps that a file has texts of attributes in: for the sources of this room only.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "storage/handle.hpp"

namespace cachetally {

/// The attribute that has them: rows of address, bytes and hash.
inline constexpr const char* heap_checksums = "heap_checksums";

/// By their address in the file, of so many bytes.
using Heaps = std::map<std::uint64_t, std::uint64_t>;

/// Keeps checksums of the heaps that are in `file`, which `descriptor` reads, with /provenance (where there is none,
/// with the root). To be called when all else is written. `written`: heaps that were written, also those that are no
/// more.
void keep_heap_checksums(const Handle& file, const std::string& path, int descriptor, const Heaps& written);

/// Throws StorageError where a heap is not what it was when its file was written: the library has no checksums there,
/// believes what it reads, and crashes.
void check_heaps(const Handle& file, const std::string& path, int descriptor);

}  // namespace cachetally

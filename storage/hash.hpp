// SPDX-License-Identifier: BSD-3-Clause
// Hashes of texts and files, for provenance and for telling damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cachetally {

/// XXH3, 128 bits, as 32 hexadecimal digits (the canonical form that `xxhsum -H128` prints).
std::string hash_text(std::string_view text);

/// The same of a file's contents. Throws StorageError where it cannot be read.
std::string hash_file(const std::string& path);

/// XXH3, 64 bits, of some bytes.
std::uint64_t hash_bytes(std::span<const std::byte> bytes);

}  // namespace cachetally

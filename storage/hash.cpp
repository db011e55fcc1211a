// SPDX-License-Identifier: BSD-3-Clause
// Hashes, by libxxhash.
#include "storage/hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "storage/handle.hpp"

namespace cachetally {
namespace {

std::string digits(const XXH128_hash_t& hash) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, hash);
    std::string text;
    for (const unsigned char byte : canonical.digest) text += fmt::format("{:02x}", byte);
    return text;
}

}  // namespace

std::string hash_text(std::string_view text) { return digits(XXH3_128bits(text.data(), text.size())); }

std::string hash_file(const std::string& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
    if (!file) throw StorageError("{}: {}", path, std::strerror(errno));
    const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
    XXH3_128bits_reset(state.get());
    std::vector<char> buffer(std::size_t{1} << 20);
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get()))
        XXH3_128bits_update(state.get(), buffer.data(), count);
    if (std::ferror(file.get()) != 0) throw StorageError("{}: cannot be read", path);
    return digits(XXH3_128bits_digest(state.get()));
}

std::uint64_t hash_bytes(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace cachetally

#include "storage/heaps.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "storage/hash.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t largest_heap = std::uint64_t{1} << 32;

/// Nothing where the file has not so many bytes there.
std::vector<std::byte> bytes_at(int descriptor, std::uint64_t address, std::uint64_t size) {
    std::vector<std::byte> bytes(size);
    std::size_t done = 0;
    while (done < size) {
        const ssize_t count = ::pread(descriptor, bytes.data() + done, size - done, static_cast<off_t>(address + done));
        if (count <= 0) return {};
        done += static_cast<std::size_t>(count);
    }
    return bytes;
}

/// All that may differ between equal runs is there.
const char* owner_of(hid_t file) { return H5Lexists(file, "provenance", H5P_DEFAULT) > 0 ? "/provenance" : "/"; }

/// Its signature, version and size stand at the beginning of a heap.
bool is_heap(std::span<const std::byte> bytes) {
    std::uint64_t size = 0;
    if (bytes.size() < 16) return false;
    std::memcpy(&size, bytes.data() + 8, sizeof size);
    return std::memcmp(bytes.data(), "GCOL", 4) == 0 && size == bytes.size();
}

}  // namespace

void keep_heap_checksums(const Handle& file, const std::string& path, int descriptor, const Heaps& written) {
    const auto flush = [&] {
        if (H5Fflush(file.get(), H5F_SCOPE_GLOBAL) < 0) throw_storage_error(fmt::format("{}: cannot write", path));
    };
    flush();
    if (written.empty()) return;
    const hsize_t numbers = 3 * written.size();
    const Handle owner(H5Gopen2(file.get(), owner_of(file.get()), H5P_DEFAULT), H5Gclose);
    const Handle space(H5Screate_simple(1, &numbers, nullptr), H5Sclose);
    const Handle attribute(
        H5Acreate2(owner.get(), heap_checksums, H5T_STD_U64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    std::vector<std::uint64_t> rows(numbers);
    const auto write = [&] {
        if (!attribute || H5Awrite(attribute.get(), H5T_NATIVE_UINT64, rows.data()) < 0)
            throw_storage_error(fmt::format("{}: cannot write the attribute '{}'", path, heap_checksums));
        flush();
    };
    write();  // room for them first: then nothing moves any more
    rows.clear();
    for (const auto& [address, size] : written) {
        const std::vector<std::byte> bytes = bytes_at(descriptor, address, size);
        if (is_heap(bytes)) rows.insert(rows.end(), {address, size, hash_bytes(bytes)});
    }
    rows.resize(numbers);
    write();
}

void check_heaps(const Handle& file, const std::string& path, int descriptor) {
    const char* const owner = owner_of(file.get());
    if (H5Aexists_by_name(file.get(), owner, heap_checksums, H5P_DEFAULT) <= 0) return;  // of versions that kept none
    const Handle attribute(H5Aopen_by_name(file.get(), owner, heap_checksums, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    const Handle type(H5Aget_type(attribute.get()), H5Tclose), space(H5Aget_space(attribute.get()), H5Sclose);
    const hssize_t numbers = H5Sget_simple_extent_npoints(space.get());
    std::vector<std::uint64_t> rows(static_cast<std::size_t>(std::max<hssize_t>(numbers, 0)));
    if (H5Tget_class(type.get()) != H5T_INTEGER || H5Aread(attribute.get(), H5T_NATIVE_UINT64, rows.data()) < 0)
        throw_storage_error(fmt::format("{}: cannot read the attribute '{}' of {}", path, heap_checksums, owner));
    for (std::size_t i = 0; i + 2 < rows.size(); i += 3) {
        const std::uint64_t address = rows[i], size = rows[i + 1];
        if (size == 0 || size > largest_heap) continue;
        if (hash_bytes(bytes_at(descriptor, address, size)) != rows[i + 2])
            throw StorageError(
                fmt::format("{}: is damaged: texts of attributes, in the {} bytes from byte {} on, are not what was "
                            "written; copy it again, or make it anew (where another program changed them on purpose, "
                            "delete the attribute '{}' of {})",
                            path, size, address, heap_checksums, owner));
    }
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "storage/driver.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "storage/handle.hpp"
#include "storage/hash.hpp"

namespace cachetally {
namespace {

static_assert(std::endian::native == std::endian::little, "the trailer is copied as it lies in memory");

constexpr std::uint64_t block_bytes = 1 << 20;
constexpr std::uint64_t small_file = 16 * block_bytes;  ///< verified as a whole before the library sees it
constexpr std::uint32_t trailer_version = 1;
constexpr std::array<char, 8> trailer_magic{'C', 'T', 'D', 'I', 'G', 'E', 'S', 'T'};
constexpr const char* remedy = "copy it again, or make it anew";

/// The last bytes of a file; the digests of its blocks stand before them.
struct Footer {
    std::array<char, 8> magic = trailer_magic;
    std::uint32_t version = trailer_version;
    std::uint32_t block = block_bytes;
    std::uint64_t size = 0;    ///< of the HDF5 part
    std::uint64_t digest = 0;  ///< of the digests, and of the footer up to here
};
static_assert(sizeof(Footer) == 32);

std::uint64_t blocks_of(std::uint64_t size) { return (size + block_bytes - 1) / block_bytes; }

std::uint64_t digest_of(const std::vector<std::uint64_t>& digests, const Footer& footer) {
    std::vector<std::byte> bytes(digests.size() * sizeof digests[0] + offsetof(Footer, digest));
    const auto end = std::ranges::copy(std::as_bytes(std::span(digests)), bytes.begin()).out;
    std::ranges::copy(std::as_bytes(std::span(&footer, 1)).first(offsetof(Footer, digest)), end);
    return hash_bytes(bytes);
}

/// How many bytes there are from `address` on, up to the wish; less at the end of the file, or of the disk's patience.
std::size_t read_at(int descriptor, std::uint64_t address, std::span<char> bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t count =
            ::pread(descriptor, bytes.data() + done, bytes.size() - done, static_cast<off_t>(address + done));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        done += static_cast<std::size_t>(count);
    }
    return done;
}

template <class T>
bool read_values(int descriptor, std::uint64_t address, std::span<T> values) {
    const std::span bytes(reinterpret_cast<char*>(values.data()), values.size_bytes());
    return read_at(descriptor, address, bytes) == bytes.size();
}

void write_at_end(int descriptor, std::uint64_t address, std::span<const std::byte> bytes, const std::string& path) {
    while (!bytes.empty()) {
        const ssize_t count = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(address));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw StorageError("{}: cannot write: {}", path, std::strerror(errno));
        bytes = bytes.subspan(static_cast<std::size_t>(count));
        address += static_cast<std::uint64_t>(count);
    }
}

std::uint64_t size_of(int descriptor, const std::string& path) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) throw StorageError("{}: {}", path, std::strerror(errno));
    if (S_ISDIR(status.st_mode)) throw StorageError("{}: is a directory; give a file that is in it", path);
    if (!S_ISREG(status.st_mode)) throw StorageError("{}: is not a file", path);
    return static_cast<std::uint64_t>(status.st_size);
}

constexpr std::string_view wanted = "cachetally reads HDF5 files that it wrote itself, with -o FILE.h5";

/// What a file is that does not begin as HDF5 does.
std::string foreign(std::string_view text) {
    if (text.empty()) return fmt::format("is empty; {}", wanted);
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (text.starts_with("<!") || text.starts_with("<html"))
        return "is not an HDF5 file, but a page: open it in a browser";
    if (text.starts_with('{') || text.starts_with('['))
        return "is not an HDF5 file, but looks like JSON; run with -o FILE.h5 for a file that can be shown again";
    return fmt::format("is not an HDF5 file; {}", wanted);
}

/// What is wrong with a file of so many bytes that has no trailer, by its first bytes.
std::string fault_without_trailer(std::string_view head, std::uint64_t size) {
    const std::size_t place = head.size() > 8 && head[8] < 2 ? 40 : 28;  // of its size: superblocks 0 and 1, and later
    std::uint64_t whole = 0;
    if (head.size() < place + sizeof whole) return fmt::format("is cut off: it has {} bytes alone; {}", size, remedy);
    std::memcpy(&whole, head.data() + place, sizeof whole);
    if (whole > size && whole != ~std::uint64_t{0})
        return fmt::format(
            "is cut off: it should have at least {} bytes and has {}; copy it again, or wait for the run that is "
            "writing it, or make it anew",
            whole, size);
    if (whole < size) return fmt::format("is damaged: it does not end in its digests; {}", remedy);
    return "has no digests of its blocks, as files have that cachetally wrote: it is of an earlier version or of "
           "another program, or was changed by one; --trust reads it as it is";
}

}  // namespace

Descriptor::~Descriptor() {
    if (number >= 0) ::close(number);
}

void append_digests(int descriptor, const std::string& path) {
    Footer footer;
    footer.size = size_of(descriptor, path);
    std::vector<std::uint64_t> digests;
    std::vector<char> block(block_bytes);
    for (std::uint64_t begin = 0; begin < footer.size; begin += block_bytes) {
        const std::span bytes = std::span(block).first(std::min(block_bytes, footer.size - begin));
        if (!read_values(descriptor, begin, bytes))
            throw StorageError("{}: cannot be read again: {}", path, std::strerror(errno));
        digests.push_back(hash_bytes(std::as_bytes(bytes)));
    }
    footer.digest = digest_of(digests, footer);
    write_at_end(descriptor, footer.size, std::as_bytes(std::span(digests)), path);
    write_at_end(descriptor, footer.size + digests.size() * sizeof digests[0], std::as_bytes(std::span(&footer, 1)),
                 path);
}

VerifiedFile::VerifiedFile(const std::string& path, Trust trust)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (file_.number < 0) throw StorageError("{}: {}", path, std::strerror(errno));
    size_ = size_of(file_.number, path);
    std::array<char, 64> head{};
    const std::string_view begin(head.data(), read_at(file_.number, 0, head));
    const bool is_hdf5 = begin.starts_with("\x89HDF\r\n\x1a\n");
    if (trust == Trust::file) {
        if (!is_hdf5 && H5Fis_hdf5(path.c_str()) <= 0) throw StorageError("{}: {}", path, foreign(begin));
        return;
    }
    read_trailer(size_);
    if (digests_.empty() && !is_hdf5) throw StorageError("{}: {}", path, foreign(begin));
    if (digests_.empty()) throw StorageError("{}: {}", path, fault_without_trailer(begin, size_));
    if (size_ <= small_file) verify_all();
}

/// Leaves all as it is where there is none.
void VerifiedFile::read_trailer(std::uint64_t file_bytes) {
    Footer footer;
    if (file_bytes < sizeof footer || !read_values(file_.number, file_bytes - sizeof footer, std::span(&footer, 1)) ||
        footer.magic != trailer_magic)
        return;
    const std::uint64_t before = file_bytes - sizeof footer;
    const auto fail = [&](std::string_view why) { throw StorageError("{}: is damaged: {}; {}", path_, why, remedy); };
    if (footer.version != trailer_version || footer.block != block_bytes)
        throw StorageError(
            "{}: has digests of version {} in blocks of {} bytes, which only a later cachetally knows, or is damaged",
            path_, footer.version, footer.block);
    if (footer.size == 0 || footer.size > before || before - footer.size != 8 * blocks_of(footer.size))
        fail(fmt::format("it has {} bytes, and by its digests an HDF5 file of {} alone", file_bytes, footer.size));
    std::vector<std::uint64_t> digests(blocks_of(footer.size));
    if (!read_values(file_.number, footer.size, std::span(digests)) || digest_of(digests, footer) != footer.digest)
        fail("its digests are not what was written");
    size_ = footer.size;
    digests_ = std::move(digests);
    verified_.resize(digests_.size());
}

bool VerifiedFile::refuse(std::string fault) {
    fault_ = std::move(fault);
    return false;
}

bool VerifiedFile::verify(std::uint64_t block) {
    if (block >= digests_.size() || verified_[block]) return true;
    const std::uint64_t begin = block * block_bytes, end = std::min(size_, begin + block_bytes);
    block_.resize(end - begin);
    if (read_at(file_.number, begin, block_) != block_.size() ||
        hash_bytes(std::as_bytes(std::span(block_))) != digests_[block])
        return refuse(fmt::format("bytes {} to {} are not what was written; {}", begin, end - 1, remedy));
    return verified_[block] = true;
}

bool VerifiedFile::read(std::uint64_t address, std::span<char> bytes) {
    const std::uint64_t inside = address < size_ ? std::min<std::uint64_t>(bytes.size(), size_ - address) : 0;
    for (std::uint64_t block = address / block_bytes; block * block_bytes < address + inside; ++block)
        if (!verify(block)) return false;
    if (read_at(file_.number, address, bytes.first(inside)) != inside)
        return refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
    std::ranges::fill(bytes.subspan(inside), '\0');
    return true;
}

void VerifiedFile::verify_all() {
    for (std::uint64_t block = 0; block < digests_.size(); ++block)
        if (!verify(block)) throw StorageError("{}: is damaged: {}", path_, fault_);
}

}  // namespace cachetally

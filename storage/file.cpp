// SPDX-License-Identifier: BSD-3-Clause
// Opening files, and writing them under a temporary name.
#include "storage/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "storage/columns.hpp"
#include "storage/consolidated.hpp"
#include "storage/driver.hpp"

namespace cachetally {
namespace {

std::string system_error() { return std::strerror(errno); }

Group open_root(const Handle& file, const std::string& path) {
    Handle root(H5Gopen2(file.get(), "/", H5P_DEFAULT), H5Gclose);
    if (!root) throw_storage_error("{}: cannot open the root group", path);
    return {std::move(root), path + ":/"};
}

/// Metadata lie side by side in blocks so large, so that readers of a large file find them in few places (the library's
/// own are of 2 KiB, a few in each of the blocks that are verified).
constexpr hsize_t metadata_block = 64 << 10;

/// The newest format that 1.10 knows: its metadata carry checksums, so that damage is noticed. Closing the file closes
/// everything in it.
Handle access_properties() {
    Handle list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    if (!list || H5Pset_libver_bounds(list.get(), H5F_LIBVER_V110, H5F_LIBVER_V110) < 0 ||
        H5Pset_fclose_degree(list.get(), H5F_CLOSE_STRONG) < 0 || H5Pset_cache(list.get(), 0, 521, 0, 0.75) < 0 ||
        H5Pset_meta_block_size(list.get(), metadata_block) < 0)
        throw_storage_error("cannot make a property list");
    return list;
}

constexpr std::string_view signature("\x89HDF\r\n\x1a\n", 8);

/// Whether a file begins as those do that were not written to their end: as HDF5, or not at all.
bool is_unfinished(int file) {
    constexpr std::string_view zeros("\0\0\0\0\0\0\0\0", 8);
    std::array<char, 8> bytes{};
    const ssize_t count = ::pread(file, bytes.data(), bytes.size(), 0);
    const std::string_view begin(bytes.data(), bytes.size());
    return count == 0 || (count == 8 && (begin == signature || begin == zeros));
}

/// Removes what a killed run left behind, unless its run is alive: the library locks files that it writes.
void remove_stale(const std::string& part) {
    const Descriptor file(::open(part.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number < 0) return;
    if (!is_unfinished(file.number))
        throw StorageError(
            "{}: is in the way and no unfinished result; results grow under this name: move it, or give another name",
            part);
    if (::flock(file.number, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw StorageError("{}: another run is writing this file", part);
    ::unlink(part.c_str());
}

}  // namespace

InputFile::InputFile(const std::string& path, Trust trust) : path_(path) {
    silence_library();
    source_ = std::make_unique<VerifiedFile>(path, trust);
    driver_ = register_driver();
    const Handle access = access_properties();
    set_driver(access, driver_, source_.get());
    file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
    if (!file_) throw_storage_error("{}: is damaged", path);
    root_ = open_root(file_, path);
}

InputFile::~InputFile() {
    root_.reset();
    file_.close();
}

void verify_file(const std::string& path) { VerifiedFile(path, Trust::digests).verify_all(); }

ResultFile::ResultFile(std::string path, Existing existing)
    : path_(std::move(path)),
      target_(behind_links(path_)),
      part_(temporary_name(path_)),
      existing_(existing),
      written_(std::make_unique<Written>()) {
    silence_library();
    check_target(path_, existing_, "results");
    remove_stale(part_);
    const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_obj_track_times(creation.get(), false);
    driver_ = register_driver();
    const Handle access = access_properties();
    set_driver(access, driver_, written_.get());
    file_ = Handle(H5Fcreate(part_.c_str(), H5F_ACC_EXCL, creation.get(), access.get()), H5Fclose);
    if (!file_) throw StorageError("{}: cannot create: {}", part_, system_error());
    root_ = open_root(file_, path_);
}

ResultFile::~ResultFile() { discard(); }

void ResultFile::discard() {
    root_.reset();
    file_.close();
    H5Eclear2(H5E_DEFAULT);
    if (!part_.empty()) ::unlink(part_.c_str());
}

void ResultFile::finish() {
    root_->set_attribute("complete", std::uint64_t{1});
    publish();
}

void ResultFile::keep_partial(const std::string& reason) {
    root_->set_attribute("complete", std::uint64_t{0});
    root_->set_attribute("incomplete", reason);
    publish();
}

void ResultFile::publish() {
    describe_columns(*root_);
    consolidate_metadata(*root_);
    root_.reset();
    if (!file_.close()) throw_storage_error("{}: cannot write", part_);
    check_written(written_->failure, path_);
    {
        const Descriptor file(::open(part_.c_str(), O_RDWR | O_CLOEXEC));
        if (file.number >= 0) append_digests(file.number, part_);
        if (file.number < 0 || ::fdatasync(file.number) != 0)
            throw StorageError("{}: cannot write: {}", part_, system_error());
    }
    give_name();
    part_.clear();
}

/// Without leave to overwrite, link() makes sure that a file which appeared meanwhile is not lost.
void ResultFile::give_name() {
    if (existing_ == Existing::refuse) {
        if (::link(part_.c_str(), target_.c_str()) == 0) {
            ::unlink(part_.c_str());
            return;
        }
        if (errno == EEXIST) throw StorageError("{}: exists by now; give another name, or --force", path_);
        // the file system has no hard links
    }
    if (std::rename(part_.c_str(), target_.c_str()) != 0)
        throw StorageError("{}: cannot rename to {}: {}", part_, target_, system_error());
}

}  // namespace cachetally

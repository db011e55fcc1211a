// Opening files, and writing them under a temporary name.
#include "storage/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "storage/driver.hpp"

namespace cachetally {
namespace {

/// A file descriptor that is closed at the end of its scope.
struct Descriptor {
    int number;
    explicit Descriptor(int descriptor) : number(descriptor) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
};

std::string system_error() { return std::strerror(errno); }

Group open_root(const Handle& file, const std::string& path) {
    Handle root(H5Gopen2(file.get(), "/", H5P_DEFAULT), H5Gclose);
    if (!root) throw_storage_error(fmt::format("{}: cannot open the root group", path));
    return {std::move(root), path + ":/"};
}

/// The newest format that 1.10 knows: its metadata carry checksums, so that damage is noticed. Closing the file closes
/// everything in it.
Handle access_properties() {
    Handle list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    if (!list || H5Pset_libver_bounds(list.get(), H5F_LIBVER_V110, H5F_LIBVER_V110) < 0 ||
        H5Pset_fclose_degree(list.get(), H5F_CLOSE_STRONG) < 0 || H5Pset_cache(list.get(), 0, 521, 0, 0.75) < 0)
        throw_storage_error("cannot make a property list");
    return list;
}

constexpr std::string_view signature("\x89HDF\r\n\x1a\n", 8);

/// What is wrong with a file, as its first bytes tell it; empty where they tell nothing. The library's own messages do
/// not help people.
std::string fault_of_head(int file, std::uint64_t size) {
    static constexpr const char* wanted = "cachetally reads HDF5 files that it wrote itself, with -o FILE.h5";
    if (size == 0) return fmt::format("is empty; {}", wanted);
    std::array<char, 64> head{};
    const ssize_t count = ::pread(file, head.data(), head.size(), 0);
    const std::string_view begin(head.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    if (!begin.starts_with(signature)) return "";
    const std::size_t place =
        begin.size() > 8 && begin[8] < 2 ? 40 : 28;  // of the size, in superblocks 0 and 1, and later
    std::uint64_t whole = 0;
    if (begin.size() < place + sizeof whole)
        return fmt::format("is cut off: it has {} bytes alone; copy it again, or make it anew", size);
    std::memcpy(&whole, begin.data() + place, sizeof whole);
    if (whole == ~std::uint64_t{0} || whole <= size) return "";
    return fmt::format(
        "is cut off: it should have {} bytes and has {}; copy it again, or wait for the run that is writing it, or "
        "make "
        "it anew",
        whole, size);
}

/// What a file is that is not HDF5.
std::string foreign(int file) {
    std::array<char, 64> head{};
    const ssize_t count = ::pread(file, head.data(), head.size(), 0);
    std::string_view text(head.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (text.starts_with("<!") || text.starts_with("<html"))
        return "is not an HDF5 file, but a page: open it in a browser";
    if (text.starts_with('{') || text.starts_with('['))
        return "is not an HDF5 file, but looks like JSON; run with -o FILE.h5 for a file that can be shown again";
    return "is not an HDF5 file; cachetally reads HDF5 files that it wrote itself, with -o FILE.h5";
}

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
        throw StorageError(fmt::format(
            "{}: is in the way and no unfinished result; results grow under this name: move it, or give another name",
            part));
    if (::flock(file.number, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw StorageError(fmt::format("{}: another run is writing this file", part));
    ::unlink(part.c_str());
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
    silence_library();
    const Descriptor probe(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (probe.number < 0) throw StorageError(fmt::format("{}: {}", path, system_error()));
    struct stat status {};
    const bool known = ::fstat(probe.number, &status) == 0;
    if (known && S_ISDIR(status.st_mode))
        throw StorageError(fmt::format("{}: is a directory; give a file that is in it", path));
    if (known && !S_ISREG(status.st_mode)) throw StorageError(fmt::format("{}: is not a file", path));
    const std::string fault = fault_of_head(probe.number, static_cast<std::uint64_t>(status.st_size));
    if (!fault.empty()) throw StorageError(fmt::format("{}: {}", path, fault));
    if (H5Fis_hdf5(path.c_str()) <= 0) throw StorageError(fmt::format("{}: {}", path, foreign(probe.number)));
    const Handle access = access_properties();
    file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
    if (!file_) throw_storage_error(fmt::format("{}: is damaged", path));
    check_heaps(file_, path, probe.number);
    root_ = open_root(file_, path);
}

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
    driver_ = register_result_driver();
    const Handle access = access_properties();
    set_result_driver(access, driver_, written_.get());
    file_ = Handle(H5Fcreate(part_.c_str(), H5F_ACC_EXCL, creation.get(), access.get()), H5Fclose);
    if (!file_) throw StorageError(fmt::format("{}: cannot create: {}", part_, system_error()));
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
    root_.reset();
    {
        const Descriptor file(::open(part_.c_str(), O_RDONLY | O_CLOEXEC));
        keep_heap_checksums(file_, part_, file.number, written_->heaps);
    }
    if (!file_.close()) throw_storage_error(fmt::format("{}: cannot write", part_));
    check_written(written_->failure, path_);
    {
        const Descriptor file(::open(part_.c_str(), O_RDWR | O_CLOEXEC));
        if (file.number < 0 || ::fdatasync(file.number) != 0)
            throw StorageError(fmt::format("{}: cannot write: {}", part_, system_error()));
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
        if (errno == EEXIST) throw StorageError(fmt::format("{}: exists by now; give another name, or --force", path_));
        // the file system has no hard links
    }
    if (std::rename(part_.c_str(), target_.c_str()) != 0)
        throw StorageError(fmt::format("{}: cannot rename to {}: {}", part_, target_, system_error()));
}

}  // namespace cachetally

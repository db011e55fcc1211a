// SPDX-License-Identifier: BSD-3-Clause
// For the sources of this room only: the driver under the HDF5 library, which never lets it see a write fail, nor a
// byte that is not what was written, since it crashes or hangs on these; digests of a file's blocks, in a trailer
// behind HDF5's end of file; and types of numbers and texts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/group.hpp"
#include "storage/handle.hpp"
#include "storage/target.hpp"

namespace cachetally {

hid_t memory_type(Element element);  ///< as this machine holds it
hid_t file_type(Element element);    ///< little-endian, whatever the machine

/// A UTF-8 text of so many bytes, padded with zeros.
Handle fixed_text_type(std::size_t bytes);
/// A UTF-8 text of any length.
Handle variable_text_type();

/// Of datasets that are kept within the header of their object, which has a checksum: at most 64 KiB.
Handle small_properties();
/// A property list that leaves times out and creates no surprises. Chunks that are deflated have a checksum.
Handle dataset_properties(const std::vector<hsize_t>& chunk, std::size_t element_bytes, Compression compression);

/// A file descriptor that is closed at the end of its scope.
struct Descriptor {
    int number;
    explicit Descriptor(int descriptor) : number(descriptor) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();
};

/// Appends the trailer to a file that is whole otherwise (docs/format.md, "The trailer"). `descriptor` reads and
/// writes. Throws StorageError, which names `path`, where that fails.
void append_digests(int descriptor, const std::string& path);

/// A file that is read, block by block as it is asked for; each block is verified before its bytes are given out.
class VerifiedFile {
public:
    /// Throws StorageError where the file is absent, cut off, or has no digests (unless trusted), or where its trailer
    /// or any byte of a small file is damaged.
    VerifiedFile(const std::string& path, Trust trust);

    /// Bytes of the HDF5 part.
    std::uint64_t size() const { return size_; }
    int descriptor() const { return file_.number; }

    /// Zeros beyond the end. Returns false where that cannot be read or is not what was written; fault() says why.
    bool read(std::uint64_t address, std::span<char> bytes);
    const std::string& fault() const { return fault_; }

    /// Throws StorageError where any byte is not what was written.
    void verify_all();

private:
    void read_trailer(std::uint64_t file_bytes);
    bool verify(std::uint64_t block);
    bool refuse(std::string fault);

    std::string path_, fault_;
    Descriptor file_;
    std::uint64_t size_ = 0;
    std::vector<std::uint64_t> digests_;  ///< none of files that are trusted
    std::vector<bool> verified_;
    std::vector<char> block_;
};

/// What the driver keeps of what was written.
struct Written {
    int failure = 0;  ///< errno of the first write that failed
};

/// Registers the driver. The library corrupts its memory where a write fails while it closes a file or dataset, and
/// crashes when the program ends. This driver reports success always, remembers the first failure, and drops all that
/// comes after it; whoever writes asks with check_written(). Reading, it fails where bytes are not what was written,
/// and says so on the library's stack of errors.
Handle register_driver();

/// Makes the driver that of an access property list, for a file that is created. `written` must outlive the file.
void set_driver(const Handle& access, const Handle& driver, Written* written);
/// The same for a file that is read; it must outlive what the library opens.
void set_driver(const Handle& access, const Handle& driver, VerifiedFile* source);

/// Throws StorageError, naming `where`, if something could not be written.
void check_written(int failure, const std::string& where);

/// The same for the file that holds `object`, which must be one that was created with the driver.
void check_object_written(hid_t object, const std::string& where);

/// Throws StorageError, naming `where`, if bytes of the file that holds `object` were found damaged: the library
/// answers "not there" to some questions when it could not read.
void check_object_read(hid_t object, const std::string& where);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Digests of a file's blocks, in a trailer behind HDF5's end of file, and reading that checks them: for the sources of
// this room only. The HDF5 library crashes or hangs on damaged bytes; so it is given none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/trust.hpp"

namespace cachetally {

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

}  // namespace cachetally

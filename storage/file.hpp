// SPDX-License-Identifier: BSD-3-Clause
// Files: InputFile to read, ResultFile to write so that a file appears under its name only when it is whole, or marked.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "storage/group.hpp"
#include "storage/target.hpp"

namespace cachetally {

struct Written;
class VerifiedFile;

/// An HDF5 file opened for reading.
class InputFile {
public:
    /// Throws StorageError where the file is absent, not HDF5, truncated or damaged, or without digests and not
    /// trusted. Of large files, damage is reported when it is read.
    explicit InputFile(const std::string& path, Trust trust = Trust::digests);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    const Group& root() const { return *root_; }
    const std::string& path() const { return path_; }

private:
    std::string path_;
    std::unique_ptr<VerifiedFile> source_;  ///< outlives the file
    Handle driver_;
    Handle file_;
    std::optional<Group> root_;
};

/// Throws StorageError where any byte of a file is not what was written, or it has no digests.
void verify_file(const std::string& path);

/// An HDF5 file being written. It grows as NAME.part in the same directory and gets its name by finish(); where the
/// name is a symbolic link, all that happens to the file that it leads to. Equal contents give equal bytes. Destroyed
/// before finish() or keep_partial(), it leaves nothing behind.
class ResultFile {
public:
    using Existing = cachetally::Existing;

    /// Throws StorageError where the file exists (and is not to be overwritten, or is no regular file), where another
    /// process is writing it, where NAME.part is a file of somebody else, or where it cannot be created.
    explicit ResultFile(std::string path, Existing existing = Existing::refuse);
    ~ResultFile();
    ResultFile(const ResultFile&) = delete;
    ResultFile& operator=(const ResultFile&) = delete;

    /// The root group. Groups and datasets taken from it must be gone before finish().
    Group& root() { return *root_; }
    const std::string& path() const { return path_; }

    /// Marks the file complete (root attribute complete = 1), writes it out and gives it its name. Throws StorageError,
    /// e.g. where the disk is full; then a file that existed under the name is as it was.
    void finish();

    /// The same for a run that was interrupted or failed: complete = 0, and the attribute `incomplete` says why.
    void keep_partial(const std::string& reason);

private:
    void publish();
    void give_name();
    void discard();

    std::string path_;    ///< as given, for messages
    std::string target_;  ///< without symbolic links at its end
    std::string part_;
    Existing existing_;
    std::unique_ptr<Written> written_;  ///< outlives the file
    Handle driver_;
    Handle file_;
    std::optional<Group> root_;
};

}  // namespace cachetally

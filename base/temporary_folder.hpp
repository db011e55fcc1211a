// SPDX-License-Identifier: BSD-3-Clause
// Folders that are gone at the end.
#pragma once

#include <string>

namespace cachetally {

/// A new folder in $TMPDIR, or in /tmp; removed with all that is in it.
class TemporaryFolder {
public:
    /// `what`: what will be in it, for the message of the std::runtime_error if none can be made.
    explicit TemporaryFolder(const std::string& what);
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "base/temporary_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace cachetally {

TemporaryFolder::TemporaryFolder(const std::string& what) {
    const char* const given = std::getenv("TMPDIR");
    path_ = std::string(given != nullptr && *given != '\0' ? given : "/tmp") + "/cachetally-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr)
        throw std::runtime_error(fmt::format("{}: no folder for {} can be made: {}; TMPDIR may name another place",
                                             path_, what, std::strerror(errno)));
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
}

}  // namespace cachetally

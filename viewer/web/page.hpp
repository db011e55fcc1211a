// SPDX-License-Identifier: BSD-3-Clause
// The page: made, written, and opened in the browser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/target.hpp"

namespace cachetally {

/// The page without a result: people drop files on it. HTML.
std::string_view viewer_page();

/// A result file in a page; `name` is what that shows as the file's name.
struct PageFile {
    std::string name, bytes;
};

/// The page with result files inside it. It verifies them again as it reads them, unless they are trusted.
std::string page_with_results(const std::vector<PageFile>& files, Trust trust = Trust::digests);

/// The page with the result files `paths` inside it; a file of more than `limit` bytes is reduced first (see
/// reduce_result). Throws StorageError where a file is no result, or damaged.
struct ResultPage {
    std::string html;
    bool reduced = false;
};
ResultPage page_of(const std::vector<std::string>& paths, std::uintmax_t limit, Trust trust = Trust::digests);

/// Writes a text to a file under a temporary name and gives it its name when it is whole. Throws StorageError: the file
/// exists (unless `overwrite`), or cannot be written.
void write_page(const std::string& path, std::string_view text, bool overwrite);

/// Where pages for looking at `results` are put: a file in a directory of the user's alone, below the directory for
/// temporary files; the same one each time. Throws StorageError where that directory belongs to somebody else.
std::string temporary_page(const std::vector<std::string>& results);

/// Hands a page to $BROWSER, else to xdg-open. False where neither is there, or there is no screen.
bool open_in_browser(const std::string& page);

}  // namespace cachetally

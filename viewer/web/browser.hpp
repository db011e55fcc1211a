// SPDX-License-Identifier: BSD-3-Clause
// Opening pages in the user's browser.
#pragma once

#include <string>

namespace cachetally {

/// Where pages for looking at `result` are put: a file in a directory of the user's alone, below the directory for
/// temporary files; the same one each time. Throws StorageError where that directory belongs to somebody else.
std::string temporary_page(const std::string& result);

/// Hands a page to $BROWSER, else to xdg-open. False where neither is there, or there is no screen.
bool open_in_browser(const std::string& page);

}  // namespace cachetally

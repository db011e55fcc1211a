// SPDX-License-Identifier: BSD-3-Clause
// The script that draws figures, and the Python that runs it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cachetally {

/// The script, of which main() is the last line.
std::string_view figure_script();

struct ScriptEnd {
    int status = 0;        ///< of exit
    std::string messages;  ///< what was written to standard error
};

/// Runs it to its end with the first Python that has what it needs, and answers what it asks of the drawing core.
/// Throws StorageError if no Python has.
ScriptEnd run_figure_script(const std::string& script, const std::vector<std::string>& arguments);

/// The last line of messages, without the program's name, which the caller adds.
std::string reason_of(std::string messages);

}  // namespace cachetally

// What standard output is: how wide, and whether it can draw; and messages beside it.
#pragma once

#include <string_view>

namespace cachetally::app {

/// Columns of the terminal; what COLUMNS says, or 100, where standard output is none.
unsigned terminal_width();

/// Whether standard output is a terminal that takes UTF-8.
bool draws_unicode();

/// Writes to standard error, at once. Where nobody can read it, what was asked for goes on all the same.
void to_stderr(std::string_view text);

}  // namespace cachetally::app

// What standard output is: how wide, and whether it can draw.
#pragma once

namespace cachetally::app {

/// Columns of the terminal; what COLUMNS says, or 100, where standard output is none.
unsigned terminal_width();

/// Whether standard output is a terminal that takes UTF-8.
bool draws_unicode();

}  // namespace cachetally::app

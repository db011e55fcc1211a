// SPDX-License-Identifier: BSD-3-Clause
// Outputs of all commands: what may become one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "storage/file.hpp"

namespace cachetally::app {

/// Where the result goes besides standard output.
struct OutputOptions {
    std::string file;    ///< HDF5; empty = none
    bool force = false;  ///< an existing file is replaced
};

/// --output and --force; `what` is in the file.
void add_output_options(CLI::App& command, OutputOptions& options, const std::string& what);

/// What a command reads, as the user names it: files, "-" for standard input, machines. Names that are no files are
/// passed over.
using InputNames = std::vector<std::string>;

/// Throws UsageError where an output would be written over a file that the command reads, by this or another name
/// (links included), or has the ending of another format than `format` ("HDF5", "HTML"; empty: the caller looks at it).
void check_output(const std::string& output, const InputNames& inputs, const std::string& format);

/// Throws where a text cannot be written under this name: as check_output(), and StorageError where it exists and is
/// not to be overwritten. `what` is to be written, e.g. "a machine".
void check_text_output(const OutputOptions& output, const InputNames& inputs, const std::string& what);

/// Whole, or not at all. Throws StorageError.
void write_text_output(const OutputOptions& output, const std::string& text);

/// The output file, which must not exist (unless --force); null where none is wanted. Throws UsageError, StorageError.
std::unique_ptr<ResultFile> open_output(const OutputOptions& output, const InputNames& inputs);

}  // namespace cachetally::app

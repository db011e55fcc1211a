// SPDX-License-Identifier: BSD-3-Clause
// ByteStream: the bytes of a file, a pipe or standard input, decompressed where they are compressed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "cachetally/error.hpp"

namespace cachetally {

/// Something is wrong with a trace; what() says where, what, and what would be right.
class TraceError : public Formatted<std::runtime_error> {
public:
    using Formatted::Formatted;
};

/// Bytes in order. Errors are TraceErrors that name the file.
class ByteStream {
public:
    virtual ~ByteStream() = default;

    /// Reads at least one byte; 0 = the end. Waits where a pipe has nothing yet, until cancel().
    virtual std::size_t read(std::span<char> target) = 0;

    /// Makes a read() that waits, and all later ones, throw. May be called by another thread.
    virtual void cancel() = 0;

    /// Fraction of the file that was read, 0..1; negative for pipes. By any thread.
    virtual double progress() const = 0;
};

/// A stream of which the beginning was read to see what it is.
struct OpenedStream {
    std::string name;       ///< for messages: the path, or "standard input"
    std::string start;      ///< the first bytes, decompressed; `stream` goes on behind them
    std::string packing;    ///< "gzip" and the like, where the file is compressed
    bool seekable = false;  ///< an uncompressed file that can be opened by its name
    bool is_file = false;   ///< can be opened again by its name
    std::unique_ptr<ByteStream> stream;

    /// Reads some more bytes into `start`; false at the end.
    bool read_more();
};

/// Opens a file or, for "-", standard input. gzip, xz, zstd, bzip2, lz4 and zip are recognised by their first bytes
/// and decompressed (libarchive); the members of a zip archive follow one another. Throws TraceError where it cannot be
/// opened or is a directory. `stop` is asked some times a second while a pipe has nothing to read; true has the effect
/// of cancel().
OpenedStream open_stream(const std::string& path_or_dash, std::function<bool()> stop = {});

/// A stream of bytes in memory, for tests.
OpenedStream memory_stream(std::string name, std::string bytes);

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Traces as sources of references: opening, recognising, counting them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "storage/target.hpp"
#include "workloads/traces/byte_stream.hpp"

namespace cachetally {

// The text formats: a row here and a source that defines NAME_format() are all that a format needs (CONTRIBUTING.md).
#define CACHETALLY_TEXT_FORMATS(ROW) ROW(lackey) ROW(din)

// The binary formats of other tools, likewise (docs/formats-of-others.md).
#define CACHETALLY_BINARY_FORMATS(ROW) ROW(champsim) ROW(cloudsuite) ROW(drmemtrace) ROW(gem5) ROW(cvp)

#define CACHETALLY_ENUMERATOR(name) name,
enum class TraceFormat : std::uint8_t {
    automatic,                                        ///< recognised by its first bytes
    packed,                                           ///< our own, in HDF5
    CACHETALLY_BINARY_FORMATS(CACHETALLY_ENUMERATOR)  // records
    CACHETALLY_TEXT_FORMATS(CACHETALLY_ENUMERATOR)    // text
};
#undef CACHETALLY_ENUMERATOR

/// "lackey", "din", "packed"; "auto" for automatic.
std::string_view name_of(TraceFormat format);

/// Whether it is one of CACHETALLY_BINARY_FORMATS.
bool is_binary(TraceFormat format);

/// The names of all formats, from "auto" to "packed".
std::vector<std::string> trace_format_names();

/// "lackey (valgrind), din (Dinero) or packed (our own)"; without what is in parentheses if `plain`.
std::string trace_formats_in_words(bool plain);

/// The format of a name; nothing where there is no such format.
std::optional<TraceFormat> parse_trace_format(std::string_view name);

/// What a text or binary trace held besides references; counts grow while it is read, and may be read by any thread.
struct TextNotes {
    std::atomic<std::uint64_t> lines = 0;    ///< or records
    std::atomic<std::uint64_t> skipped = 0;  ///< of these, without references
};

struct TraceOptions {
    TraceFormat format = TraceFormat::automatic;
    bool data_only = false;                           ///< leave out instruction fetches
    bool ahead = true;                                ///< read and decode in a background thread
    std::uint16_t din_reference_bytes = 4;            ///< size of din references that state none
    std::size_t buffer_bytes = std::size_t{1} << 20;  ///< text is read in pieces of so many bytes, at least 16 KiB
    std::shared_ptr<TextNotes> notes;                 ///< filled where it is given and the trace is not packed
    Trust trust = Trust::digests;                     ///< of packed traces
    std::function<bool()> stop;  ///< asked while a pipe has nothing to read, by any thread; true makes next() throw
};

/// A trace, and what is known of it.
struct OpenedTrace {
    TraceFormat format = TraceFormat::automatic;
    std::unique_ptr<ReferenceSource> source;
    std::string incomplete;  ///< why a packed trace was marked partial when it was written; empty where it was not
};

/// Opens a trace; "-" is standard input. All but packed traces may be compressed (open_stream()) and come from a
/// pipe; a packed trace must be a file. Throws TraceError (or StorageError, for packed traces) where it cannot be
/// opened or is of no known format. next() throws them at the point of damage, after everything before it.
OpenedTrace open_trace_as(const std::string& path_or_dash, const TraceOptions& options = {});

/// The format of the trace that begins like this; nothing where it is not recognised (yet: more bytes may decide).
std::optional<TraceFormat> detect_format(std::string_view start);

/// A text trace from an open stream. `format` is one of text.
std::unique_ptr<ReferenceSource> open_text_trace(OpenedStream stream, TraceFormat format, const TraceOptions& options);

/// The format of a whole or long beginning of a trace, one of the binary; nothing where none fits. Where several fit,
/// the name of the file decides, or else TraceError says which they are.
std::optional<TraceFormat> detect_binary_format(const std::string& name, std::string_view start, bool whole);

/// A binary trace: a stream per thread where its format has threads, and it can be opened again by its name.
std::unique_ptr<ReferenceSource> open_binary_trace(OpenedStream stream, TraceFormat format,
                                                   const TraceOptions& options);

/// A packed trace.
OpenedTrace open_packed_trace(const std::string& path, const TraceOptions& options);

/// What is in a trace.
struct TraceInfo {
    TraceFormat format = TraceFormat::automatic;
    bool complete = true;          ///< false for a packed trace that is marked partial
    std::string incomplete;        ///< why it is
    std::uint64_t file_bytes = 0;  ///< 0 for pipes
    unsigned cores = 0;
    std::uint64_t loads = 0, stores = 0, fetches = 0;
    std::uint64_t phases = 0;              ///< barriers of the first stream, and one
    std::vector<std::string> phase_names;  ///< of each; empty: no name
    std::uint64_t controls = 0;            ///< of all streams, barriers included
    std::uint64_t lines = 0;               ///< distinct 64-byte lines touched
    std::uint64_t pages = 0;               ///< distinct 4 KiB pages touched
    Address lowest = 0, highest = 0;       ///< first and last byte touched; 0 where there are no references
    std::uint64_t text_lines = 0, skipped_lines = 0;
    std::vector<Region> regions;
    std::vector<std::string> functions;
    std::string failure;  ///< why the trace could not be read to its end; all else covers what is before that

    std::uint64_t references() const { return loads + stores + fetches; }
    double bytes_per_reference() const {
        return references() == 0 ? 0.0 : static_cast<double>(file_bytes) / static_cast<double>(references());
    }
};

/// Called now and then with the references so far; false stops the reading.
using TraceProgress = std::function<bool(std::uint64_t references)>;

/// Reads a whole trace and says what is in it. Memory grows with the pages that it touches, not with its length. Throws
/// where the trace cannot be opened; damage further on is reported in `failure`. `progress_of` makes the callback for
/// the source that is read.
TraceInfo trace_info(const std::string& path_or_dash, const TraceOptions& options = {},
                     const std::function<TraceProgress(const ReferenceSource&)>& progress_of = {});

}  // namespace cachetally

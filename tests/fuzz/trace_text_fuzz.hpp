// SPDX-License-Identifier: BSD-3-Clause
// What the fuzzers of text and binary traces share: any bytes give references, then the end or a TraceError that names
// a place.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "workloads/traces/trace.hpp"

namespace cachetally::fuzz {

/// Reads a trace to its end; returns the number of references. Aborts where a reference is one that cannot be.
inline std::size_t read_all(TraceFormat format, std::string_view bytes, bool data_only) {
    TraceOptions options;
    options.ahead = false;
    options.data_only = data_only;
    options.buffer_bytes = 0;
    options.notes = std::make_shared<TextNotes>();
    std::size_t count = 0;
    try {
        // Not recognised as compressed: libarchive has fuzzers of its own.
        OpenedStream stream = memory_stream("input", "");
        stream.start = bytes;
        const auto source = is_binary(format) ? open_binary_trace(std::move(stream), format, options)
                                              : open_text_trace(std::move(stream), format, options);
        for (Control control; control.kind != Control::Kind::end;) {
            const Batch batch = source->next(0);
            control = batch.control;
            count += batch.references.size();
            for (const Reference& reference : batch.references) {
                if (reference.size == 0 || reference.address + (reference.size - 1U) < reference.address) std::abort();
                if (data_only && reference.kind == ReferenceKind::fetch) std::abort();
            }
        }
    } catch (const TraceError&) {
    }
    if (options.notes->skipped > options.notes->lines) std::abort();
    return count;
}

inline void check_text(TraceFormat format, std::string_view bytes) {
    if (read_all(format, bytes, true) > read_all(format, bytes, false)) std::abort();
    (void)detect_format(bytes);
}

}  // namespace cachetally::fuzz

// SPDX-License-Identifier: BSD-3-Clause
// NamedSource: traces of other tools, whose addresses and program counters get names from files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "workloads/capture/captured_events.hpp"

namespace cachetally {

/// Named address ranges, a line each: ADDRESS BYTES ELEMENT NAME, numbers decimal or 0x...; # begins a comment. Throws
/// TraceError with FILE:LINE:COLUMN.
std::vector<Region> read_structures(const std::string& path);

/// A program or library with its symbols, "FILE" or "FILE@ADDRESS" of its first byte in the traced program. Throws
/// TraceError where it is no ELF file, or may lie anywhere and no address is stated.
MappedFile symbol_file(const std::string& text);

class NamedSource : public ReferenceSource {
public:
    /// Of a site that next() gave.
    virtual std::string function_of(std::uint32_t site) const = 0;
};

/// The source with sites: their objects are the structures, and variables of the files; their code is the instruction
/// that was fetched last in the stream. The first file is the program. Throws TraceError where the source has sites.
std::unique_ptr<NamedSource> named_source(std::unique_ptr<ReferenceSource> source, std::vector<Region> structures,
                                          std::vector<MappedFile> files);

}  // namespace cachetally

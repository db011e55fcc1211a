// SPDX-License-Identifier: BSD-3-Clause
// TraceSink: what references are copied into.
#pragma once

#include <functional>
#include <span>

#include "cachetally/reference_source.hpp"

namespace cachetally {

/// Takes the streams of a source, a piece at a time. What a sink has no place for is dropped.
class TraceSink {
public:
    virtual ~TraceSink() = default;

    /// Adds references to the end of a core's stream.
    virtual void append(unsigned core, std::span<const Reference> references) = 0;
    virtual void append(unsigned /*core*/, Control /*control*/) {}

    virtual void set_regions(const std::vector<Region>& /*regions*/) {}
    virtual void set_functions(const std::vector<std::string>& /*functions*/) {}
    virtual void set_sites(const SiteTable& /*sites*/, const SiteNames& /*names*/) {}
};

struct ConvertOptions {
    bool data_only = false;            ///< leave out instruction fetches
    std::uint64_t max_references = 0;  ///< stop after so many; 0 = all
    /// Called now and then with the references written so far; returning false stops the conversion.
    std::function<bool(std::uint64_t references)> progress;
};

struct ConvertResult {
    std::uint64_t references = 0;
    bool interrupted = false;  ///< progress() said so
};

/// Copies all streams of a source, with its regions and functions. What next() of the source throws passes through:
/// what came before is in the sink.
ConvertResult convert(ReferenceSource& source, TraceSink& sink, const ConvertOptions& options = {});

}  // namespace cachetally

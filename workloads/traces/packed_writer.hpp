// SPDX-License-Identifier: BSD-3-Clause
// TraceSink: what references are copied into.
// PackedTraceWriter: writes packed traces.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "storage/file.hpp"
#include "workloads/traces/block.hpp"

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
    virtual void set_phase_names(const std::vector<std::string>& /*names*/) {}
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

struct PackedOptions {
    ResultFile::Existing existing = ResultFile::Existing::refuse;
    std::uint32_t block_references = 65536;  ///< 1 to 65536
    int level = default_packing_level;       ///< effort of LZ4 HC, 1 to 12 (smallest); 0: LZ4, fastest to write
};

/// Writes a packed trace under a temporary name; finish() or keep_partial() gives it its own, and without either
/// nothing is left behind. Memory: one block per stream. Throws StorageError where the file cannot be written (or
/// exists), and std::invalid_argument for references that no machine could make (size 0, beyond the end of the address
/// space).
class PackedTraceWriter : public TraceSink {
public:
    PackedTraceWriter(const std::string& path, unsigned cores, const PackedOptions& options = {});
    ~PackedTraceWriter() override;
    PackedTraceWriter(const PackedTraceWriter&) = delete;
    PackedTraceWriter& operator=(const PackedTraceWriter&) = delete;

    /// Adds references to the end of a core's stream.
    void append(unsigned core, std::span<const Reference> references) override;

    /// Adds a control; `none` and `end` say nothing and are left out.
    void append(unsigned core, Control control) override;

    void set_regions(const std::vector<Region>& regions) override;
    void set_functions(const std::vector<std::string>& functions) override;
    void set_phase_names(const std::vector<std::string>& names) override;
    void set_sites(const SiteTable& sites, const SiteNames& names) override;

    /// The file that is written, e.g. to add provenance to its root.
    Group& root();

    /// References of all streams so far.
    std::uint64_t references() const;

    void finish();
    void keep_partial(const std::string& reason);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace cachetally

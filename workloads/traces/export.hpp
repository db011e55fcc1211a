// SPDX-License-Identifier: BSD-3-Clause
// Traces in the formats of other tools, and the requests on a link for simulators of memory.
#pragma once

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cachetally/listener.hpp"
#include "storage/target.hpp"
#include "workloads/traces/packed_writer.hpp"

namespace cachetally {

/// A file that grows under a temporary name and gets its own by finish(); without, nothing is left. "-" is standard
/// output. Throws StorageError where it cannot be written.
class ExportFile {
public:
    ExportFile(const std::string& path_or_dash, Existing existing);
    ~ExportFile();
    ExportFile(const ExportFile&) = delete;
    ExportFile& operator=(const ExportFile&) = delete;

    void write(std::string_view bytes);
    void finish();

private:
    [[noreturn]] void fail() const;

    std::string path_, part_;
    std::FILE* file_ = nullptr;
};

/// Adds references to a file; finish() adds what comes behind all of them.
class Exporter : public TraceSink {
public:
    virtual void finish() {}
};

/// A format of traces that is written.
struct ExportFormat {
    std::string_view name;  ///< for --to
    std::string_view of;    ///< who reads it, for help
    bool has_threads;       ///< else one stream alone can be written
    std::unique_ptr<Exporter> (*make)(ExportFile& file);
};

std::span<const ExportFormat> export_formats();

/// A format of requests to memory: one line each.
struct RequestFormat {
    std::string_view name, of;
    std::string (*line)(Address address, bool is_write, std::uint64_t cycle);
};

std::span<const RequestFormat> request_formats();

/// Writes the requests of a link: loads, fetches, page walks and prefetches are reads; stores, records of monitors and
/// victims are writes. One for all copies of the link.
class RequestExporter final : public LinkListener {
public:
    /// Cycles have so many picoseconds.
    RequestExporter(ExportFile& file, const RequestFormat& format, Tick period)
        : file_(file), format_(format), period_(period) {}

    std::uint32_t kinds() const override;
    void on_event(const LinkEvent& event, Injector& injector) override;
    void on_control(const Control& control, Tick time, Injector&) override {
        counting_.follow(control);
        if (control.kind == Control::Kind::count_on) begin_ = time;
    }

    std::uint64_t reads() const { return reads_; }
    std::uint64_t writes() const { return writes_; }

private:
    ExportFile& file_;
    const RequestFormat& format_;
    Counting counting_;
    Tick period_, begin_ = 0;
    std::uint64_t reads_ = 0, writes_ = 0, cycle_ = 0;
};

}  // namespace cachetally

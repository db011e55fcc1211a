// SPDX-License-Identifier: BSD-3-Clause
// Writing the formats of docs/formats-of-others.md.
#include "workloads/traces/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "storage/handle.hpp"
#include "workloads/traces/byte_stream.hpp"

namespace cachetally {
namespace {

/// Appends a number of so many bytes, the lowest first.
void put_number(std::string& bytes, std::uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
}

class DinExporter final : public Exporter {
public:
    explicit DinExporter(ExportFile& file) : file_(file) {}
    using TraceSink::append;
    void append(unsigned, std::span<const Reference> references) override {
        fmt::memory_buffer text;
        for (const Reference& reference : references)
            fmt::format_to(std::back_inserter(text), "{} {:x} {}\n", static_cast<int>(reference.kind),
                           reference.address, reference.size);
        file_.write({text.data(), text.size()});
    }

private:
    ExportFile& file_;
};

/// A fetch begins an instruction; loads, and then stores, go into it as long as it has places for them.
class ChampsimExporter final : public Exporter {
public:
    explicit ChampsimExporter(ExportFile& file) : file_(file) {}

    using TraceSink::append;
    void append(unsigned, std::span<const Reference> references) override {
        for (const Reference& reference : references) {
            if (reference.kind == ReferenceKind::fetch) {
                begin(reference.address);
                continue;
            }
            // without sizes, further lines need addresses of their own
            add(reference.kind, reference.address);
            for (Address line = (reference.address >> 6) + 1; line <= last_byte(reference) >> 6; ++line)
                add(reference.kind, line << 6);
        }
        file_.write(records_);
        records_.clear();
    }

    void finish() override {
        begin(pc_);
        file_.write(records_);
    }

private:
    void begin(Address pc) {
        if (open_) {
            put_number(records_, pc_, 8);
            put_number(records_, 0, 8);
            for (const auto& addresses : {std::span<Address>(stores_), std::span<Address>(loads_)})
                for (Address& address : addresses) put_number(records_, address, 8), address = 0;
        }
        load_count_ = store_count_ = 0;
        pc_ = pc;
        open_ = true;
    }

    void add(ReferenceKind kind, Address address) {
        if (address == 0)
            throw TraceError("the trace refers to address 0, which means no address in ChampSim's format");
        const bool load = kind == ReferenceKind::load;
        const bool full = load ? load_count_ == loads_.size() || store_count_ > 0 : store_count_ == stores_.size();
        if (!open_ || full) begin(pc_);
        (load ? loads_[load_count_++] : stores_[store_count_++]) = address;
    }

    ExportFile& file_;
    std::string records_;
    bool open_ = false;
    Address pc_ = 1;  ///< not known: readers of ours take no fetch from the first page
    std::array<Address, 4> loads_{};
    std::array<Address, 2> stores_{};
    std::size_t load_count_ = 0, store_count_ = 0;
};

class DrmemtraceExporter final : public Exporter {
public:
    explicit DrmemtraceExporter(ExportFile& file) : file_(file) {
        put(type_header, 0, trace_version);
        put(type_marker, marker_version, trace_version);
        put(type_marker, marker_file_type, 0);
    }

    using TraceSink::append;
    void append(unsigned core, std::span<const Reference> references) override {
        if (!references.empty()) enter(core);
        for (const Reference& reference : references)
            put(reference.kind == ReferenceKind::fetch ? type_instruction : static_cast<unsigned>(reference.kind),
                reference.size, reference.address);
        file_.write(records_);
        records_.clear();
    }

    void finish() override {
        for (const unsigned core : cores_) {
            enter(core);
            put(type_thread_exit, 4, core + 1);
        }
        put(type_footer, 0, 0);
        file_.write(records_);
    }

private:
    static constexpr unsigned type_instruction = 10, type_thread = 22, type_thread_exit = 23, type_process = 24,
                              type_header = 25, type_footer = 26, type_marker = 28;
    static constexpr unsigned marker_file_type = 9, marker_version = 12, trace_version = 3;

    void put(unsigned type, unsigned size, std::uint64_t value) {
        put_number(records_, type, 2);
        put_number(records_, size, 2);
        put_number(records_, value, 8);
    }

    void enter(unsigned core) {
        if (core == core_) return;
        core_ = core;
        put(type_thread, 4, core + 1);
        put(type_process, 4, 1);
        if (std::ranges::find(cores_, core) == cores_.end()) cores_.push_back(core);
    }

    ExportFile& file_;
    std::string records_;
    std::optional<unsigned> core_;
    std::vector<unsigned> cores_;
};

template <class Made>
std::unique_ptr<Exporter> make_exporter(ExportFile& file) {
    return std::make_unique<Made>(file);
}

constexpr std::uint32_t request_reads =
    bit(EventKind::load) | bit(EventKind::fetch) | bit(EventKind::page_walk) | bit(EventKind::prefetch);
constexpr std::uint32_t request_writes =
    bit(EventKind::store) | bit(EventKind::ring_write) | bit(EventKind::write_back) | bit(EventKind::clean_victim);

}  // namespace

std::span<const ExportFormat> export_formats() {
    static constexpr ExportFormat formats[] = {
        {"din", "Dinero", false, make_exporter<DinExporter>},
        {"champsim", "ChampSim", false, make_exporter<ChampsimExporter>},
        {"drmemtrace", "DynamoRIO", true, make_exporter<DrmemtraceExporter>},
    };
    return formats;
}

std::span<const RequestFormat> request_formats() {
    static constexpr RequestFormat formats[] = {
        {"ramulator2", "Ramulator 2",
         [](Address address, bool is_write, std::uint64_t) {
             return fmt::format("{} {:#x}\n", is_write ? "ST" : "LD", address);
         }},
        {"dramsim3", "DRAMSim3",
         [](Address address, bool is_write, std::uint64_t cycle) {
             return fmt::format("{:#x} {} {}\n", address, is_write ? "WRITE" : "READ", cycle);
         }},
    };
    return formats;
}

std::uint32_t RequestExporter::kinds() const { return request_reads | request_writes; }

/// Cycles never go back: readers take requests in the order of the file.
void RequestExporter::on_event(const LinkEvent& event, Injector&) {
    if (!counting_.is_on()) return;
    const bool is_write = (bit(event.kind) & request_writes) != 0;
    cycle_ = std::max<std::uint64_t>(cycle_, (event.time - std::min(event.time, begin_)) / period_);
    (is_write ? writes_ : reads_) += event.count;
    const std::string line = format_.line(event.address, is_write, cycle_);
    for (std::uint32_t i = 0; i < event.count; ++i) file_.write(line);
}

ExportFile::ExportFile(const std::string& path_or_dash, Existing existing) : path_(path_or_dash) {
    if (path_ == "-") {
        file_ = stdout;
        return;
    }
    check_target(path_, existing, "traces");
    part_ = temporary_name(path_);
    file_ = std::fopen(part_.c_str(), "wb");
    if (file_ == nullptr) fail();
}

ExportFile::~ExportFile() {
    if (part_.empty()) return;
    if (file_ != nullptr) std::fclose(file_);
    std::remove(part_.c_str());
}

void ExportFile::write(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
}

void ExportFile::finish() {
    if (part_.empty()) {
        if (std::fflush(file_) != 0) fail();
        return;
    }
    std::FILE* const file = std::exchange(file_, nullptr);
    if (std::fclose(file) != 0 || std::rename(part_.c_str(), behind_links(path_).c_str()) != 0) fail();
    part_.clear();
}

void ExportFile::fail() const {
    throw StorageError("{}: cannot be written: {}", path_ == "-" ? "standard output" : path_, std::strerror(errno));
}

}  // namespace cachetally

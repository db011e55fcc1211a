// SPDX-License-Identifier: BSD-3-Clause
// Packed traces as blocks of references.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "storage/file.hpp"
#include "workloads/traces/block.hpp"
#include "workloads/traces/packed_file.hpp"
#include "workloads/traces/trace.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t most_cores = 65536;
constexpr std::uint64_t window_rows = 4096;
/// No packed block is larger: header, marks, codes, deltas, indices, table and controls at their largest.
constexpr std::uint64_t largest_block =
    64 + largest_block_references * (1 + 1 + 8 + 2 + 8) + largest_block_controls * 12;

/// What the streams of a trace share; used by one thread at a time.
struct PackedFile {
    PackedFile(const std::string& path, Trust trust)
        : input(path, trust),
          trace(open_group()),
          index(trace.open_group(packed_names::index)),
          blocks(trace.open_dataset(packed_names::blocks)),
          core(index.open_dataset(packed_names::index_core)),
          offset(index.open_dataset(packed_names::index_offset)),
          bytes(index.open_dataset(packed_names::index_bytes)),
          references(index.open_dataset(packed_names::index_references)),
          rows(core.rows()),
          block_bytes(blocks.rows()),
          fetches(trace.whole_attribute(packed_names::fetches_attribute)) {
        for (const Dataset* column : {&offset, &bytes, &references})
            if (column->rows() != rows) throw TraceError(column->where() + ": has another length than its neighbours");
    }

    Group open_group() const {
        const std::string expected = packed_names::format_text;
        if (!input.root().has(packed_names::group) && input.root().has_attribute("kind"))
            throw TraceError(
                "{}: is an HDF5 file, but not a packed trace: it is a result, which 'cachetally show' shows",
                input.path());
        if (!input.root().has(packed_names::group))
            throw TraceError("{}: is an HDF5 file, but not a packed trace: it has no group '{}'", input.path(),
                             packed_names::group);
        Group group = input.root().open_group(packed_names::group);
        if (!group.has_attribute(packed_names::format_attribute) ||
            group.text_attribute(packed_names::format_attribute) != expected)
            throw TraceError("{}: is not a '{}'", group.where(), expected);
        const std::uint64_t found = group.whole_attribute(packed_names::version_attribute);
        if (found != packed_names::version)
            throw TraceError(
                "{}: has version {}, but only version {} is known; {}", group.where(), found, packed_names::version,
                found < packed_names::version ? "pack it anew with 'trace convert'" : "it needs a later cachetally");
        return group;
    }

    InputFile input;
    Group trace, index;
    Dataset blocks, core, offset, bytes, references;
    std::uint64_t rows, block_bytes, fetches;
};

/// One row of the index.
struct IndexEntry {
    std::uint32_t core = 0;
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    std::uint32_t references = 0;
};

/// Goes through the index, some rows at a time, and yields those of one core.
class IndexReader {
public:
    IndexReader(const PackedFile& file, std::uint32_t core) : file_(file), core_(core) {}

    bool next(IndexEntry& entry) {
        while (row_ < file_.rows) {
            if (row_ >= window_begin_ + window_.size()) load();
            entry = window_[row_++ - window_begin_];
            if (entry.core == core_) return true;
        }
        return false;
    }

    /// Number in the file of the block that next() yielded last.
    std::uint64_t block() const { return row_ - 1; }

private:
    void load() {
        window_begin_ = row_;
        window_.resize(std::min(file_.rows - row_, window_rows));
        read(file_.core, &IndexEntry::core);
        read(file_.offset, &IndexEntry::offset);
        read(file_.bytes, &IndexEntry::bytes);
        read(file_.references, &IndexEntry::references);
    }

    template <class T>
    void read(const Dataset& column, T IndexEntry::*member) {
        std::vector<T> values(window_.size());
        column.read_rows(window_begin_, std::span<T>(values));
        for (std::size_t i = 0; i < values.size(); ++i) window_[i].*member = values[i];
    }

    const PackedFile& file_;
    std::uint32_t core_;
    std::uint64_t row_ = 0, window_begin_ = 0;
    std::vector<IndexEntry> window_;
};

class PackedProducer : public BlockProducer {
public:
    PackedProducer(std::shared_ptr<const PackedFile> file, std::uint32_t core, std::uint64_t references, bool data_only)
        : file_(std::move(file)), core_(core), index_(*file_, core), expected_(references), data_only_(data_only) {}

    void produce(ReferenceBlock& block, const std::optional<FilterPlan>& wish) override {
        IndexEntry entry;
        if (!index_.next(entry)) {
            if (seen_ != expected_)
                throw TraceError("{}: stream {} has {} references instead of {}: blocks are missing",
                                 file_->input.path(), core_, seen_, expected_);
            block.start(0);
            block.last = true;
            done_ = file_->rows;
            return;
        }
        read(entry, block, wish);
        seen_ += block.size();
        done_ = index_.block() + 1;
        if (data_only_) keep_data_only(block);
    }

    double progress() const override {
        return file_->rows == 0 ? 1.0 : static_cast<double>(done_) / static_cast<double>(file_->rows);
    }

private:
    void read(const IndexEntry& entry, ReferenceBlock& block, const std::optional<FilterPlan>& wish) {
        if (entry.bytes > largest_block || entry.offset > file_->block_bytes ||
            entry.bytes > file_->block_bytes - entry.offset)
            fail(fmt::format("its {} bytes from {} on are not within the {} bytes of all blocks", entry.bytes,
                             entry.offset, file_->block_bytes));
        packed_.resize(entry.bytes);
        file_->blocks.read_rows(entry.offset, std::span<std::uint8_t>(packed_));
        try {
            decoder_.decode(std::as_bytes(std::span(packed_)), block, wish);
        } catch (const BlockError& error) {
            fail(error.what());
        }
        if (block.size() != entry.references)
            fail(fmt::format("it holds {} references instead of {}", block.size(), entry.references));
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw TraceError("{}: block {} of {} (stream {}) is damaged: {}", file_->input.path(), index_.block(),
                         file_->rows, core_, what);
    }

    std::shared_ptr<const PackedFile> file_;
    std::uint32_t core_;
    IndexReader index_;
    std::uint64_t expected_, seen_ = 0;
    bool data_only_;
    std::atomic<std::uint64_t> done_ = 0;
    BlockDecoder decoder_;
    std::vector<std::uint8_t> packed_;
};

/// Older traces have none.
void read_object_blocks(const PackedFile& file, SiteNames& names) {
    if (!file.trace.has(packed_names::object_blocks)) return;
    const Group group = file.trace.open_group(packed_names::object_blocks);
    const auto objects = group.read<std::uint32_t>("object");
    const auto bases = group.read<std::uint64_t>("base"), bytes = group.read<std::uint64_t>("bytes");
    auto alone = std::vector<std::uint8_t>(objects.size());
    if (group.has("alone")) alone = group.read<std::uint8_t>("alone");
    if (bases.size() != objects.size() || bytes.size() != objects.size() || alone.size() != objects.size())
        throw TraceError(group.where() + ": its columns differ in length");
    for (std::size_t i = 0; i < objects.size(); ++i) {
        if (objects[i] >= names.objects.size() || bytes[i] == 0 || bases[i] + (bytes[i] - 1) < bases[i])
            throw TraceError(fmt::format("{}: row {} is no block of an object", group.where(), i));
        names.blocks.push_back({objects[i], bases[i], bytes[i], alone[i] != 0});
    }
}

void read_sites(const PackedFile& file, TraceTables& tables) {
    const Group sites = file.trace.open_group(packed_names::sites), code = file.trace.open_group(packed_names::code);
    const auto codes = sites.read<std::uint32_t>("code"), objects = sites.read<std::uint32_t>("object");
    const auto counters = code.read<std::uint64_t>("counter");
    const auto lines = code.read<std::uint32_t>("line");
    const auto functions = code.read_texts("function"), files = code.read_texts("file"),
               modules = code.read_texts("module");
    SiteNames& names = tables.site_names;
    names.objects = file.trace.read_texts(packed_names::objects);
    std::vector<std::uint32_t> fields(codes.size());
    if (file.trace.has(packed_names::fields)) {
        names.fields = file.trace.read_texts(packed_names::fields);
        fields = sites.read<std::uint32_t>("field");
    }
    if (codes.size() != objects.size() || codes.size() != fields.size() || lines.size() != counters.size() ||
        functions.size() != counters.size() || files.size() != counters.size() || modules.size() != counters.size())
        throw TraceError(sites.where() + ": its columns differ in length");
    for (std::size_t i = 0; i < counters.size(); ++i)
        names.code.push_back({counters[i], functions[i], files[i], lines[i], modules[i]});
    read_object_blocks(file, names);
    auto table = std::make_shared<SiteTable>();
    for (std::size_t i = 1; i < codes.size(); ++i) {
        if (codes[i] >= names.code.size() || objects[i] >= names.objects.size() ||
            (fields[i] != 0 && fields[i] >= names.fields.size()))
            throw TraceError("{}: site {} has no name", sites.where(), i);
        table->add({codes[i], objects[i], fields[i]});
    }
    tables.sites = std::move(table);
}

TraceTables read_tables(const PackedFile& file) {
    TraceTables tables;
    tables.functions = file.trace.read_texts(packed_names::functions);
    if (file.trace.has(packed_names::phase_names))
        tables.phase_names = file.trace.read_texts(packed_names::phase_names);
    const Group group = file.trace.open_group(packed_names::regions);
    const auto names = group.read_texts("name");
    const auto bases = group.read<std::uint64_t>("base");
    const auto bytes = group.read<std::uint64_t>("bytes");
    const auto elements = group.read<std::uint32_t>("element_bytes");
    const auto rows = group.has("row_elements") ? group.read<std::uint32_t>("row_elements")  // not in older traces
                                                : std::vector<std::uint32_t>(names.size());
    if (bases.size() != names.size() || bytes.size() != names.size() || elements.size() != names.size() ||
        rows.size() != names.size())
        throw TraceError(group.where() + ": its columns differ in length");
    for (std::size_t i = 0; i < names.size(); ++i)
        tables.regions.push_back({names[i], bases[i], bytes[i], elements[i], rows[i]});
    if (file.trace.has(packed_names::sites)) read_sites(file, tables);
    return tables;
}

/// Why the trace is not whole; empty where it is.
std::string incomplete_reason(const Group& root) {
    if (root.has_attribute("complete") && root.whole_attribute("complete") == 1) return "";
    return root.has_attribute("incomplete") ? root.text_attribute("incomplete") : "it does not say why";
}

}  // namespace

OpenedTrace open_packed_trace(const std::string& path, const TraceOptions& options) {
    const auto file = std::make_shared<const PackedFile>(path, options.trust);
    const auto references = file->trace.read<std::uint64_t>(packed_names::core_references);
    const std::uint64_t cores = file->trace.whole_attribute(packed_names::cores_attribute);
    if (cores == 0 || cores > most_cores || references.size() != cores)
        throw TraceError("{}: {} streams are stated, and lengths of {}; there must be 1 to {}", file->trace.where(),
                         cores, references.size(), most_cores);
    std::vector<std::unique_ptr<BlockProducer>> producers;
    for (std::uint32_t core = 0; core < cores; ++core)
        producers.push_back(std::make_unique<PackedProducer>(file, core, references[core], options.data_only));
    std::string incomplete = incomplete_reason(file->input.root());  // before a thread reads the file
    return {TraceFormat::packed,
            make_block_source(std::move(producers), read_tables(*file), options.ahead && library_is_thread_safe()),
            std::move(incomplete)};
}

}  // namespace cachetally

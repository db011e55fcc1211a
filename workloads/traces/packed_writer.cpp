// SPDX-License-Identifier: BSD-3-Clause
// Writing packed traces, and copying a source into a sink.
#include "workloads/traces/packed_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "storage/columns.hpp"
#include "workloads/traces/packed_file.hpp"

namespace cachetally {
namespace {

/// Takes over the names even where a stream throws.
struct TakeTables {
    ReferenceSource& source;
    TraceSink& sink;
    ~TakeTables() {
        sink.set_regions(source.regions());
        sink.set_functions(source.functions());
        sink.set_phase_names(source.phase_names());
        if (const SiteTable* const sites = source.sites()) sink.set_sites(*sites, source.site_names());
    }
};

}  // namespace

/// Copies the streams in turns; at a barrier a stream waits for all others, as sources ask for.
ConvertResult convert(ReferenceSource& source, TraceSink& sink, const ConvertOptions& options) {
    enum class State : std::uint8_t { running, waiting, over };
    const TakeTables tables{source, sink};
    std::vector<State> states(source.cores(), State::running);
    std::vector<Reference> kept;
    ConvertResult result;
    const auto copy_batch = [&](unsigned core) {  // false where the copying ends
        const Batch batch = source.next(core);
        auto references = batch.references;
        if (options.data_only) {
            kept.clear();
            std::ranges::copy_if(references, std::back_inserter(kept),
                                 [](const Reference& reference) { return reference.kind != ReferenceKind::fetch; });
            references = kept;
        }
        const std::uint64_t left = options.max_references - result.references;
        const bool full = options.max_references != 0 && references.size() >= left;
        if (full) references = references.first(left);
        sink.append(core, references);
        result.references += references.size();
        if (full) return false;
        sink.append(core, batch.control);
        if (batch.control.kind == Control::Kind::end) states[core] = State::over;
        if (batch.control.kind == Control::Kind::barrier || batch.control.kind == Control::Kind::meet)
            states[core] = State::waiting;
        result.interrupted = options.progress && !options.progress(result.references);
        return !result.interrupted;
    };
    while (std::ranges::any_of(states, [](State state) { return state != State::over; })) {
        for (unsigned core = 0; core < states.size(); ++core)
            if (states[core] == State::running && !copy_batch(core)) return result;
        // Where nobody runs, all that are not over have arrived at the barrier.
        if (std::ranges::find(states, State::running) == states.end())
            std::ranges::replace(states, State::waiting, State::running);
    }
    return result;
}

struct PackedTraceWriter::State {
    struct Stream {
        std::vector<Reference> references;  ///< room for a block
        std::size_t pending = 0;            ///< so many of them are waiting
        std::vector<PlacedControl> controls;
        std::uint64_t written = 0;  ///< references in blocks before this one
        std::uint64_t barriers = 0;
    };

    State(const std::string& path, unsigned cores, const PackedOptions& options)
        : file(path, options.existing),
          block_references(options.block_references),
          encoder(options.level),
          streams(cores) {
        if (cores == 0) throw std::invalid_argument("a trace has at least one stream");
        if (block_references == 0 || block_references > largest_block_references)
            throw std::invalid_argument(fmt::format("a block holds 1 to {} references", largest_block_references));
    }

    void write_block(unsigned core, std::span<const Reference> references) {
        Stream& stream = streams[core];
        packed.clear();
        encoder.encode(references, stream.controls, packed);
        core_column.append(core);
        offset_column.append(block_column.rows());
        bytes_column.append(static_cast<std::uint32_t>(packed.size()));
        references_column.append(static_cast<std::uint32_t>(references.size()));
        block_column.append(std::span(reinterpret_cast<const std::uint8_t*>(packed.data()), packed.size()));
        count(references);
        stream.written += references.size();
        stream.controls.clear();
    }

    void write_pending(unsigned core) {
        Stream& stream = streams[core];
        if (stream.pending == 0 && stream.controls.empty()) return;
        write_block(core, std::span(stream.references).first(stream.pending));
        stream.pending = 0;
    }

    void count(std::span<const Reference> references) {
        std::uint32_t stores = 0, fetches = 0;
        for (const Reference& reference : references) {
            stores += reference.kind == ReferenceKind::store ? 1 : 0;
            fetches += reference.kind == ReferenceKind::fetch ? 1 : 0;
        }
        by_kind[static_cast<std::size_t>(ReferenceKind::load)] += references.size() - stores - fetches;
        by_kind[static_cast<std::size_t>(ReferenceKind::store)] += stores;
        by_kind[static_cast<std::size_t>(ReferenceKind::fetch)] += fetches;
    }

    void write_tables() {
        Group group = trace->create_group(packed_names::regions);
        group.write_texts("name", column_of(region_table, &Region::name));
        group.write("base", column_of(region_table, &Region::base));
        group.write("bytes", column_of(region_table, &Region::bytes));
        group.write("element_bytes", column_of(region_table, &Region::element_bytes));
        group.write("row_elements", column_of(region_table, &Region::row_elements));
        trace->write_texts(packed_names::functions, function_table);
        if (!phase_names.empty()) trace->write_texts(packed_names::phase_names, phase_names);
        if (site_table.empty()) return;
        Group sites = trace->create_group(packed_names::sites);
        sites.write("code", column_of(site_table, &Site::code));
        sites.write("object", column_of(site_table, &Site::object));
        if (!site_names.fields.empty()) {
            sites.write("field", column_of(site_table, &Site::field));
            trace->write_texts(packed_names::fields, site_names.fields);
        }
        Group code = trace->create_group(packed_names::code);
        code.write("counter", column_of(site_names.code, &CodePlace::counter));
        code.write_texts("function", column_of(site_names.code, &CodePlace::function));
        code.write_texts("file", column_of(site_names.code, &CodePlace::file));
        code.write("line", column_of(site_names.code, &CodePlace::line));
        code.write_texts("module", column_of(site_names.code, &CodePlace::module));
        trace->write_texts(packed_names::objects, site_names.objects);
        Group object_blocks = trace->create_group(packed_names::object_blocks);
        object_blocks.write("object", column_of(site_names.blocks, &ObjectBlock::object));
        object_blocks.write("base", column_of(site_names.blocks, &ObjectBlock::base));
        object_blocks.write("bytes", column_of(site_names.blocks, &ObjectBlock::bytes));
        object_blocks.write("alone", column_of(site_names.blocks, [](const ObjectBlock& block) {
                                return static_cast<std::uint8_t>(block.alone ? 1 : 0);
                            }));
    }

    /// Writes all but the attribute that says whether the trace is complete, and lets go of the file's objects.
    void complete() {
        std::vector<std::uint64_t> lengths;
        for (unsigned core = 0; core < streams.size(); ++core) {
            write_pending(core);
            lengths.push_back(streams[core].written);
        }
        block_column.finish();
        core_column.finish(), offset_column.finish(), bytes_column.finish(), references_column.finish();
        write_tables();
        trace->write(packed_names::core_references, lengths);
        trace->set_attribute(packed_names::format_attribute, packed_names::format_text);
        trace->set_attribute(packed_names::version_attribute, packed_names::version);
        trace->set_attribute(packed_names::cores_attribute, std::uint64_t{streams.size()});
        trace->set_attribute("codec", "reference-delta-16, lz4");
        trace->set_attribute("checksum", "xxh3-64");
        trace->set_attribute("block_references", block_references);
        trace->set_attribute("phases", streams.front().barriers + 1);
        const char* names[] = {"loads", "stores", packed_names::fetches_attribute};
        for (std::size_t i = 0; i < by_kind.size(); ++i) trace->set_attribute(names[i], by_kind[i]);
        index_group.reset();
        trace.reset();
    }

    ResultFile file;
    std::uint32_t block_references;
    BlockEncoder encoder;
    std::vector<Stream> streams;
    std::optional<Group> trace{file.root().create_group(packed_names::group)};
    std::optional<Group> index_group{trace->create_group(packed_names::index)};
    GrowingColumn<std::uint8_t> block_column{*trace, packed_names::blocks, Compression::none, std::size_t{1} << 20};
    GrowingColumn<std::uint32_t> core_column{*index_group, packed_names::index_core, Compression::deflate, 4096};
    GrowingColumn<std::uint64_t> offset_column{*index_group, packed_names::index_offset, Compression::deflate, 4096};
    GrowingColumn<std::uint32_t> bytes_column{*index_group, packed_names::index_bytes, Compression::deflate, 4096};
    GrowingColumn<std::uint32_t> references_column{*index_group, packed_names::index_references, Compression::deflate,
                                                   4096};
    std::vector<std::byte> packed;
    std::array<std::uint64_t, 3> by_kind{};
    std::vector<Region> region_table;
    std::vector<std::string> function_table, phase_names;
    std::vector<Site> site_table;
    SiteNames site_names;
};

PackedTraceWriter::PackedTraceWriter(const std::string& path, unsigned cores, const PackedOptions& options)
    : state_(std::make_unique<State>(path, cores, options)) {}
PackedTraceWriter::~PackedTraceWriter() = default;

void PackedTraceWriter::append(unsigned core, std::span<const Reference> references) {
    auto& stream = state_->streams.at(core);
    const std::size_t most = state_->block_references;
    while (!references.empty()) {
        const auto part = references.first(std::min(most - stream.pending, references.size()));
        references = references.subspan(part.size());
        if (part.size() == most) {
            state_->write_block(core, part);
            continue;
        }
        stream.references.resize(most);
        std::ranges::copy(part, stream.references.begin() + static_cast<std::ptrdiff_t>(stream.pending));
        stream.pending += part.size();
        if (stream.pending == most) state_->write_pending(core);
    }
}

void PackedTraceWriter::append(unsigned core, Control control) {
    if (control.kind == Control::Kind::none || control.kind == Control::Kind::end) return;
    auto& stream = state_->streams.at(core);
    if (control.kind == Control::Kind::barrier) ++stream.barriers;
    stream.controls.push_back({static_cast<std::uint32_t>(stream.pending), control});
    if (stream.controls.size() == state_->block_references) state_->write_pending(core);
}

void PackedTraceWriter::set_sites(const SiteTable& sites, const SiteNames& names) {
    state_->site_table.clear();
    for (std::uint32_t site = 0; site < sites.size(); ++site) state_->site_table.push_back(sites[site]);
    state_->site_names = names;
}
void PackedTraceWriter::set_regions(const std::vector<Region>& regions) { state_->region_table = regions; }
void PackedTraceWriter::set_functions(const std::vector<std::string>& functions) { state_->function_table = functions; }
void PackedTraceWriter::set_phase_names(const std::vector<std::string>& names) { state_->phase_names = names; }

Group& PackedTraceWriter::root() { return state_->file.root(); }

std::uint64_t PackedTraceWriter::references() const {
    std::uint64_t sum = 0;
    for (const auto& stream : state_->streams) sum += stream.written + stream.pending;
    return sum;
}

void PackedTraceWriter::finish() {
    state_->complete();
    state_->file.finish();
}

void PackedTraceWriter::keep_partial(const std::string& reason) {
    state_->complete();
    state_->file.keep_partial(reason);
}

}  // namespace cachetally

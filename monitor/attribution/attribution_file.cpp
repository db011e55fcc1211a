// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/attribution/attribution_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/attribution/object_evictions_file.hpp"
#include "storage/columns.hpp"

namespace cachetally {
namespace {

std::string cause_column(unsigned cause, const std::string& level) {
    return fmt::format("{}_{}", to_string(static_cast<MissCause>(cause)), level);
}

void write_rows(Group group, const Attribution& attribution) {
    const auto& rows = attribution.rows;
    std::vector<std::uint32_t> numbers(rows.size());
    for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
    group.write("row", numbers);
    group.write("phase", column_of(rows, &Attribution::Row::phase));
    group.write("site", column_of(rows, &Attribution::Row::site));
    group.write("accesses", column_of(rows, &Attribution::Row::accesses));
    std::vector<std::string> others = {"phase", "site"};
    const auto add = [&](bool known, const char* name, const auto& member) {
        if (!known) return;
        others.emplace_back(name);
        group.write(name, column_of(rows, member));
    };
    add(attribution.known.cores, "core", &Attribution::Row::core);
    add(attribution.known.cycles, "cycles", &Attribution::Row::cycles);
    add(attribution.known.used_bytes, "fills", &Attribution::Row::fills);
    add(attribution.known.used_bytes, "used_bytes", &Attribution::Row::used);
    for (std::size_t level = 0; level < attribution.levels.size(); ++level) {
        others.push_back("misses_" + attribution.levels[level]);
        group.write(others.back(), column_of(rows, [&](const auto& row) { return row.misses[level]; }));
    }
    for (std::size_t level = 0; level < attribution.caused.size(); ++level)
        for (unsigned cause = 0; cause < miss_cause_count; ++cause) {
            others.push_back(cause_column(cause, attribution.caused[level]));
            group.write(others.back(), column_of(rows, [&](const auto& row) { return row.causes[level][cause]; }));
        }
    set_axes(group, "accesses", {"row"}, others);
}

/// Addresses mean these objects at any time of the run: those that share memory with others have none.
void write_blocks(Group& attribution, const std::vector<std::string>& objects, std::vector<ObjectBlock> blocks) {
    std::erase_if(blocks, [](const ObjectBlock& block) { return !block.alone; });
    if (blocks.empty()) return;
    Group group = attribution.create_group("blocks");
    group.write_texts("name", column_of(blocks, [&](const ObjectBlock& block) { return objects[block.object]; }));
    group.write("object", column_of(blocks, &ObjectBlock::object));
    group.write("base", column_of(blocks, &ObjectBlock::base));
    group.write("bytes", column_of(blocks, &ObjectBlock::bytes));
}

std::vector<ObjectBlock> read_blocks(const Group& attribution, std::size_t objects) {
    std::vector<ObjectBlock> blocks;
    if (!attribution.has("blocks")) return blocks;
    const Group group = attribution.open_group("blocks");
    const auto object = group.read<std::uint32_t>("object");
    const auto base = read_column<std::uint64_t>(group, "base", object.size()),
               bytes = read_column<std::uint64_t>(group, "bytes", object.size());
    for (std::size_t i = 0; i < object.size(); ++i) {
        if (object[i] >= objects || bytes[i] == 0 || base[i] + (bytes[i] - 1) < base[i])
            throw StorageError(fmt::format("{}: row {} is no block; the file is damaged", group.where(), i));
        blocks.push_back({object[i], base[i], bytes[i], true});
    }
    return blocks;
}

void write_names(Group& attribution, const std::vector<Site>& sites, const SiteNames& names) {
    Group group = attribution.create_group("sites");
    group.write("code", column_of(sites, &Site::code));
    group.write("object", column_of(sites, &Site::object));
    if (!names.fields.empty()) group.write("field", column_of(sites, &Site::field));
    Group code = attribution.create_group("code");
    code.write("counter", column_of(names.code, &CodePlace::counter));
    code.write_texts("function", column_of(names.code, &CodePlace::function));
    code.write_texts("file", column_of(names.code, &CodePlace::file));
    code.write("line", column_of(names.code, &CodePlace::line));
    code.write_texts("module", column_of(names.code, &CodePlace::module));
    attribution.write_texts("objects", names.objects);
    if (!names.fields.empty()) attribution.write_texts("fields", names.fields);
    write_blocks(attribution, names.objects, names.blocks);
}

SiteNames read_names(const Group& attribution) {
    SiteNames names;
    const Group code = attribution.open_group("code");
    const auto counters = code.read<std::uint64_t>("counter");
    const auto lines = read_column<std::uint32_t>(code, "line", counters.size());
    const auto functions = code.read_texts("function"), files = code.read_texts("file"),
               modules = code.read_texts("module");
    if (functions.size() != counters.size() || files.size() != counters.size() || modules.size() != counters.size())
        throw StorageError(code.where() + ": its columns differ in length");
    for (std::size_t i = 0; i < counters.size(); ++i)
        names.code.push_back({counters[i], functions[i], files[i], lines[i], modules[i]});
    names.objects = attribution.read_texts("objects");
    if (attribution.has("fields")) names.fields = attribution.read_texts("fields");
    names.blocks = read_blocks(attribution, names.objects.size());
    return names;
}

void read_sites(const Group& sites, Attribution& attribution) {
    const SiteNames& names = attribution.names;
    const auto codes = sites.read<std::uint32_t>("code");
    const auto objects = read_column<std::uint32_t>(sites, "object", codes.size());
    std::vector<std::uint32_t> fields(codes.size());
    if (!names.fields.empty()) fields = read_column<std::uint32_t>(sites, "field", codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i) {
        if (codes[i] >= names.code.size() || objects[i] >= names.objects.size() ||
            (fields[i] != 0 && fields[i] >= names.fields.size()))
            throw StorageError(fmt::format("{}: site {} has no name; the file is damaged", sites.where(), i));
        attribution.sites.push_back({codes[i], objects[i], fields[i]});
    }
}

/// False where the file has no such column.
template <class Number>
bool read_into(const Group& group, const char* name, std::vector<Attribution::Row>& rows,
               Number Attribution::Row::*member) {
    if (!group.has(name)) return false;
    const auto column = read_column<Number>(group, name, rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*member = column[i];
    return true;
}

}  // namespace

void require_core(const Group& group, std::uint32_t core) {
    constexpr std::uint32_t most_cores = 256;
    if (core >= most_cores) throw StorageError("{}: there is no core {}; the file is damaged", group.where(), core);
}

std::vector<Region> read_heap_blocks(const Group& root) {
    if (!root.has("attribution")) return {};
    const Group group = root.open_group("attribution");
    const std::vector<std::string> objects = group.read_texts("objects");
    std::vector<Region> regions;
    for (const ObjectBlock& block : read_blocks(group, objects.size()))
        regions.push_back({objects[block.object], block.base, block.bytes, 0});
    return regions;
}

void write_attribution(Group& root, const Attribution& attribution) {
    if (attribution.empty()) return;
    Group group = root.create_group("attribution");
    set_nexus_class(group, "NXcollection", "rows");
    group.set_attribute("levels", attribution.levels);
    if (!attribution.caused.empty()) group.set_attribute("caused", attribution.caused);
    if (!attribution.filled.empty()) {
        group.set_attribute("filled", attribution.filled);
        group.set_attribute("line_bytes", attribution.line_bytes);
    }
    write_rows(group.create_group("rows"), attribution);
    write_names(group, attribution.sites, attribution.names);
    write_object_evictions(group, attribution.evictions, attribution.names.objects);
}

Attribution read_attribution(const Group& root) {
    Attribution attribution;
    if (!root.has("attribution")) return attribution;
    const Group group = root.open_group("attribution"), rows = group.open_group("rows"),
                sites = group.open_group("sites");
    attribution.levels = group.texts_attribute("levels");
    if (group.has_attribute("caused")) attribution.caused = group.texts_attribute("caused");
    attribution.names = read_names(group);
    read_sites(sites, attribution);
    const auto site = rows.read<std::uint32_t>("site");
    const auto phase = read_column<std::uint32_t>(rows, "phase", site.size());
    const auto accesses = read_column<std::uint64_t>(rows, "accesses", site.size());
    for (std::size_t i = 0; i < site.size(); ++i) {
        if (site[i] >= attribution.sites.size())
            throw StorageError(fmt::format("{}: there is no site {}; the file is damaged", rows.where(), site[i]));
        Attribution::Row& row = attribution.rows.emplace_back();
        row.site = site[i];
        row.phase = phase[i];
        row.accesses = accesses[i];
        row.causes.resize(attribution.caused.size());
    }
    attribution.known.cores = read_into(rows, "core", attribution.rows, &Attribution::Row::core);
    for (const Attribution::Row& row : attribution.rows) require_core(rows, row.core);
    attribution.known.cycles = read_into(rows, "cycles", attribution.rows, &Attribution::Row::cycles);
    attribution.known.used_bytes = read_into(rows, "fills", attribution.rows, &Attribution::Row::fills) &&
                                   read_into(rows, "used_bytes", attribution.rows, &Attribution::Row::used);
    if (group.has_attribute("filled")) {
        attribution.filled = group.text_attribute("filled");
        attribution.line_bytes = static_cast<std::uint32_t>(group.whole_attribute("line_bytes"));
    }
    for (const std::string& level : attribution.levels) {
        const auto misses = read_column<std::uint64_t>(rows, ("misses_" + level).c_str(), site.size());
        for (std::size_t i = 0; i < site.size(); ++i) attribution.rows[i].misses.push_back(misses[i]);
    }
    for (std::size_t level = 0; level < attribution.caused.size(); ++level)
        for (unsigned cause = 0; cause < miss_cause_count; ++cause) {
            const auto counts =
                read_column<std::uint64_t>(rows, cause_column(cause, attribution.caused[level]).c_str(), site.size());
            for (std::size_t i = 0; i < site.size(); ++i) attribution.rows[i].causes[level][cause] = counts[i];
        }
    attribution.evictions = read_object_evictions(group, attribution.names.objects.size());
    return attribution;
}

}  // namespace cachetally

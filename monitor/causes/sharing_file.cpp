// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/causes/sharing_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "storage/columns.hpp"

namespace cachetally {
namespace {

using Number = std::uint32_t SharingRow::*;
constexpr std::pair<const char*, Number> sharing_columns[] = {
    {"level", &SharingRow::level}, {"phase", &SharingRow::phase},     {"core", &SharingRow::core},
    {"site", &SharingRow::site},   {"by_core", &SharingRow::by_core}, {"by_site", &SharingRow::by_site}};

}  // namespace

void write_sharing(Group& root, const Sharing& sharing) {
    if (sharing.empty()) return;
    Group group = root.create_group("sharing");
    group.set_attribute("levels", sharing.levels);
    group.set_attribute("line_bytes", sharing.line_bytes);
    group.write("row", numbers_to(sharing.rows.size()));
    group.write("address", column_of(sharing.rows, &SharingRow::line));
    for (const auto& [name, member] : sharing_columns) group.write(name, column_of(sharing.rows, member));
    group.write("true_sharing", column_of(sharing.rows, &SharingRow::true_sharing));
    group.write("false_sharing", column_of(sharing.rows, &SharingRow::false_sharing));
    set_axes(group, "false_sharing", {"row"}, {"true_sharing"});
}

Sharing read_sharing(const Group& root) {
    Sharing sharing;
    if (!root.has("sharing")) return sharing;
    const Group group = root.open_group("sharing");
    sharing.levels = group.texts_attribute("levels");
    sharing.line_bytes = static_cast<std::uint32_t>(group.whole_attribute("line_bytes"));
    const auto lines = group.read<std::uint64_t>("address");
    const auto true_sharing = read_column<std::uint64_t>(group, "true_sharing", lines.size()),
               false_sharing = read_column<std::uint64_t>(group, "false_sharing", lines.size());
    sharing.rows.resize(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        sharing.rows[i].line = lines[i];
        sharing.rows[i].true_sharing = true_sharing[i];
        sharing.rows[i].false_sharing = false_sharing[i];
    }
    for (const auto& [name, member] : sharing_columns) {
        const auto column = read_column<std::uint32_t>(group, name, lines.size());
        for (std::size_t i = 0; i < lines.size(); ++i) sharing.rows[i].*member = column[i];
    }
    for (const SharingRow& row : sharing.rows)
        if (row.level >= sharing.levels.size())
            throw StorageError(fmt::format("{}: there is no level {}; the file is damaged", group.where(), row.level));
    return sharing;
}

}  // namespace cachetally

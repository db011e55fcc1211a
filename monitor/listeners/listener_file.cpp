// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/listeners/listener_file.hpp"

#include <fmt/format.h>

#include "storage/columns.hpp"

namespace cachetally {
namespace {

using Column = ListenerTable::Column;

void write_table(Group& group, const ListenerTable& table) {
    group.set_attribute("columns", column_of(table.columns, &Column::name));
    group.set_attribute("units", column_of(table.columns, &Column::unit));
    group.set_attribute("meanings", column_of(table.columns, &Column::meaning));
    group.write_texts("label", column_of(table.rows, &ListenerTable::Row::label));
    std::vector<std::string> signals;
    for (std::size_t i = 1; i < table.columns.size(); ++i) {
        const auto numbers = column_of(table.rows, [&](const auto& row) { return row.numbers.at(i - 1); });
        group.write(signals.emplace_back(fmt::format("column{}", i)), numbers);
    }
    if (!signals.empty()) set_axes(group, signals.front(), {"label"}, {signals.begin() + 1, signals.end()});
}

ListenerTable read_table(const Group& group) {
    ListenerTable table;
    const auto names = group.texts_attribute("columns"), units = group.texts_attribute("units");
    const auto meanings = group.texts_attribute("meanings");
    if (names.empty() || units.size() != names.size() || meanings.size() != names.size())
        throw StorageError("{}: columns, units and meanings do not fit together; the file is damaged", group.where());
    for (std::size_t i = 0; i < names.size(); ++i) table.columns.push_back({names[i], units[i], meanings[i]});
    for (const std::string& label : group.read_texts("label")) table.rows.push_back({label, {}, 0});
    for (std::size_t i = 1; i < names.size(); ++i) {
        const auto numbers = read_column<std::uint64_t>(group, fmt::format("column{}", i), table.rows.size());
        for (std::size_t row = 0; row < numbers.size(); ++row) table.rows[row].numbers.push_back(numbers[row]);
    }
    return table;
}

}  // namespace

void write_listeners(Group& root, const std::vector<ListenerResult>& listeners) {
    if (listeners.empty()) return;
    Group all = root.create_group("listeners");
    all.set_attribute("names", column_of(listeners, &ListenerResult::name));
    all.set_attribute("links", column_of(listeners, &ListenerResult::link));
    all.set_attribute("specs", column_of(listeners, &ListenerResult::spec));
    set_nexus_class(all, "NXcollection", "listener0");
    for (std::size_t i = 0; i < listeners.size(); ++i) {
        Group group = all.create_group(fmt::format("listener{}", i));
        write_table(group, listeners[i].table);
    }
}

std::vector<ListenerResult> read_listeners(const Group& root) {
    std::vector<ListenerResult> listeners;
    if (!root.has("listeners")) return listeners;
    const Group all = root.open_group("listeners");
    const auto names = all.texts_attribute("names"), links = all.texts_attribute("links");
    const auto specs = all.texts_attribute("specs");
    if (names.size() != links.size() || names.size() != specs.size())
        throw StorageError("{}: names, links and specs do not fit together; the file is damaged", all.where());
    for (std::size_t i = 0; i < names.size(); ++i)
        listeners.push_back({names[i], links[i], specs[i], read_table(all.open_group(fmt::format("listener{}", i)))});
    return listeners;
}

}  // namespace cachetally

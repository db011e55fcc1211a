// SPDX-License-Identifier: BSD-3-Clause
// Listeners that users attach by name (--listener): what a file of this folder provides.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/control.hpp"

namespace cachetally {

/// What a listener found: printed as a table, and in JSON. The title, unit and meaning of each column are declared here
/// and nowhere else.
struct ListenerTable {
    struct Column {
        std::string name, unit, meaning;
    };
    struct Row {
        std::string label;                   ///< in the first column; no two rows have the same
        std::vector<std::uint64_t> numbers;  ///< of the other columns
        std::uint64_t order = 0;             ///< of the row among those of all copies; equal ones stay as they come
    };
    std::vector<Column> columns;
    std::vector<Row> rows;
};

/// The tables of the copies of a link as one: numbers of rows with equal labels are added up; rows go by their order.
ListenerTable merged(const std::vector<ListenerTable>& copies);

/// What a listener found on a link, over its copies.
struct ListenerResult {
    std::string name, link;
    std::string spec;  ///< as the command line named it
    ListenerTable table;
};

/// One for each copy of a link.
class TableListener : public PhasedListener {
public:
    using PhasedListener::PhasedListener;

    /// The run is over, and with it the last phase: no end_phase() was called for that. Called once. There may be
    /// no rows.
    virtual ListenerTable table() = 0;
};

/// A setting of its own: a whole number.
struct ListenerKey {
    std::string_view name;
    std::uint64_t standard, least, most;
    std::string_view help;
};

/// What is known of a listener.
struct ListenerRow {
    std::string_view name, help;
    std::vector<ListenerKey> keys = {};
    /// `spec`: what is counted; its line is filled in. `values`: of its keys, in their order.
    std::unique_ptr<TableListener> (*make)(const MonitorSpec& spec, std::span<const std::uint64_t> values) = nullptr;
};

// The listeners: a row here and a source that defines NAME_listener() are all that one needs (CONTRIBUTING.md).
#define CACHETALLY_LISTENERS(ROW) ROW(reuse)

using ListenerMaker = ListenerRow (*)();
#define CACHETALLY_DECLARE(name) ListenerRow name##_listener();
CACHETALLY_LISTENERS(CACHETALLY_DECLARE)
#undef CACHETALLY_DECLARE
#define CACHETALLY_ROW(name) name##_listener,
inline constexpr ListenerMaker built_in_listeners[] = {CACHETALLY_LISTENERS(CACHETALLY_ROW)};
#undef CACHETALLY_ROW

/// The listeners of the program. A source of its own, so that a program may link another with more rows.
std::span<const ListenerMaker> listener_rows();

/// A listener as the command line names it.
struct ListenerSpec {
    ListenerRow row;
    MonitorSpec
        base;  ///< link (empty: the one that data references leave the core by), line, kinds, range, cores, start
    std::vector<std::uint64_t> values;
    std::string text;  ///< as it was named
};

/// "reuse,link=L1D-L2,kinds=load". Throws SpecError.
ListenerSpec parse_listener(std::string_view text);

/// "reuse: distances ...", a line for each listener with its keys: for help.
std::string listeners_in_words();

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
#include "campaign/point_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <variant>

#include "storage/columns.hpp"

namespace cachetally {
namespace {

/// A column of the merged table.
class Column {
public:
    Column(Group& group, const std::string& name, bool is_number, std::size_t longest = 0)
        : name_(name),
          column_(is_number ? Any(std::in_place_type<GrowingColumn<double>>, group, name)
                            : Any(std::in_place_type<GrowingColumn<std::string>>, group, name, Compression::deflate,
                                  65536, longest)) {}

    void append(double value) { std::get<GrowingColumn<double>>(column_).append(value); }

    /// A number where the column is of numbers.
    void append(const std::string& text) {
        if (auto* texts = std::get_if<GrowingColumn<std::string>>(&column_)) return texts->append(text);
        append(campaign_number(text).value_or(std::nan("")));
    }

    void finish() {
        std::visit([](auto& column) { column.finish(); }, column_);
    }

    const std::string& name() const { return name_; }

private:
    using Any = std::variant<GrowingColumn<double>, GrowingColumn<std::string>>;
    std::string name_;
    Any column_;
};

/// The table while it grows.
class Table {
public:
    Table(Group& group, const Grid& grid, const std::vector<Measure>& measures)
        : grid_(grid), points_(group, "point"), failed_(group, "failed") {
        texts_.emplace_back(group, "machine", false, longest(grid.file().machines));
        texts_.emplace_back(group, "workload", false, longest(grid.file().workloads));
        texts_.emplace_back(group, "seed", true);
        texts_.emplace_back(group, "monitor", false, longest_monitor());
        for (const Parameter& parameter : grid.parameters())
            texts_.emplace_back(group, parameter.name, parameter.is_number, longest_value(parameter.name));
        for (const Measure& measure : measures) numbers_.emplace_back(group, measure.name, true);
        hashes_.emplace(group, "hash", false, 32);
    }

    void add(const PointRow& row) {
        const Grid::Place place = grid_.place(row.point);
        points_.append(row.point);
        failed_.append(static_cast<std::uint8_t>(std::isnan(row.values.front())));
        texts_[0].append(grid_.machine_name(place));
        texts_[1].append(grid_.workload_name(place));
        texts_[2].append(std::to_string(grid_.seed(place)));
        texts_[3].append(grid_.monitor_text(place));
        const std::vector<std::string> values = grid_.values(place);
        for (std::size_t i = 0; i < values.size(); ++i) texts_[4 + i].append(values[i]);
        for (std::size_t i = 0; i < row.values.size(); ++i) numbers_[i].append(row.values[i]);
        hashes_->append(row.hash);
    }

    void finish() {
        points_.finish();
        failed_.finish();
        for (Column& column : texts_) column.finish();
        for (Column& column : numbers_) column.finish();
        hashes_->finish();
    }

private:
    static std::size_t longest(const std::vector<CampaignEntry>& entries) {
        std::size_t bytes = 0;
        for (const CampaignEntry& entry : entries) bytes = std::max(bytes, entry.name.size());
        return bytes;
    }

    /// Of all that may stand in a column of texts.
    std::size_t longest_value(const std::string& name) const {
        constexpr std::size_t stated = 64;  // in machine files
        std::size_t bytes = stated;
        for (const auto* entries : {&grid_.file().machines, &grid_.file().workloads, &grid_.file().monitors})
            for (const CampaignEntry& entry : *entries)
                for (const Varied& varied : entry.set)
                    if (name.ends_with(varied.key))
                        for (const std::string& value : varied.values) bytes = std::max(bytes, value.size());
        return bytes;
    }

    std::size_t longest_monitor() const {
        std::size_t bytes = 4, longest_link = 0;
        for (const std::string& level : grid_.levels())  // "link=core-L1D,"
            longest_link = std::max(longest_link, level.size() + 11);
        for (const CampaignEntry& entry : grid_.file().monitors) {
            std::size_t sum = 32 + longest_link;  // a seed
            for (const Varied& varied : entry.set) {
                std::size_t value = 0;
                for (const std::string& each : varied.values) value = std::max(value, each.size());
                sum += 2 * (varied.key.size() + value) + 2;
            }
            bytes = std::max(bytes, sum);
        }
        return bytes;
    }

    const Grid& grid_;
    GrowingColumn<std::uint64_t> points_;
    GrowingColumn<std::uint8_t> failed_;
    std::vector<Column> texts_, numbers_;
    std::optional<Column> hashes_;
};

void describe(Group& group, const Grid& grid, const std::vector<Measure>& measures) {
    std::vector<std::string> parameters{"machine", "workload", "seed", "monitor"}, names;
    for (const Parameter& parameter : grid.parameters()) {
        parameters.push_back(parameter.name);
        if (!parameter.is_number) continue;
        const bool is_size = parameter.name.ends_with(".size"), is_clock = parameter.name == "clock";
        if (is_size || is_clock)
            group.open_dataset(parameter.name).set_attribute("units", std::string(is_size ? "bytes" : "Hz"));
    }
    for (const Measure& measure : measures) {
        names.push_back(measure.name);
        Dataset column = group.open_dataset(measure.name);
        column.set_attribute("units", measure.unit);
        column.set_attribute("description", measure.meaning);
    }
    group.set_attribute("parameters", parameters);
    group.set_attribute("measures", names);
    group.set_attribute("name", grid.file().name);
    group.set_attribute("count", grid.file().count);
    group.set_attribute("warmup", grid.file().warmup);
    set_axes(group, "cycles", {"point"});
}

}  // namespace

std::vector<Measure> measures_of(const Grid& grid) {
    std::vector<Measure> all{{"references", "1", "that the program made"},
                             {"cycles", "cycles", "end of the last core, without the monitor"}};
    const bool monitored =
        std::ranges::any_of(grid.file().monitors, [](const CampaignEntry& entry) { return entry.name != "none"; });
    if (monitored) {
        const Measure of_monitors[] = {{"events", "1", "that the monitor counted"},
                                       {"swapouts", "1", "records, with the last ones"},
                                       {"error", "1", "of the histogram, a fraction (docs/monitors.md)"},
                                       {"bytes_per_event", "bytes", "of ring traffic"},
                                       {"bits", "bits", "of the monitor in hardware (docs/cost.md)"},
                                       {"comparators", "1", "likewise"},
                                       {"area", "transistors", "likewise"},
                                       {"energy", "SRAM bit reads", "per event"}};
        all.insert(all.end(), std::begin(of_monitors), std::end(of_monitors));
        if (grid.file().slowdown) all.push_back({"slowdown", "1", "by which the program takes longer, a fraction"});
    }
    for (const std::string& level : grid.levels()) {
        all.push_back({"accesses_" + level, "1", "loads, stores and fetches, lookups of a TLB; without the monitor"});
        all.push_back({"misses_" + level, "1", "of them"});
    }
    for (const std::string& memory : grid.memories()) {
        all.push_back({"reads_" + memory, "1", "loads, fetches and prefetches; without the monitor"});
        all.push_back({"writes_" + memory, "1", "write-backs and stores that came through; without the monitor"});
    }
    return all;
}

void write_points(Group& root, const std::vector<Measure>& measures, const std::vector<PointRow>& rows) {
    Group group = root.create_group("points");
    write_member(group, "point", rows, &PointRow::point);
    write_member(group, "hash", rows, &PointRow::hash);
    for (std::size_t i = 0; i < measures.size(); ++i)
        group.write(measures[i].name, column_of(rows, [&](const PointRow& row) { return row.values[i]; }));
}

std::vector<PointRow> read_points(const Group& root, const std::vector<Measure>& measures) {
    const Group group = root.open_group("points");
    std::vector<PointRow> rows(group.open_dataset("point").rows());
    read_member(group, "point", rows, &PointRow::point);
    read_member(group, "hash", rows, &PointRow::hash);
    for (const Measure& measure : measures) {
        const std::vector<double> values = read_column<double>(group, measure.name, rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i].values.push_back(values[i]);
    }
    return rows;
}

Merged merge_points(const CampaignFolder& folder, const Grid& grid, const std::vector<std::string>& bundle_hashes,
                    Group& root) {
    const std::vector<Measure> measures = measures_of(grid);
    Group group = root.create_group("campaign");
    Table table(group, grid, measures);
    std::vector<PointFailure> failures;
    Merged merged;
    for (std::uint64_t bundle = 0; bundle < folder.manifest().count(); ++bundle) {
        if (!folder.holds(bundle, bundle_hashes[bundle])) {
            merged.missing += folder.manifest().end(bundle) - folder.manifest().first(bundle);
            if (std::error_code error; std::filesystem::exists(folder.bundle(bundle), error))
                merged.damaged.push_back(bundle);
            continue;
        }
        const InputFile file(folder.bundle(bundle));
        for (const PointRow& row : read_points(file.root(), measures)) {
            table.add(row);
            ++merged.points;
        }
        for (PointFailure& failure : read_failures(file.root())) failures.push_back(std::move(failure));
    }
    folder.require_there();
    table.finish();
    describe(group, grid, measures);
    merged.failed = failures.size();
    write_failures(root, failures);
    return merged;
}

std::vector<std::uint64_t> bundles_of(const Grid& grid, std::uint64_t points_per_bundle) {
    std::vector<std::uint64_t> begins{0};
    for (std::uint64_t at = 0; at < grid.points();) {
        at = grid.group_end(at);
        if (at - begins.back() >= points_per_bundle || at == grid.points()) begins.push_back(at);
    }
    return begins;
}

}  // namespace cachetally

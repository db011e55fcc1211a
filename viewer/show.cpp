// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/show.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "storage/provenance.hpp"
#include "viewer/intrusion_view.hpp"
#include "viewer/probe_text.hpp"
#include "viewer/structure_advice.hpp"
#include "viewer/sweep_view.hpp"
#include "viewer/text_table.hpp"
#include "viewer/trackers_view.hpp"

namespace cachetally {
namespace {

using Json = nlohmann::ordered_json;

/// The plot without phases and addresses that are not wanted.
class Collector {
public:
    Collector(const ShowOptions& options, const RunView& view, std::uint32_t line_bytes) : options_(options) {
        plot_.line_bytes = line_bytes;
        for (const Region& region : view.structures.regions)
            if (region.name == options.structure && region.bytes > 0) {
                first_ = align_down(region.base, line_bytes);
                last_ = region.base + (region.bytes - 1);
            }
    }

    void add(std::uint32_t phase, Address address, double value, double weight = 1) {
        if (!options_.phases.contains(phase)) return;
        if (address < first_ || address > last_) return;
        if (options_.heat) {
            plot_.points.push_back({address, value, weight});
            plot_.phases.push_back(phase);
            return;
        }
        auto& point = points_[address];
        point.first += value;
        point.second += weight;
    }

    PlotInput finish(bool rate) {
        for (const auto& [address, sums] : points_) plot_.points.push_back({address, sums.first, sums.second});
        plot_.rate = rate;
        return std::move(plot_);
    }

private:
    const ShowOptions& options_;
    PlotInput plot_;
    std::map<Address, std::pair<double, double>> points_;
    Address first_ = 0, last_ = ~Address{0};
};

void add_rows(Collector& collector, const Histogram& histogram) {
    for (const HistogramRow& row : histogram.rows())
        for (std::uint32_t i = 0; i < row.span; ++i)
            collector.add(row.phase, row.address + Address{i} * histogram.unit_bytes(),
                          static_cast<double>(row.count) / row.span);
}

/// What counts of a cache, a TLB or a link ("core-DTLB") are of.
std::string line_text(const RunView& view, const std::string& owner, std::uint32_t bytes) {
    const bool is_tlb = std::ranges::any_of(view.counts.names.tlbs, [&](const std::string& tlb) {
        return owner == tlb || owner.ends_with('-' + tlb) || owner.starts_with(tlb + '-');
    });
    return fmt::format("{} of {} bytes", is_tlb ? "page" : "line", bytes);
}

std::string where_text(const ShowOptions& options) {
    std::string text;
    if (!options.structure.empty()) text += fmt::format(" in {}", options.structure);
    if (!options.phases.all()) text += ", " + options.phases.text();
    return text;
}

/// As figures have it (viewer/figures/figure_data.cpp).
std::string what_of(const ShowOptions& options) { return options.what.empty() ? "misses" : options.what; }

PlotInput of_monitor(const InputFile& file, const RunView& view, const ShowOptions& options) {
    if (!options.what.empty() && options.what != "accesses")
        throw std::invalid_argument(
            fmt::format("a monitor counts events alone; leave '--what {}' out, or '--monitor' for the level's figures",
                        options.what));
    const Histogram histogram = read_monitor_histogram(file.root(), options.monitor);
    Collector collector(options, view, histogram.unit_bytes());
    add_rows(collector, histogram);
    PlotInput plot = collector.finish(false);
    const auto monitor = std::ranges::find(view.monitors, options.monitor, &MonitorSummary::name);
    const std::string link = monitor == view.monitors.end() ? options.monitor : monitor->link;
    plot.title = fmt::format("events per {} as monitor {} counted them{}",
                             line_text(view, link, histogram.unit_bytes()), options.monitor, where_text(options));
    return plot;
}

PlotInput of_writebacks(const InputFile& file, const RunView& view, const ShowOptions& options,
                        const std::string& level) {
    const std::vector<LinkSummary> links = read_links(file.root());
    if (links.empty())
        throw std::invalid_argument(
            fmt::format("{}: write-backs are known where links were counted exactly; this run was made with --no-exact",
                        file.path()));
    const auto below = std::ranges::find(links, level, &LinkSummary::from);
    if (below == links.end()) throw std::invalid_argument(fmt::format("there is no link below '{}'", level));
    const Histogram histogram = read_link_histogram(file.root(), below->name, EventKind::write_back);
    Collector collector(options, view, histogram.unit_bytes());
    add_rows(collector, histogram);
    PlotInput plot = collector.finish(false);
    plot.title = fmt::format("write-backs from {} per {}{}", level, line_text(view, level, histogram.unit_bytes()),
                             where_text(options));
    return plot;
}

PlotInput of_level(const InputFile& file, const RunView& view, const ShowOptions& options, const std::string& level) {
    const std::string what = what_of(options);
    const auto cause = cause_named(what);
    LevelLines lines = read_combined(file.root(), level);
    if (cause) lines = only_cause(std::move(lines), *cause);
    Collector collector(options, view, lines.line_bytes);
    const bool rate = what == "missrate";
    const auto value = [&](std::size_t i) {
        if (what == "hits") return std::max(0.0, lines.accesses[i] - lines.misses[i]);
        return what == "accesses" ? lines.accesses[i] : lines.misses[i];
    };
    for (std::size_t i = 0; i < lines.address.size(); ++i)
        collector.add(lines.phase[i], lines.address[i], value(i), rate ? lines.accesses[i] : 1);
    PlotInput plot = collector.finish(rate);
    const std::string line = line_text(view, level, lines.line_bytes);
    plot.title =
        rate ? fmt::format("miss rate of {}, in % of the accesses{}", level, where_text(options))
             : fmt::format("{} of {} per {}{}", cause ? what + " misses" : what, level, line, where_text(options));
    return plot;
}

/// The first level that was accessed: caches of instructions often are not.
std::string first_busy_level(const StructureTable& table) {
    for (const StructureTable::Level& level : table.levels)
        if (!level.tallies.empty()) return level.name;
    return table.levels.empty() ? "" : table.levels.front().name;
}

bool has_addresses(const RunView& view, const std::string& structure) {
    return std::ranges::find(view.structures.regions, structure, &Region::name) != view.structures.regions.end();
}

/// Of a program also those without addresses of their own, as of the heap: what its references are for, worst first.
std::vector<std::string> structures_of(const RunView& view) {
    std::vector<std::string> names;
    std::set<std::string> known;
    const auto add = [&](const std::string& name) {
        if (known.insert(name).second) names.push_back(name);
    };
    for (const AttributedGroup& group : grouped(view.attribution, Grouping::structure)) add(group.name);
    for (const Region& region : view.structures.regions) add(region.name);
    return names;
}

void check_names(const RunView& view, const ShowOptions& options) {
    std::vector<std::string> levels = view.counts.names.levels;
    levels.insert(levels.end(), view.counts.names.tlbs.begin(), view.counts.names.tlbs.end());
    if (!options.level.empty() && std::ranges::find(levels, options.level) == levels.end())
        throw std::invalid_argument(fmt::format("'--level {}': the machine has no such level; there are: {}",
                                                options.level, fmt::join(levels, ", ")));
    const std::size_t phases = view.counts.run.phases.size();
    if (!options.phases.all() && options.phases.highest() >= phases)
        throw std::invalid_argument(fmt::format("'--phase {}': the run has {} phase{}, numbered from 0",
                                                options.phases.highest(), phases, phases == 1 ? "" : "s"));
    std::vector<std::string> monitors;
    const std::vector<std::string> structures =
        options.structure.empty() ? std::vector<std::string>() : structures_of(view);
    if (!options.structure.empty() && std::ranges::find(structures, options.structure) == structures.end())
        throw std::invalid_argument(
            structures.empty() ? fmt::format("'--structure {}': the run names no data structures", options.structure)
                               : fmt::format("'--structure {}': there is none of that name{}", options.structure,
                                             structure_advice(options.structure, structures)));
    for (const MonitorSummary& monitor : view.monitors) monitors.push_back(monitor.name);
    if (!options.monitor.empty() && std::ranges::find(monitors, options.monitor) == monitors.end())
        throw std::invalid_argument(monitors.empty()
                                        ? fmt::format("'--monitor {}': the run had no monitors", options.monitor)
                                        : fmt::format("'--monitor {}': there is none of that name; there are: {}",
                                                      options.monitor, fmt::join(monitors, ", ")));
}

}  // namespace

std::optional<HistogramView> histogram_view(const InputFile& file, const RunView& view, const ShowOptions& options) {
    check_names(view, options);
    HistogramView histogram;
    histogram.what = options.monitor.empty() ? what_of(options) : "accesses";
    histogram.regions = view.structures.regions;
    if (!options.structure.empty() && !has_addresses(view, options.structure)) {
        if (options.what.empty() && !options.heat) return std::nullopt;
        throw std::invalid_argument(
            fmt::format("'--structure {}': the file does not tell its addresses, so there is no histogram of it; {}",
                        options.structure, "without --what and --heat its tables are shown"));
    }
    if (!options.structure.empty())
        std::erase_if(histogram.regions, [&](const Region& region) { return region.name != options.structure; });
    if (!options.monitor.empty()) {
        histogram.monitor = options.monitor;
        histogram.plot = of_monitor(file, view, options);
        return histogram;
    }
    histogram.level = options.level;
    if (histogram.level.empty()) histogram.level = first_busy_level(view.structures);
    if (histogram.what == "writebacks") {
        if (histogram.level.empty() && !view.counts.names.levels.empty()) histogram.level = view.counts.names.levels[0];
        histogram.plot = of_writebacks(file, view, options, histogram.level);
        return histogram;
    }
    const bool known =
        file.root().has("combined") &&
        std::ranges::any_of(view.structures.levels, [&](const auto& level) { return level.name == histogram.level; });
    if (!known && options.what.empty() && options.structure.empty()) return std::nullopt;
    histogram.plot = of_level(file, view, options, histogram.level);
    return histogram;
}

nlohmann::ordered_json to_json(const HistogramView& histogram) {
    Json addresses = Json::array(), values = Json::array();
    for (const PlotPoint& point : histogram.plot.points) {
        addresses.push_back(point.address);
        if (!histogram.plot.rate) {
            values.push_back(point.value);
        } else {
            values.push_back(point.weight > 0 ? Json(point.value / point.weight) : Json(nullptr));
        }
    }
    Json json = {{"what", histogram.what}, {"line_bytes", histogram.plot.line_bytes}};
    if (!histogram.level.empty()) json["level"] = histogram.level;
    if (!histogram.monitor.empty()) json["monitor"] = histogram.monitor;
    json["addresses"] = std::move(addresses);
    json["values"] = std::move(values);
    return json;
}

namespace {

/// When, by what and how the file was made.
std::string origin(const InputFile& file, unsigned width) {
    if (!file.root().has("provenance")) return "";
    const Provenance provenance = read_provenance(file.root());
    std::string command;
    for (const std::string& word : provenance.command_line)
        command += std::string(command.empty() ? "" : " ") + shell_word(without_controls(word));
    return wrapped(fmt::format("made {} by cachetally {} ({}) on {}:", provenance.utc, provenance.version,
                               provenance.commit, provenance.host),
                   width, 2) +
           "  " + command + '\n';  // in one line, to be run again
}

/// What every run writes that counts exactly and this file has lost, in words.
std::string missing_parts(const InputFile& file, unsigned width) {
    std::string text;
    const Group& root = file.root();
    if (!root.has("structures")) text += "The file has no data structures (/structures): tables are without them.\n";
    const bool some = root.has("structures") && root.open_group("structures").has("levels");
    if (some && !root.has("combined"))
        text += "The file has no lines of levels (/combined): there are no histograms.\n";
    return text.empty() ? "" : wrapped(text, width);
}

std::string show_run(const InputFile& file, const ShowOptions& options) {
    const RunView view = read_run_view(file);
    const bool chosen = !options.level.empty() || !options.structure.empty() || !options.monitor.empty() ||
                        !options.what.empty() || !options.phases.all() || options.heat;
    const std::optional<HistogramView> histogram =
        options.json && !chosen ? std::nullopt : histogram_view(file, view, options);
    if (options.json) {
        nlohmann::ordered_json json = to_json(view);
        if (histogram) json["histogram"] = to_json(*histogram);
        return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
    }
    TextOptions text;
    text.width = options.width;
    text.level = options.level;
    text.structure = options.structure;
    text.phases = options.phases;
    text.all_phases = options.all_phases;
    text.monitors = !options.monitor.empty();
    text.remarks = missing_parts(file, options.width) + origin(file, options.width);
    std::string result = to_text(view, text);
    PlotStyle style;
    style.width = options.width;
    style.unicode = options.unicode;
    if (histogram && options.heat) {
        result += '\n' + draw_heat(histogram->plot, histogram->regions, style);
    } else if (histogram) {
        result += '\n' + draw(histogram->plot, histogram->regions, style);
    }
    return result;
}

void refuse_choices(const InputFile& file, const ShowOptions& options, const std::string& kind) {
    if (options.level.empty() && options.structure.empty() && options.monitor.empty() && options.what.empty() &&
        options.phases.all() && !options.heat)
        return;
    throw std::invalid_argument(
        fmt::format("{}: is of {}: --level, --phase, --structure, --monitor, --what and --heat mean something for runs",
                    file.path(), with_article(kind)));
}

std::string show_sweep(const InputFile& file, const ShowOptions& options) {
    refuse_choices(file, options, "sweep, which has tables alone");
    SweepView view = chosen(read_sweep_view(file), options.places);
    if (options.choice) {
        require_measured(*options.choice, view.timed);
        view.choice = *options.choice;
    }
    return options.json ? to_json(view).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n'
                        : to_text(view, options.width) + '\n' + origin(file, options.width);
}

std::string show_intrusion(const InputFile& file, const ShowOptions& options) {
    refuse_choices(file, options, "intrusion experiment, which has tables alone");
    const IntrusionView view = read_intrusion_view(file);
    return options.json ? to_json(view).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n'
                        : to_text(view, options.width) + '\n' + origin(file, options.width);
}

std::string show_trackers(const InputFile& file, const ShowOptions& options) {
    refuse_choices(file, options, "comparison of trackers, which has a table alone");
    const TrackersView view = read_trackers_view(file);
    return options.json ? to_json(view).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n'
                        : to_text(view, options.width) + origin(file, options.width);
}

std::string show_scores(const InputFile& file, const ShowOptions& options) {
    const ValidationView view = read_validation_view(file);
    return options.json ? to_json(view).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n'
                        : to_text(view, "", options.width) + '\n' + origin(file, options.width);
}

std::string show_campaign(const InputFile& file, const ShowOptions& options) {
    refuse_choices(file, options, "campaign, which has a table alone");
    const CampaignView view = read_campaign_view(file);
    const Pivot pivot = pivot_of(view, options.pivot);
    if (!options.json) return to_text(view, pivot, options.width) + '\n' + origin(file, options.width);
    Json json = to_json(view);
    if (options.pivot.given()) json["pivot"] = to_json(pivot);
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace

std::string show(const InputFile& file, const ShowOptions& options) {
    const std::string kind = result_kind(file);
    if (options.choice && kind != "sweep")
        throw std::invalid_argument(
            fmt::format("{}: is of {}: {} mean something for sweeps", file.path(), with_article(kind),
                        kind == "campaign" ? "--objectives and --tolerance" : "--objectives, --where and --tolerance"));
    if (options.places.given() && kind != "sweep")
        throw std::invalid_argument(
            fmt::format("{}: is of {}: --workload, --link and --settings mean something for sweeps", file.path(),
                        with_article(kind)));
    if (options.pivot.given() && kind != "campaign")
        throw std::invalid_argument(
            fmt::format("{}: is of {}: --rows, --columns and --value mean something for campaigns", file.path(),
                        with_article(kind)));
    if (kind == "run") return show_run(file, options);
    if (kind == "sweep") return show_sweep(file, options);
    if (kind == "campaign") return show_campaign(file, options);
    if (kind == "intrusion") return show_intrusion(file, options);
    if (kind == "trackers") return show_trackers(file, options);
    if (kind == "probe") {
        refuse_choices(file, options, "probe, which has findings and curves");
        return show_probe(file, options) + (options.json ? "" : '\n' + origin(file, options.width));
    }
    if (kind == "validate") {
        refuse_choices(file, options, "validation of probes, which has scores alone");
        return show_scores(file, options);
    }
    throw StorageError("{}: is of the unknown kind '{}'; use a newer cachetally", file.path(), kind);
}

}  // namespace cachetally

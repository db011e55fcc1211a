// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/show.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "storage/provenance.hpp"
#include "viewer/campaign_view.hpp"
#include "viewer/histogram_view.hpp"
#include "viewer/intrusion_view.hpp"
#include "viewer/probe_text.hpp"
#include "viewer/sweep_view.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

/// A word as a shell takes it.
std::string shell_word(std::string_view word) {
    constexpr std::string_view harmless("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-");
    if (!word.empty() && word.find_first_not_of(harmless) == std::string_view::npos) return std::string(word);
    std::string text = "'";
    for (const char character : word) text += character == '\'' ? std::string("'\\''") : std::string(1, character);
    return without_controls(text) + "'";
}

/// When, by what and how the file was made.
std::string origin(const InputFile& file, unsigned width) {
    if (!file.root().has("provenance")) return "";
    const Provenance provenance = read_provenance(file.root());
    std::string command;
    for (const std::string& word : provenance.command_line)
        command += std::string(command.empty() ? "" : " ") + shell_word(word);
    return '\n' +
           wrapped(fmt::format("made {} by cachetally {} ({}) on {}:", provenance.utc, provenance.version,
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
    return text.empty() ? "" : '\n' + wrapped(text, width);
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
    std::string result = to_text(view, text);
    PlotStyle style;
    style.width = options.width;
    style.unicode = options.unicode;
    if (histogram && options.heat) {
        result += '\n' + draw_heat(histogram->plot, histogram->regions, style);
    } else if (histogram) {
        result += '\n' + draw(histogram->plot, histogram->regions, style);
    }
    result += missing_parts(file, options.width);
    return result + origin(file, options.width);
}

void refuse_choices(const InputFile& file, const ShowOptions& options, const std::string& kind) {
    if (options.level.empty() && options.structure.empty() && options.monitor.empty() && options.what.empty() &&
        options.phases.all() && !options.heat)
        return;
    throw std::invalid_argument(
        fmt::format("{}: is of a {}: --level, --phase, --structure, --monitor, --what and --heat mean something for "
                    "runs",
                    file.path(), kind));
}

std::string show_sweep(const InputFile& file, const ShowOptions& options) {
    refuse_choices(file, options, "sweep, which has tables alone");
    const SweepView view = read_sweep_view(file);
    return options.json ? to_json(view).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n'
                        : to_text(view, options.width) + origin(file, options.width);
}

std::string show_intrusion(const InputFile& file, const ShowOptions& options) {
    refuse_choices(file, options, "intrusion experiment, which has tables alone");
    const IntrusionView view = read_intrusion_view(file);
    return options.json ? to_json(view).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n'
                        : to_text(view, options.width) + origin(file, options.width);
}

std::string show_campaign(const InputFile& file, const ShowOptions& options) {
    const CampaignView view = read_campaign_view(file);
    return options.json ? to_json(view).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n'
                        : to_text(view, "", options.width) + origin(file, options.width);
}

}  // namespace

std::string show(const InputFile& file, const ShowOptions& options) {
    const std::string kind = result_kind(file);
    if (kind == "run") return show_run(file, options);
    if (kind == "sweep") return show_sweep(file, options);
    if (kind == "intrusion") return show_intrusion(file, options);
    if (kind == "probe") {
        refuse_choices(file, options, "probe, which has findings and curves");
        return show_probe(file, options) + (options.json ? "" : origin(file, options.width));
    }
    if (kind == "validate") {
        refuse_choices(file, options, "campaign, which has scores alone");
        return show_campaign(file, options);
    }
    throw StorageError(fmt::format("{}: is of the unknown kind '{}'; use a newer cachetally", file.path(), kind));
}

}  // namespace cachetally

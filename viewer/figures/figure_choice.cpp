// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/figures/figure_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "base/phase_list.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "monitor/result_file.hpp"
#include "sim/engine/result_file.hpp"
#include "viewer/structure_advice.hpp"

namespace cachetally {
namespace {

std::vector<std::string> parts_of(const std::string& text, char between) {
    std::vector<std::string> parts{""};
    for (const char letter : text) {
        if (letter == between)
            parts.emplace_back();
        else
            parts.back() += letter;
    }
    return parts;
}

std::vector<std::string> level_names(const InputFile& file) {
    const Group& root = file.root();
    if (root.has("combined")) return root.open_group("combined").texts_attribute("names");
    if (root.has("levels"))  // of a run
        throw StorageError(
            "{}: no histograms of levels are in the file: its links were not counted exactly (--no-exact), and its "
            "monitors do not show both sides of a level; run it without --no-exact, or look at what a monitor gave "
            "with cachetally view or show --monitor NAME",
            file.path());
    throw StorageError(
        "{}: no histograms of levels are in the file; the kinds sweep, curves and intrusion are for what sweep, probe "
        "and intrusion write",
        file.path());
}

std::vector<std::string> phase_names_in(const InputFile& file) {
    return file.root().has("phases") ? read_phase_names(file.root().open_group("phases")) : std::vector<std::string>{};
}

/// The lines that reach into a range.
LevelLines within(const LevelLines& lines, ByteRange range) {
    LevelLines kept;
    kept.level = lines.level;
    kept.line_bytes = lines.line_bytes;
    for (std::size_t i = 0; i < lines.address.size(); ++i) {
        if (lines.address[i] > range.last || lines.address[i] + (lines.line_bytes - 1) < range.first) continue;
        kept.phase.push_back(lines.phase[i]);
        kept.address.push_back(lines.address[i]);
        kept.accesses.push_back(lines.accesses[i]);
        kept.misses.push_back(lines.misses[i]);
    }
    return kept;
}

/// Misses are those of the cause that is shown, if one is.
LevelLines level_in(const InputFile& file, const FigureRequest& request, const std::string& name) {
    const std::vector<std::string> names = level_names(file);
    if (std::ranges::find(names, name) == names.end())
        throw StorageError("{}: there is no level '{}'; there are: {}", file.path(), name, fmt::join(names, ", "));
    LevelLines lines = read_combined(file.root(), name);
    try {
        if (const auto cause = cause_named(option_of(request, "--what"))) lines = only_cause(std::move(lines), *cause);
    } catch (const std::invalid_argument& error) {
        throw StorageError("{}: {}", file.path(), error.what());
    }
    const std::string structure = option_of(request, "--structure");
    return structure.empty() ? lines : within(lines, named_range(file, structure));
}

/// Without reading its rows where all of them count.
bool is_busy(const InputFile& file, const FigureRequest& request, const std::string& name) {
    const Group level = file.root().open_group("combined").open_group(name);
    const std::string what = option_of(request, "--what");
    if (cause_named(what) && !level.has(what)) return false;
    if (!option_of(request, "--structure").empty()) return !level_in(file, request, name).address.empty();
    return level.open_dataset("address").rows() > 0;
}

}  // namespace

std::string option_of(const FigureRequest& request, std::string_view name) {
    for (const std::string& option : request.options)
        if (option.starts_with(name) && option.substr(name.size()).starts_with('='))
            return option.substr(name.size() + 1);
    return "";
}

bool has_flag(const FigureRequest& request, std::string_view name) {
    return std::ranges::find(request.options, name) != request.options.end();
}

std::vector<Region> drawn_structures(const InputFile& file) {
    if (!file.root().has("structures")) return {};
    std::vector<Region> found = read_structures(file.root()).regions;
    std::erase_if(found, [](const Region& region) { return region.bytes == 0; });
    return found;
}

ByteRange named_range(const InputFile& file, const std::string& name) {
    const std::vector<Region> structures = drawn_structures(file);
    // names of libraries' structures have colons, too: the longest that the text begins with
    const Region* found = nullptr;
    for (const Region& each : structures)
        if ((name == each.name || name.starts_with(each.name + ':')) &&
            (!found || each.name.size() > found->name.size()))
            found = &each;
    if (!found)
        throw StorageError("{}: there is no data structure '{}'{}", file.path(), name,
                           structure_advice(name, names_of(structures)));
    if (name == found->name) return {found->base, found->base + (found->bytes - 1)};
    const std::vector<std::string> parts = parts_of(name.substr(found->name.size() + 1), ':');
    const auto offset = parts.size() == 2 ? parse_number(parts[0]) : std::nullopt;
    const auto bytes = parts.size() == 2 ? parse_number(parts[1]) : std::nullopt;
    if (!offset || !bytes)
        throw StorageError("'{}' is no part of a structure; write e.g. {}:0:4096 (offset and bytes)", name,
                           found->name);
    if (*bytes == 0 || *offset >= found->bytes || *bytes > found->bytes - *offset)
        throw StorageError("{} has {} bytes; {} from {} are not all in it", found->name, found->bytes, *bytes, *offset);
    return {found->base + *offset, found->base + *offset + (*bytes - 1)};
}

std::uint32_t phases_of(const InputFile& file) {
    if (file.root().has("phases"))
        return static_cast<std::uint32_t>(file.root().open_group("phases").open_dataset("name").rows());
    std::uint32_t count = 1;
    for (const std::string& name : file.root().has("combined") ? level_names(file) : std::vector<std::string>{}) {
        const auto phases = read_combined(file.root(), name).phase;
        if (!phases.empty()) count = std::max(count, *std::ranges::max_element(phases) + 1);
    }
    return count;
}

std::vector<std::uint32_t> phases_in(const InputFile& file, const std::string& text) {
    std::vector<std::string> names = phase_names_in(file);
    names.resize(phases_of(file));  // files of other programs may lack them
    try {
        return listed_phases(text, names);
    } catch (const std::invalid_argument& error) {
        throw StorageError("{}: phases '{}': {}", file.path(), shown(text), error.what());
    }
}

std::vector<std::string> busy_levels(const InputFile& file, const FigureRequest& request) {
    std::vector<std::string> busy;
    for (const std::string& name : level_names(file))
        if (is_busy(file, request, name)) busy.push_back(name);
    return busy;
}

std::vector<LevelLines> chosen_levels(const InputFile& file, const FigureRequest& request) {
    const std::string level = option_of(request, "--level"), structure = option_of(request, "--structure");
    const std::string where = structure.empty() ? "" : " in " + structure;
    const bool several = request.kind == "histogram";
    const std::vector<std::string> names = level.empty() ? level_names(file)
                                           : several     ? parts_of(level, ',')
                                                         : std::vector{level};
    std::vector<LevelLines> found;
    for (const std::string& name : names) {
        if (level.empty() && !is_busy(file, request, name)) continue;
        LevelLines lines = level_in(file, request, name);
        if (!lines.address.empty()) {
            found.push_back(std::move(lines));
        } else if (!level.empty()) {
            const std::vector<std::string> others = busy_levels(file, request);
            throw StorageError("{}: {} has no accesses{}; there are some of: {}", file.path(), name, where,
                               others.empty() ? "none" : fmt::format("{}", fmt::join(others, ", ")));
        }
        if (!several && !found.empty()) break;
    }
    if (found.empty())
        throw StorageError(
            "{}: no level has {}{}", file.path(),
            cause_named(option_of(request, "--what")) ? "causes of misses by line (made with --causes)" : "accesses",
            where);
    return found;
}

}  // namespace cachetally

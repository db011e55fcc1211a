// SPDX-License-Identifier: BSD-3-Clause
// Result files of runs, read.
#include <fmt/format.h>

#include <algorithm>

#include "monitor/attribution/attribution_file.hpp"
#include "monitor/causes/causes_file.hpp"
#include "monitor/causes/sharing_file.hpp"
#include "monitor/listeners/listener_file.hpp"
#include "monitor/reuse/reuse_file.hpp"
#include "storage/provenance.hpp"
#include "viewer/run_view.hpp"

namespace cachetally {
namespace {

std::optional<Check> read_check(const Group& root) {
    if (!root.has("check")) return std::nullopt;
    const Group group = root.open_group("check");
    return Check{group.whole_attribute("passed") != 0, group.text_attribute("meaning"),
                 group.real_attribute("residual"), group.real_attribute("bound")};
}

/// Older files: by links, where these are there.
std::vector<std::string> read_first_levels(const Group& root, const std::vector<std::string>& levels) {
    const Group all = root.open_group("levels");
    if (all.has_attribute("first")) return all.texts_attribute("first");
    const std::vector<LinkSummary> links = read_links(root);
    std::vector<std::string> first;
    for (const std::string& level : levels)
        if (std::ranges::any_of(links, [&](const auto& link) { return link.to == level && link.from == "core"; }))
            first.push_back(level);
    return first.empty() && !levels.empty() ? std::vector{levels.front()} : first;
}

}  // namespace

std::string result_kind(const InputFile& file) {
    const Group& root = file.root();
    const std::string format = root.has_attribute("format") ? root.text_attribute("format") : "";
    if (format.empty() && root.has("trace"))
        throw StorageError(
            fmt::format("{}: is a trace, not a result of cachetally; 'cachetally replay' runs it, and "
                        "'cachetally trace info' describes it",
                        file.path()));
    if (format != result_format)
        throw StorageError(
            fmt::format("{}: is an HDF5 file, but not a result of cachetally{}; give what run, replay, sweep, "
                        "intrusion or probe wrote with -o FILE.h5",
                        file.path(), format.empty() ? "" : fmt::format(" (its format is '{}')", format)));
    const std::uint64_t version = root.whole_attribute("format_version");
    if (version != result_format_version)
        throw StorageError(fmt::format("{}: has version {} of the format, and this program reads version {}; {}",
                                       file.path(), version, result_format_version,
                                       version > result_format_version ? "use a newer cachetally" : "make it anew"));
    return root.text_attribute("kind");
}

std::string with_article(std::string_view kind) {
    if (kind == "trackers") return std::string(kind);
    return fmt::format("{} {}", kind.starts_with('i') ? "an" : "a", kind);
}

RunTitle read_title(const InputFile& file) {
    const Group& root = file.root();
    RunTitle title;
    title.complete = root.whole_attribute("complete") != 0;
    if (!title.complete) title.incomplete = root.text_attribute("incomplete");
    const Group input = root.open_group("input");
    title.input = input.text_attribute("name");
    if (input.has("settings")) title.settings = input.read_texts("settings");
    if (input.has_attribute("count")) title.count = input.whole_attribute("count");
    title.cut = input.has_attribute("cut") && input.whole_attribute("cut") != 0;
    if (input.has_attribute("warmup")) title.warmup = input.whole_attribute("warmup");
    if (input.has_attribute("failure")) title.failure = input.text_attribute("failure");
    if (input.has_attribute("text_lines"))
        title.lines = TextLines{input.whole_attribute("text_lines"), input.whole_attribute("text_lines_skipped")};
    title.machine = root.open_group("machine").text_attribute("name");
    return title;
}

RunView read_run_view(const InputFile& file) {
    const Group& root = file.root();
    RunView view;
    view.title = read_title(file);
    view.counts = read_run(root);
    view.counts.run.complete = view.title.complete;
    view.counts.run.failure = view.title.failure;
    view.first_levels = read_first_levels(root, view.counts.names.levels);
    if (const Group all = root.open_group("levels"); all.has_attribute("hidden"))
        view.hidden_levels = all.texts_attribute("hidden");
    view.monitors = read_monitors(root);
    if (root.has("monitors")) {
        const Group monitors = root.open_group("monitors");
        view.monitors_asked = !monitors.has_attribute("asked") || monitors.whole_attribute("asked") != 0;
    }
    if (root.has("structures")) view.structures = read_structures(root);
    view.attribution = read_attribution(root);
    view.sharing = read_sharing(root);
    view.cores = read_level_cores(root, view.structures.regions.size());
    view.reuse = read_reuse(root);
    view.listeners = read_listeners(root);
    view.causes = read_causes(root, view.structures.regions.size());
    if (root.has("functions")) view.functions = root.open_group("functions").read_texts("name");
    view.check = read_check(root);
    if (root.has("provenance")) view.execution = read_provenance(root).execution;
    return view;
}

}  // namespace cachetally

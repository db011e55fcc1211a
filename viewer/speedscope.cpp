// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

#include "base/text.hpp"
#include "viewer/annotate.hpp"

namespace cachetally {
namespace {

using Json = nlohmann::ordered_json;

/// Frames by their name, file and line.
class Frames {
public:
    std::size_t operator()(const std::string& name, const CodePlace* place = nullptr) {
        const std::string shown_name = without_controls(name);
        const std::string file = place != nullptr ? place->file : "";
        const std::uint32_t line = place != nullptr ? place->line : 0;
        const auto [found, is_new] = numbers_.try_emplace({shown_name, file, line}, all_.size());
        if (is_new) {
            Json& frame = all_.emplace_back(Json{{"name", shown_name}});
            if (!file.empty()) frame["file"] = without_controls(file);
            if (line != 0) frame["line"] = line;
        }
        return found->second;
    }
    const Json& all() const { return all_; }

private:
    std::map<std::tuple<std::string, std::string, std::uint32_t>, std::size_t> numbers_;
    Json all_ = Json::array();
};

/// The outermost first: module, function, source line, data structure, field.
std::vector<std::size_t> stack_of(const Attribution& attribution, const Site& site, Frames& frames) {
    const CodePlace& place = attribution.names.code[site.code];
    const std::string function = place.function.empty() ? "(not known)" : place.function;
    std::vector<std::size_t> stack{frames(place.module.empty() ? "(not known)" : place.module), frames(function)};
    if (place.line != 0)
        stack.push_back(
            frames(place.file.substr(place.file.rfind('/') + 1) + ":" + std::to_string(place.line), &place));
    if (site.object != 0) stack.push_back(frames(attribution.names.objects[site.object]));
    if (site.field != 0) stack.push_back(frames(attribution.names.fields.at(site.field)));
    return stack;
}

}  // namespace

std::string speedscope_profile(const Attribution& attribution, const std::string& program) {
    require_attribution(attribution);
    Frames frames;
    Json profiles = Json::array();
    const auto add = [&](const std::string& name, const auto& count) {
        std::map<std::vector<std::size_t>, std::uint64_t> weights;
        std::uint64_t all = 0;
        for (const Attribution::Row& row : attribution.rows) {
            if (count(row) == 0) continue;
            weights[stack_of(attribution, attribution.sites[row.site], frames)] += count(row);
            all += count(row);
        }
        if (all == 0) return;
        Json samples = Json::array(), values = Json::array();
        for (const auto& [stack, weight] : weights) {
            samples.push_back(stack);
            values.push_back(weight);
        }
        profiles.push_back({{"type", "sampled"},
                            {"name", name},
                            {"unit", "none"},
                            {"startValue", 0},
                            {"endValue", all},
                            {"samples", samples},
                            {"weights", values}});
    };
    add("cycles lost", [](const auto& row) { return row.cycles; });
    for (std::size_t level = 0; level < attribution.levels.size(); ++level)
        add(attribution.levels[level] + " misses", [level](const auto& row) { return row.misses[level]; });
    add("accesses", [](const auto& row) { return row.accesses; });
    const Json file = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                       {"name", without_controls(program)},
                       {"exporter", "cachetally"},
                       {"activeProfileIndex", 0},
                       {"shared", {{"frames", frames.all()}}},
                       {"profiles", profiles}};
    return file.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace cachetally

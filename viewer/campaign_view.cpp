// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/campaign_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "probes/validation/campaign_file.hpp"
#include "storage/provenance.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

using Json = nlohmann::ordered_json;

std::span<const Failure> reported_failures(const CampaignView& view) {
    return std::span(view.result.failures).first(std::min(view.worst, view.result.failures.size()));
}

double percent_of(std::uint64_t part, const Score& score) {
    const std::uint64_t all = score.right + score.wrong + score.not_identifiable;
    return all == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

Json to_json(const CampaignView& view) {
    Json summary = Json::array(), worst = Json::array();
    for (const Score& score : view.result.scores)
        summary.push_back({{"test", score.test},
                           {"variant", score.variant},
                           {"parameter", score.parameter},
                           {"right", score.right},
                           {"wrong", score.wrong},
                           {"not_identifiable", score.not_identifiable}});
    for (const Failure& failure : reported_failures(view))
        worst.push_back({{"machine", failure.machine},
                         {"wrong", failure.wrong},
                         {"not_identifiable", failure.not_identifiable},
                         {"findings", failure.wrong_findings},
                         {"replay", failure.replay}});
    Json json{{"machines", view.result.machines},
              {"complete", view.incomplete.empty()},
              {"seed", view.seed},
              {"noise", view.noise},
              {"references", view.result.cost.references},
              {"references_simulated", view.result.cost.simulated},
              {"summary", summary},
              {"worst", worst}};
    if (!view.left_out.empty()) json["left_out"] = view.left_out;
    return json;
}

std::string to_text(const CampaignView& view, const std::string& took, unsigned width) {
    std::string text = wrapped(fmt::format("{} machines, seed {}, noise {}{}", view.result.machines, view.seed,
                                           view.noise, took.empty() ? "" : ": " + took),
                               width, 2);
    if (!view.incomplete.empty()) text += wrapped(fmt::format("PARTIAL: {}", view.incomplete), width, 2);
    text += (view.left_out.empty() ? "" : wrapped(view.left_out, width, 2)) + '\n';
    constexpr auto left = TextTable::Align::left;
    TextTable table({{"test", left},
                     {"parameter", left},
                     {"variant", left},
                     {"right"},
                     {"wrong"},
                     {"not id."},
                     {"right %"},
                     {"wrong %"}},
                    3);
    for (const Score& score : view.result.scores)
        table.add({score.test, score.parameter, score.variant, count_cell(score.right), count_cell(score.wrong),
                   count_cell(score.not_identifiable), fmt::format("{:.1f}", percent_of(score.right, score)),
                   fmt::format("{:.1f}", percent_of(score.wrong, score))});
    text += table.text(width);
    if (!view.result.failures.empty()) {
        const bool repeated = !view.result.failures.front().replay.empty();
        text += fmt::format("\nworst machines{}:\n",
                            repeated ? ", and what repeats each from the file that --worst writes" : "");
    }
    for (const Failure& failure : reported_failures(view)) {
        std::string line = fmt::format("  {:>5}: {} wrong, {} not identifiable", failure.machine, failure.wrong,
                                       failure.not_identifiable);
        for (const std::string& finding : failure.wrong_findings) line += "; " + finding;
        text += wrapped(line, width, 9);
        if (!failure.replay.empty()) text += "         " + failure.replay + '\n';  // whole: it is to be copied
    }
    return text;
}

void write_campaign_view(Group& root, const CampaignView& view) {
    root.set_attribute("noise", view.noise);
    root.set_attribute("seed", view.seed);
    root.set_attribute("references", view.result.cost.references);
    root.set_attribute("references_simulated", view.result.cost.simulated);
    if (!view.left_out.empty()) root.set_attribute("left_out", view.left_out);
    write_campaign(root, view.result);
}

CampaignView read_campaign_view(const InputFile& file) {
    const Group& root = file.root();
    CampaignView view;
    view.result = read_campaign(root);
    view.noise = root.text_attribute("noise");
    // the first versions had the seed among the provenance alone, and no costs
    view.seed = root.has_attribute("seed") ? root.whole_attribute("seed") : read_provenance(root).seed;
    if (root.has_attribute("references")) {
        view.result.cost.references = root.whole_attribute("references");
        view.result.cost.simulated = root.whole_attribute("references_simulated");
    }
    if (root.whole_attribute("complete") == 0) view.incomplete = root.text_attribute("incomplete");
    if (root.has_attribute("left_out")) view.left_out = root.text_attribute("left_out");
    return view;
}

}  // namespace cachetally

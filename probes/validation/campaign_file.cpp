// SPDX-License-Identifier: BSD-3-Clause
#include "probes/validation/campaign_file.hpp"

#include <fmt/format.h>

#include "probes/probe_file.hpp"
#include "storage/axes.hpp"
#include "storage/columns.hpp"

namespace cachetally {
namespace {

constexpr std::string_view between_findings = "; ";

std::vector<std::string> split_findings(std::string_view text) {
    std::vector<std::string> findings;
    while (!text.empty()) {
        const std::size_t end = text.find(between_findings);
        findings.emplace_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + between_findings.size());
    }
    return findings;
}

std::vector<std::string> text_column(const Group& group, const std::string& name, std::size_t rows) {
    std::vector<std::string> texts = group.read_texts(name);
    if (texts.size() != rows)
        throw StorageError(fmt::format("{}: columns of different lengths; the file is damaged", group.where()));
    return texts;
}

}  // namespace

void write_campaign(Group& root, const CampaignResult& result) {
    Group summary = root.create_group("summary");
    set_nexus_class(summary, "NXcollection");
    summary.set_attribute("machines", result.machines);
    summary.write_texts("test", column_of(result.scores, &Score::test));
    summary.write_texts("variant", column_of(result.scores, &Score::variant));
    summary.write_texts("parameter", column_of(result.scores, &Score::parameter));
    summary.write("right", column_of(result.scores, &Score::right));
    summary.write("wrong", column_of(result.scores, &Score::wrong));
    summary.write("not_identifiable", column_of(result.scores, &Score::not_identifiable));
    number_rows(summary, "row", result.scores.size());

    Group worst = root.create_group("worst");
    set_nexus_class(worst, "NXcollection");
    worst.write("machine", column_of(result.failures, &Failure::machine));
    worst.write("wrong", column_of(result.failures, &Failure::wrong));
    worst.write("not_identifiable", column_of(result.failures, &Failure::not_identifiable));
    worst.write_texts("findings", column_of(result.failures, [](const Failure& failure) {
                          return fmt::format("{}", fmt::join(failure.wrong_findings, between_findings));
                      }));
    worst.write_texts("replay", column_of(result.failures, &Failure::replay));
    number_rows(worst, "row", result.failures.size());
}

CampaignResult read_campaign(const Group& root) {
    CampaignResult result;
    const Group summary = root.open_group("summary");
    result.machines = summary.whole_attribute("machines");
    const auto tests = summary.read_texts("test");
    const auto variants = text_column(summary, "variant", tests.size()),
               parameters = text_column(summary, "parameter", tests.size());
    const auto column = [](const Group& group, const char* name, std::size_t rows) {
        return read_column<std::uint64_t>(group, name, rows);
    };
    const auto right = column(summary, "right", tests.size()), wrong = column(summary, "wrong", tests.size()),
               none = column(summary, "not_identifiable", tests.size());
    for (std::size_t i = 0; i < tests.size(); ++i)
        result.scores.push_back({tests[i], current_variant(variants[i]), parameters[i], right[i], wrong[i], none[i]});
    const Group worst = root.open_group("worst");
    const auto findings = worst.read_texts("findings");
    const auto machines = column(worst, "machine", findings.size()),
               their_wrong = column(worst, "wrong", findings.size()),
               their_none = column(worst, "not_identifiable", findings.size());
    // the first versions did not say how to repeat one
    const auto replays =
        worst.has("replay") ? text_column(worst, "replay", findings.size()) : std::vector<std::string>(findings.size());
    for (std::size_t i = 0; i < findings.size(); ++i)
        result.failures.push_back(
            {machines[i], their_wrong[i], their_none[i], split_findings(findings[i]), replays[i]});
    return result;
}

}  // namespace cachetally

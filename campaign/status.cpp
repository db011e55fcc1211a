// SPDX-License-Identifier: BSD-3-Clause
#include "campaign/status.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "base/text.hpp"
#include "campaign/slurm.hpp"

namespace cachetally {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_reasons = 20, pace_of = 100;

/// Each reason once, with the first point of it.
void add_failure(std::vector<FailureReason>& reasons, PointFailure failure) {
    const auto known = std::ranges::find(reasons, failure.error, &FailureReason::error);
    if (known != reasons.end()) {
        ++known->items;
    } else if (reasons.size() < most_reasons) {
        reasons.push_back({failure.item, 1, std::move(failure.error)});
    }
}

std::string failures_in_words(const CampaignStatus& status, const std::string& noun) {
    std::string text;
    std::uint64_t told = 0;
    for (const FailureReason& reason : status.failures) {
        told += reason.items;
        text += reason.items == 1 ? fmt::format("  {} {} failed: {}\n", noun, reason.first, reason.error)
                                  : fmt::format("  {} failed, {} {} first: {}\n", numbered(reason.items, noun), noun,
                                                reason.first, reason.error);
    }
    if (status.failed > told) text += fmt::format("  ... and {} more (errors.log)\n", status.failed - told);
    return text;
}

struct Ended {
    fs::file_time_type time;
    std::uint64_t items;
};

/// Seconds for so many items at the pace of the last bundles.
std::optional<double> time_for(std::uint64_t items, std::vector<Ended> ended) {
    if (ended.size() < 2) return std::nullopt;
    std::ranges::sort(ended, {}, &Ended::time);
    if (ended.size() > pace_of) ended.erase(ended.begin(), ended.end() - pace_of);
    std::uint64_t sum = 0;
    for (std::size_t i = 1; i < ended.size(); ++i) sum += ended[i].items;
    const double seconds = std::chrono::duration<double>(ended.back().time - ended.front().time).count();
    return seconds * static_cast<double>(items) / static_cast<double>(sum);
}

}  // namespace

CampaignStatus status_of(const CampaignFolder& folder) {
    const Manifest& manifest = folder.manifest();
    CampaignStatus status;
    status.name = manifest.name;
    status.kind = manifest.kind;
    status.noun = manifest.noun();
    status.program = manifest.program;
    status.items = manifest.items;
    status.bundles = manifest.count();
    status.cancelled = folder.is_cancelled();
    status.jobs = submitted_jobs(folder);
    std::vector<Ended> ended;
    for (std::uint64_t bundle = 0; bundle < manifest.count(); ++bundle) {
        const std::uint64_t items = manifest.end(bundle) - manifest.first(bundle);
        if (const auto owner = BundleLock::owner(folder.running(bundle))) {
            status.workers.push_back(*owner);
            status.running += items;
        }
        std::error_code error;
        const auto time = fs::last_write_time(folder.bundle(bundle), error);
        if (error) continue;
        ++status.bundles_done;
        ended.push_back({time, items});
        std::vector<PointFailure> failures;
        try {
            failures = folder.failures(bundle);
        } catch (const StorageError&) {  // it is set aside when the campaign goes on
            --status.bundles_done;
            ended.pop_back();
            continue;
        }
        status.done += items - failures.size();
        status.failed += failures.size();
        for (PointFailure& failure : failures) add_failure(status.failures, std::move(failure));
    }
    const std::uint64_t left = status.items - status.done - status.failed;
    if (left != 0 && !status.workers.empty()) status.seconds_left = time_for(left, std::move(ended));
    return status;
}

nlohmann::ordered_json to_json(const CampaignStatus& status) {
    nlohmann::ordered_json failures = nlohmann::ordered_json::array();
    for (const FailureReason& failure : status.failures)
        failures.push_back({{"first", failure.first}, {"items", failure.items}, {"error", failure.error}});
    nlohmann::ordered_json json{
        {"name", status.name},       {"kind", status.kind},       {"program", status.program},
        {"items", status.items},     {"done", status.done},       {"failed", status.failed},
        {"running", status.running}, {"bundles", status.bundles}, {"bundles_done", status.bundles_done},
        {"workers", status.workers}, {"seconds_left", nullptr},   {"cancelled", status.cancelled},
        {"jobs", status.jobs},       {"failures", failures}};
    if (status.seconds_left) json["seconds_left"] = std::round(*status.seconds_left * 10) / 10;
    return json;
}

std::string to_text(const CampaignStatus& status) {
    const std::string& noun = status.noun;
    std::string text = fmt::format("{}: {}, {} done, {} failed, {} running ({} of {} done)\n", status.name,
                                   numbered(status.items, noun), status.done, status.failed, status.running,
                                   status.bundles_done, numbered(status.bundles, "bundle"));
    const std::uint64_t left = status.items - status.done - status.failed;
    if (left == 0 && status.failed == 0) {
        text += "all is done\n";
    } else if (left == 0 && status.workers.empty()) {
        text += "all others are done; 'cachetally campaign resume' tries those that failed again\n";
    } else if (status.cancelled) {
        text += "cancelled; 'cachetally campaign resume' goes on\n";
    } else if (status.workers.empty() && !status.jobs.empty()) {
        text += "nobody works on it now; if its Slurm jobs are over (squeue), 'cachetally campaign resume' goes on\n";
    } else if (status.workers.empty()) {
        text += "nobody works on it; 'cachetally campaign resume' goes on\n";
    } else if (status.seconds_left) {
        text += fmt::format("about {:.0f} s left at the pace of the last bundles\n", *status.seconds_left);
    } else {
        text += "time left: not known before the second bundle\n";
    }
    for (const std::string& worker : status.workers) text += "  working: " + worker + "\n";
    if (!status.jobs.empty()) text += fmt::format("  Slurm jobs: {}\n", fmt::join(status.jobs, ", "));
    return text + failures_in_words(status, noun);
}

}  // namespace cachetally

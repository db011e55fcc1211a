// SPDX-License-Identifier: BSD-3-Clause
// cachetally campaign: grids of points in a folder, by processes here, by hand on several machines, or on Slurm.
#include <fmt/format.h>

#include <filesystem>

#include "app/campaign_work.hpp"
#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/output.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "campaign/status.hpp"

namespace cachetally::app {
namespace {

struct CampaignArguments {
    std::string file;
    CampaignWork work;
    std::uint64_t points_per_bundle = 0;
    bool json = false, partial = false;
    OutputOptions output;
};

void describe_points(const Manifest& manifest) {
    print("{}: {} in {}\n", manifest.name, numbered(manifest.items, "point"), numbered(manifest.count(), "bundle"));
    const std::shared_ptr<const Grid> grid = grid_of(manifest);
    constexpr std::uint64_t shown_points = 10;
    for (std::uint64_t point = 0; point < std::min(shown_points, grid->points()); ++point) {
        const Grid::Place place = grid->place(point);
        std::string line = fmt::format("  {}: {} on {}", point, grid->workload_name(place), grid->machine_name(place));
        const std::vector<std::string> values = grid->values(place);
        for (std::size_t i = 0; i < values.size(); ++i)
            if (!values[i].empty()) line += fmt::format(", {}={}", grid->parameters()[i].name, values[i]);
        if (!grid->file().seeds.empty()) line += fmt::format(", seed={}", grid->seed(place));
        print("{}\n", line);
    }
    if (grid->points() > shown_points) print("  ... and {} more\n", grid->points() - shown_points);
}

void begin_points(CampaignArguments& options) {
    const Manifest manifest = points_manifest(options.file, options.points_per_bundle);
    if (options.work.folder.empty())
        options.work.folder = std::filesystem::path(options.file).stem().string() + ".campaign";
    if (options.work.dry_run && !options.work.slurm) return describe_points(manifest);
    begin_campaign(manifest, options.work);
}

void resume_campaign(CampaignArguments& options) {
    const CampaignFolder folder(options.work.folder);
    options.work.retry = true;
    if (options.work.dry_run && options.work.slurm)
        return print_scripts(folder.path(), folder.manifest(), options.work);
    if (options.work.dry_run) return print_lines(to_text(status_of(folder)));
    if (options.work.slurm) require_none_queued(folder);
    folder.go_on();
    work_on(folder, options.work);
}

void cancel_campaign(const CampaignArguments& options) {
    const CampaignFolder folder(options.work.folder);
    if (status_of(folder).done == folder.manifest().items)
        return print("{}: all is done, there is nothing to cancel\n", folder.manifest().name);
    folder.cancel();
    cancel_jobs(folder);
    print("{}: cancelled; what is done is kept\n", folder.manifest().name);
}

CLI::Option* add_folder(CLI::App& command, CampaignArguments& options) {
    return command.add_option("FOLDER", options.work.folder, "The folder of a campaign")->required();
}

void add_campaign_run(CLI::App& campaign, const std::shared_ptr<CampaignArguments>& options) {
    CLI::App* command = campaign.add_subcommand("run", "Begin a campaign, or go on with it, and merge its results");
    command->add_option("FILE", options->file, "A campaign file (YAML; docs/campaigns.md)")->required();
    add_text_option(*command, "--folder", options->work.folder, "Where its results gather; default: FILE.campaign here",
                    "FOLDER", "the name of a folder");
    add_work_options(*command, options->work);
    command
        ->add_option("--points-per-bundle", options->points_per_bundle,
                     "Points in one file, which are lost together where their process is killed [default: 1 to "
                     "1000, so that there are 400 files]")
        ->transform(whole_number(1, 1'000'000));
    add_slurm_options(*command, options->work);
    command->footer(
        "Examples:\n"
        "  cachetally campaign run counters.yaml --jobs 8\n"
        "  cachetally campaign run counters.yaml --shard 1/4      on each of four machines\n"
        "  cachetally campaign run counters.yaml --slurm --tasks 50 --time 1:00:00 --memory 2G\n"
        "  cachetally campaign run counters.yaml --dry-run");
    command->callback([options] { begin_points(*options); });
}

}  // namespace

void add_campaign(CLI::App& app) {
    CLI::App* campaign = app.add_subcommand(
        "campaign", "Grids of machines, workloads and monitors, here or on Slurm, resumable to the last point");
    campaign->require_subcommand(1);
    campaign->footer("Example: cachetally campaign run counters.yaml --jobs 8");
    const auto options = std::make_shared<CampaignArguments>();
    add_campaign_run(*campaign, options);

    CLI::App* command = campaign->add_subcommand("resume", "Go on: what is done is kept, what failed is tried again");
    add_folder(*command, *options);
    add_work_options(*command, options->work);
    add_slurm_options(*command, options->work);
    command->footer("Example: cachetally campaign resume counters.campaign --jobs 8");
    command->callback([options] { resume_campaign(*options); });

    command = campaign->add_subcommand("status", "How far a campaign is, from its files alone");
    add_folder(*command, *options);
    command->add_flag("--json", options->json, "Print JSON");
    command->footer("Example: cachetally campaign status counters.campaign");
    command->callback([options] {
        const CampaignStatus status = status_of(CampaignFolder(options->work.folder));
        if (options->json) return print_json(to_json(status));
        print_lines(to_text(status));
    });

    command = campaign->add_subcommand("merge", "Put the results into one file");
    add_folder(*command, *options);
    add_output_options(*command, options->output, "a row per point; default: FOLDER/result.h5");
    command->add_flag("--partial", options->partial, "Also where not all is done; the file is marked partial");
    command->footer("Example: cachetally campaign merge counters.campaign -o counters.h5");
    command->callback([options] {
        const CampaignFolder folder(options->work.folder);
        merge_bundles(folder, job_of(folder, Inputs::not_needed), options->output, options->partial);
    });

    command = campaign->add_subcommand("cancel", "End all who work on a campaign, and its Slurm jobs");
    add_folder(*command, *options);
    command->footer("Example: cachetally campaign cancel counters.campaign");
    command->callback([options] { cancel_campaign(*options); });

    command = campaign->add_subcommand("work", "What the tasks of schedulers call: a shard, without merge");
    add_folder(*command, *options);
    add_work_options(*command, options->work);
    command->add_flag("--retry", options->work.retry, "What failed is tried again");
    command->footer("Example: cachetally campaign work counters.campaign --shard 3/50 --jobs 1");
    command->callback([options] {
        if (options->work.shard.empty())
            throw UsageError("--shard is required: the part and the number of parts, as in 1/4");
        work_on(CampaignFolder(options->work.folder), options->work);
    });
}

}  // namespace cachetally::app

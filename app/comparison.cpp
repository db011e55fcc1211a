#include "app/comparison.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "app/progress.hpp"

namespace cachetally::app {
namespace {

void refuse_second_reading(const std::string& source) {
    std::error_code absent;
    const auto type = std::filesystem::status(source, absent).type();
    const bool once = type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::character;
    if (source != "-" && !once) return;
    throw UsageError(
        fmt::format("each configuration is a run of its own, and {} can be read only once; pack it first: cachetally "
                    "trace convert {} t.ct.h5",
                    source == "-" ? "standard input" : "'" + source + "'", source));
}

}  // namespace

Comparison::Comparison(const std::string& source, Open open, const SimulationOptions& options, const Topology& topology)
    : open_(std::move(open)), options_(options), topology_(topology) {
    refuse_second_reading(source);
}

ObservedRun Comparison::observed(const Input& input, const MonitorSpec* monitor) const {
    const auto run = [&](Hierarchy& hierarchy) {
        const RunOptions how = run_options(options_, *input.source);
        RunResult result = cachetally::run(hierarchy, *input.source, within_time(how, topology_, hierarchy));
        clear_progress_line();
        return result;
    };
    return observe(topology_, monitor, run, input.source->can_sieve());
}

std::string Comparison::each(const std::vector<MonitorSpec>& monitors, const ObservedRun& without,
                             const std::function<void(const MonitorSpec&, const Intrusion&)>& take) const {
    for (std::size_t done = 0; done < monitors.size(); ++done) {
        const MonitorSpec& monitor = monitors[done];
        const ObservedRun with = observed(opened(), &monitor);
        if (with.run.complete != without.run.complete || with.run.failure != without.run.failure)
            return fmt::format("{} after {} of {} configurations",
                               with.run.failure.empty() ? "interrupted" : with.run.failure, done, monitors.size());
        take(monitor, intrusion_of(topology_, monitor, without, with));
    }
    return "";
}

}  // namespace cachetally::app

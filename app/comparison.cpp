// SPDX-License-Identifier: BSD-3-Clause
#include "app/comparison.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "app/terminal.hpp"

namespace cachetally::app {

void refuse_second_reading(const std::string& source) {
    if (can_be_read_only_once(source))
        throw UsageError(
            "each configuration is a run of its own, and {} can be read only once; pack it first: cachetally trace "
            "convert {} t.ct.h5",
            source == "-" ? "standard input" : "'" + source + "'", source);
}

bool can_be_read_only_once(const std::string& source) {
    std::error_code absent;
    const auto type = std::filesystem::status(source, absent).type();
    return source == "-" || type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::character;
}

Comparison::Comparison(const std::string& source, Open open, const SimulationOptions& options, const Topology& topology)
    : open_(std::move(open)), options_(options), topology_(topology) {
    refuse_second_reading(source);
}

ObservedRun Comparison::observed(const Input& input, const MonitorSpec* monitor, bool error) const {
    const auto run = [&](Hierarchy& hierarchy) {
        RunResult result = cachetally::run(hierarchy, *input.source, run_options(options_, *input.source));
        clear_progress_line();
        return result;
    };
    if (!error) return observe(topology_, monitor, run);
    const LinkInfo& link = topology_.links()[topology_.link(monitor->link)];
    return observe(topology_, monitor, run,
                   [&](const Hierarchy& hierarchy, const Histogram& exact, const Histogram& measured) {
                       return histogram_error(exact, measured, ranges_of(data_of(input.source->regions())),
                                              program_addresses(topology_, hierarchy, link));
                   });
}

std::string Comparison::each(const std::vector<MonitorSpec>& monitors, const RunResult& without,
                             const std::function<void(const MonitorSpec&, const ObservedRun*)>& take,
                             bool error) const {
    std::size_t done = 0;
    const auto after = [&] { return fmt::format("after {} of {} configurations", done, monitors.size()); };
    try {
        for (const MonitorSpec& monitor : monitors) {
            // runs may be too short to be interrupted within
            if (interrupted()) return "interrupted " + after();
            const ObservedRun with = observed(opened(Opening::again), &monitor, error);
            if (with.run.time_over && !without.time_over) {
                take(monitor, nullptr);
            } else if (with.run.complete == without.complete && with.run.failure == without.failure) {
                take(monitor, &with);
            } else {
                return with.run.failure.empty() ? "interrupted " + after() : with.run.failure + " (" + after() + ")";
            }
            ++done;
        }
    } catch (const std::exception& broken) {  // the source is gone, say: what there is already is kept
        return fmt::format("{} ({})", broken.what(), after());
    }
    return "";
}

std::string why_unknown(std::size_t monitors) { return monitors == 0 ? "" : std::string("with it ") + time_is_over; }

void warn_of_unknown(std::size_t unknown, std::size_t all) {
    if (unknown == 0) return;
    to_stderr(fmt::format("cachetally: the cost of {} of {} configurations is unknown (?): {}\n", unknown, all,
                          why_unknown(unknown)));
}

void add_missing(RunTitle& title, const std::string& missing) {
    if (missing.empty()) return;
    title.incomplete = title.complete ? missing : title.incomplete + "; " + missing;
    title.complete = false;
}

}  // namespace cachetally::app

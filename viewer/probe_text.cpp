// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/probe_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "cachetally/machine.hpp"
#include "probes/probe_file.hpp"
#include "probes/suite.hpp"
#include "sim/topology/names.hpp"
#include "viewer/curve_plot.hpp"
#include "viewer/run_view.hpp"
#include "viewer/show.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

using Json = nlohmann::ordered_json;

Json number_json(double number, const std::string& parameter) {
    if (is_whole(parameter) && std::trunc(number) == number) return static_cast<std::int64_t>(number);
    return number;
}

Json value_json(const std::optional<Value>& value, const std::string& parameter) {
    if (!value) return nullptr;
    if (!value->word.empty()) return value->word;
    return number_json(value->number, parameter);
}

const char* shown(Verdict verdict) {
    switch (verdict) {
        case Verdict::right: return "right";
        case Verdict::wrong: return "WRONG";
        case Verdict::not_identifiable: return "not identifiable";
        case Verdict::unknown: break;
    }
    return "";
}

/// Test and variant as columns, or where the table would be too wide as lines above its rows; nothing where they do not
/// fit as columns.
std::string findings_text(std::span<const TestReport> reports, bool headed, unsigned width) {
    constexpr auto left = TextTable::Align::left;
    std::vector<TextTable::Column> columns;
    if (!headed) columns = {{"test", left}, {"variant", left}};
    for (const char* title : {"level", "parameter", "found", "ground truth", "verdict"})
        columns.push_back({title, left});
    TextTable table(std::move(columns), headed ? 2 : 4);
    for (const TestReport& report : reports) {
        if (headed && !report.findings.empty()) table.add_line(fmt::format("{} {}:", report.test, report.variant));
        for (const Finding& finding : report.findings) {
            std::vector<Cell> cells;
            if (!headed) cells = {finding.test, finding.variant};
            for (const std::string& field : {finding.level, finding.parameter, found_in_words(finding),
                                             truth_in_words(finding), std::string(shown(finding.verdict))})
                cells.emplace_back(field);
            table.add(std::move(cells));
            if (finding.reason.empty()) continue;
            std::string lines = wrapped(fmt::format("    ({})", finding.reason), width, 5);
            lines.pop_back();
            table.add_line(lines);
        }
    }
    return headed || table.fits(width) ? table.text(width) : "";
}

std::string costs_text(std::span<const TestReport> reports, unsigned width) {
    constexpr auto left = TextTable::Align::left;
    // files do not know the host's seconds
    const bool timed = std::ranges::any_of(reports, [](const TestReport& each) { return each.host_seconds > 0; });
    std::vector<TextTable::Column> columns{{"test", left}, {"variant", left}, {"runs"},
                                           {"references"}, {"simulated"},     {"Mcycles"}};
    if (timed) columns.push_back({"host s"});
    TextTable table(std::move(columns), 2);
    for (const TestReport& report : reports) {
        std::vector<Cell> cells{report.test,
                                report.variant,
                                count_cell(report.cost.runs),
                                count_cell(report.cost.references),
                                count_cell(report.cost.simulated),
                                fmt::format("{:.1f}", report.cost.cycles / 1e6)};
        if (timed) cells.emplace_back(fmt::format("{:.3f}", report.host_seconds));
        table.add(std::move(cells));
    }
    return table.text(width);
}

/// Of tests in one variant only.
std::string notes_of(std::span<const TestReport> reports, unsigned width) {
    std::string text;
    for (const TestReport& report : reports)
        if (const std::string note = note_of(report.test); !note.empty())
            text += wrapped(fmt::format("{} is {} only: {}", report.test, report.variant, note), width, 2);
    return text.empty() ? text : "\n" + text;
}

}  // namespace

Json to_json(std::span<const TestReport> reports, bool complete) {
    Json results = Json::array(), tests = Json::array();
    for (const TestReport& report : reports) {
        for (const Finding& finding : report.findings) {
            const bool number = finding.value && finding.value->word.empty();
            Json one{{"test", finding.test},
                     {"variant", finding.variant},
                     {"level", finding.level},
                     {"parameter", finding.parameter},
                     {"value", value_json(finding.value, finding.parameter)},
                     {"low", number ? number_json(finding.low, finding.parameter) : Json(nullptr)},
                     {"high", number ? number_json(finding.high, finding.parameter) : Json(nullptr)},
                     {"unit", finding.unit},
                     {"method", finding.method},
                     {"truth", value_json(finding.truth, finding.parameter)},
                     {"verdict", name_of(finding.verdict)}};
            if (finding.truth && finding.truth_high > finding.truth->number)
                one["truth_high"] = number_json(finding.truth_high, finding.parameter);
            if (!finding.reason.empty()) one["reason"] = finding.reason;
            results.push_back(std::move(one));
        }
        tests.push_back({{"test", report.test},
                         {"variant", report.variant},
                         {"runs", report.cost.runs},
                         {"references", report.cost.references},
                         {"references_simulated", report.cost.simulated},
                         {"cycles", report.cost.cycles},
                         {"host_seconds", report.host_seconds},
                         {"saved_runs", report.saved.runs},
                         {"saved_references", report.saved.references},
                         {"saved_cycles", report.saved.cycles},
                         {"decisions", report.decisions}});
        if (const std::string note = note_of(report.test); !note.empty()) tests.back()["note"] = note;
    }
    return {{"complete", complete}, {"results", results}, {"tests", tests}};
}

std::string to_text(std::span<const TestReport> reports, unsigned width) {
    const std::string flat = findings_text(reports, false, width);
    std::string text = flat.empty() ? findings_text(reports, true, width) : flat;
    text += '\n' + costs_text(reports, width);
    for (const TestReport& report : reports) {
        if (report.saved.runs == 0) continue;
        const auto all = static_cast<double>(report.cost.references + report.saved.references) / 100;
        text += wrapped(
            fmt::format("{} {}: {} runs, {} references ({:.0f} %), {:.1f} Mcycles saved against the exhaustive test",
                        report.test, report.variant, report.saved.runs, report.saved.references,
                        static_cast<double>(report.saved.references) / all, report.saved.cycles / 1e6),
            width, 2);
    }
    return text + notes_of(reports, width);
}

std::string show_probe(const InputFile& file, const ShowOptions& options) {
    const std::vector<TestReport> reports = read_probe(file.root());
    const RunTitle title = read_title(file);
    if (options.json)
        return to_json(reports, title.complete).dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
    std::string text =
        without_controls(title.machine) + '\n' + title.remarks() + '\n' + to_text(reports, options.width);
    for (const TestReport& report : reports)
        for (const Curve& curve : report.curves) text += '\n' + draw_curve(curve, {options.width, 10, options.unicode});
    return text;
}

}  // namespace cachetally

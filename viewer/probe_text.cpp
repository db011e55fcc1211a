// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/probe_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/text.hpp"
#include "cachetally/machine.hpp"
#include "probes/probe_file.hpp"
#include "probes/suite.hpp"
#include "probes/validation/validation.hpp"
#include "sim/topology/names.hpp"
#include "storage/provenance.hpp"
#include "viewer/plot.hpp"
#include "viewer/probe_summary.hpp"
#include "viewer/processor_matrix_text.hpp"
#include "viewer/run_view.hpp"
#include "viewer/show.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

/// A logarithmic axis over positive values. Where there are others, the first cell is theirs alone.
class LogAxis {
public:
    LogAxis(const std::vector<double>& values, unsigned cells) : cells_(cells) {
        for (const double value : values) {
            if (!(value > 0)) {
                zeros_ = 1;
                continue;
            }
            least_ = least_ == 0 ? value : std::min(least_, value);
            most_ = std::max(most_, value);
        }
    }

    bool empty() const { return most_ == 0; }
    bool has_zeros() const { return zeros_ > 0; }
    double least() const { return least_; }
    double most() const { return most_; }
    double middle() const { return std::sqrt(least_ * most_); }

    /// What a cell stands for.
    double value(unsigned cell) const {
        return least_ *
               std::pow(most_ / least_, static_cast<double>(cell - zeros_) / std::max(1U, cells_ - 1 - zeros_));
    }

    unsigned cell(double value) const {
        if (!(value > 0)) return 0;
        if (!(value > least_) || most_ == least_) return zeros_;
        const double share = std::log(value / least_) / std::log(most_ / least_);
        return zeros_ + static_cast<unsigned>(std::lround(share * (cells_ - 1 - zeros_)));
    }

private:
    unsigned cells_, zeros_ = 0;  ///< cells for values that are not positive
    double least_ = 0, most_ = 0;
};

std::string amount_text(double value, const std::string& unit) {
    return unit == "bytes" ? bytes_text(static_cast<std::uint64_t>(std::lround(value))) : fmt::format("{:.3g}", value);
}

std::string x_labels(const LogAxis& axis, const std::string& unit, unsigned columns) {
    const std::string first = amount_text(axis.least(), unit), middle = amount_text(axis.middle(), unit),
                      last = amount_text(axis.most(), unit);
    std::string line(columns, ' ');
    const auto put = [&](std::size_t at, const std::string& text) {
        if (at + text.size() <= columns) line.replace(at, text.size(), text);
    };
    put(columns / 2 - std::min<std::size_t>(columns / 2, middle.size() / 2), middle);
    put(columns - std::min<std::size_t>(columns, last.size()), last);
    put(0, first);
    return line;
}

std::string unit_text(const Curve& curve) {
    if (curve.unit == "loads") return "single loads";
    return curve.unit == "bytes per cycle" ? curve.unit : curve.unit + " per load";
}

}  // namespace

std::string draw_curve(const Curve& curve, const PlotStyle& style) {
    constexpr unsigned margin = 8;
    const unsigned columns = std::max(style.width, margin + 24) - margin;
    std::string text = wrapped(fmt::format("{} {}, {}: {} over {} (logarithmic scales)", curve.test, curve.variant,
                                           curve.name, unit_text(curve), curve.x_name),
                               columns + margin, 2);
    const LogAxis x(curve.x, columns), y(curve.cycles, style.height);
    if (y.empty()) return text + "  (0 everywhere)\n";
    std::vector<std::string> cells(std::size_t{columns} * style.height, " ");
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
        const bool out = i < curve.knocked_out.size() && curve.knocked_out[i] != 0;
        std::string& cell = cells[std::size_t{y.cell(curve.cycles[i])} * columns + x.cell(curve.x[i])];
        if (cell != " " && out) continue;  // a point that was kept is not hidden
        cell = out ? (style.unicode ? "×" : "x") : (style.unicode ? "●" : "*");
    }
    for (unsigned row = style.height; row-- > 0;) {
        std::string scale;
        if (row + 1 == style.height) scale = fmt::format("{:.3g}", y.most());
        if (row == style.height / 2 && y.most() > y.least()) scale = fmt::format("{:.3g}", y.value(row));
        if (row <= 1 && y.has_zeros()) scale = row == 0 ? "0" : fmt::format("{:.3g}", y.least());
        if (row == 0 && !y.has_zeros()) scale = fmt::format("{:.3g}", y.least());
        std::string line = fmt::format("{:>{}}{}", scale, margin - 1, style.unicode ? "│" : "|");
        for (unsigned c = 0; c < columns; ++c) line += cells[std::size_t{row} * columns + c];
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text + std::string(margin, ' ') + x_labels(x, curve.x_unit, columns) + '\n';
}

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

/// Whether there is a ground truth; not so of real machines.
bool are_judged(std::span<const TestReport> reports) {
    return std::ranges::any_of(reports, [](const TestReport& report) {
        return std::ranges::any_of(report.findings, [](const Finding& each) { return each.truth.has_value(); });
    });
}

/// Test and variant as columns, or where the table would be too wide as lines above its rows; nothing where they do not
/// fit as columns.
std::string findings_text(std::span<const TestReport> reports, bool headed, unsigned width) {
    constexpr auto left = TextTable::Align::left;
    std::vector<TextTable::Column> columns;
    if (!headed) columns = {{"test", left}, {"variant", left}};
    for (const char* title : {"level", "parameter", "found"}) columns.push_back({title, left});
    const bool judged = are_judged(reports);
    if (judged)
        for (const char* title : {"ground truth", "verdict"}) columns.push_back({title, left});
    TextTable table(std::move(columns), headed ? 2 : 4);
    for (const TestReport& report : reports) {
        if (headed && !report.findings.empty()) table.add_line(fmt::format("{} {}:", report.test, report.variant));
        for (auto next = report.findings.begin(); next != report.findings.end();) {
            const Finding& finding = *next++;
            std::vector<Cell> cells;
            if (!headed) cells = {finding.test, finding.variant};
            for (const std::string& field : {finding.level, finding.parameter, found_in_words(finding)})
                cells.emplace_back(field);
            if (judged) {
                cells.emplace_back(truth_in_words(finding));
                cells.emplace_back(shown(finding.verdict));
            }
            table.add(std::move(cells));
            const bool repeated = next != report.findings.end() && next->reason == finding.reason;
            if (finding.reason.empty() || repeated) continue;
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
    const bool simulated = std::ranges::any_of(reports, [](const TestReport& each) { return each.cost.simulated > 0; });
    std::vector<TextTable::Column> columns{{"test", left}, {"variant", left}, {"runs"}, {"references"}};
    if (simulated) columns.push_back({"simulated"});
    columns.push_back({"Mcycles"});
    if (timed) columns.push_back({"host s"});
    TextTable table(std::move(columns), 2);
    for (const TestReport& report : reports) {
        std::vector<Cell> cells{report.test, report.variant, count_cell(report.cost.runs),
                                count_cell(report.cost.references)};
        if (simulated) cells.push_back(count_cell(report.cost.simulated));
        cells.emplace_back(fmt::format("{:.1f}", report.cost.cycles / 1e6));
        if (timed) cells.emplace_back(fmt::format("{:.3f}", report.host_seconds));
        table.add(std::move(cells));
    }
    return table.text(width);
}

/// Of published tests that have no robust variant: which robust ones answer the same.
std::string notes_of(std::span<const TestReport> reports, unsigned width) {
    std::string text;
    for (const TestReport& report : reports)
        if (const std::string note = note_of(report.test); report.variant == "published" && !note.empty())
            text += wrapped(fmt::format("{} is {} only: {}", report.test, report.variant, note), width, 2);
    return text.empty() ? text : "\n" + text;
}

}  // namespace

Json to_json(std::span<const TestReport> reports, const std::string& incomplete) {
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
        if (!report.matrices.empty()) tests.back()["matrices"] = to_json(report.matrices);
        if (const std::string note = note_of(report.test); !note.empty()) tests.back()["note"] = note;
    }
    Json json{{"complete", incomplete.empty()}};
    if (!incomplete.empty()) json["incomplete"] = incomplete;
    json["results"] = std::move(results);
    json["tests"] = std::move(tests);
    return json;
}

std::string to_text(std::span<const TestReport> reports, unsigned width, const MachineDescription* stated,
                    std::span<const Fact> sharing) {
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
    for (const TestReport& report : reports)
        for (const ProcessorMatrix& matrix : report.matrices) text += '\n' + to_text(matrix, width);
    text += notes_of(reports, width);
    if (are_judged(reports)) return text;
    const std::string summary = probe_summary(reports, stated, width, sharing);
    return summary.empty() ? text : text + "\n" + summary;
}

std::string show_probe(const InputFile& file, const ShowOptions& options) {
    const std::vector<TestReport> reports = read_probe(file.root());
    const RunTitle title = read_title(file);
    if (options.json)
        return to_json(reports, title.incomplete).dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
    const std::string machine_text = read_provenance(file.root()).machine_text;
    std::optional<MachineDescription> stated;
    if (!machine_text.empty()) stated = read_machine(machine_text, file.path());
    std::string text = without_controls(title.machine) + '\n' + title.remarks() + '\n' +
                       to_text(reports, options.width, stated ? &*stated : nullptr, read_stated_sharing(file.root()));
    for (const TestReport& report : reports)
        for (const Curve& curve : report.curves) text += '\n' + draw_curve(curve, {options.width, 10, options.unicode});
    return text;
}

namespace {

using Json = nlohmann::ordered_json;

std::span<const Failure> reported_failures(const ValidationView& view) {
    return std::span(view.result.failures).first(std::min(view.worst, view.result.failures.size()));
}

double percent_of(std::uint64_t part, const Score& score) {
    const std::uint64_t all = score.right + score.wrong + score.not_identifiable;
    return all == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

Json to_json(const ValidationView& view) {
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
    Json json{{"machines", view.result.machines}, {"complete", view.incomplete.empty()}};
    if (!view.incomplete.empty()) json["incomplete"] = view.incomplete;
    json.update({{"seed", view.seed},
                 {"noise", view.noise},
                 {"references", view.result.cost.references},
                 {"references_simulated", view.result.cost.simulated},
                 {"summary", summary},
                 {"worst", worst}});
    if (!view.left_out.empty()) json["left_out"] = view.left_out;
    return json;
}

std::string to_text(const ValidationView& view, const std::string& took, unsigned width) {
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

void write_validation_view(Group& root, const ValidationView& view) {
    root.set_attribute("noise", view.noise);
    root.set_attribute("seed", view.seed);
    root.set_attribute("references", view.result.cost.references);
    root.set_attribute("references_simulated", view.result.cost.simulated);
    if (!view.left_out.empty()) root.set_attribute("left_out", view.left_out);
    write_validation(root, view.result);
}

ValidationView read_validation_view(const InputFile& file) {
    const Group& root = file.root();
    ValidationView view;
    view.result = read_validation(root);
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

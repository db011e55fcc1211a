#include "app/probe_report.hpp"

#include <fmt/format.h>

#include "sim/topology/names.hpp"

namespace cachetally::app {
namespace {

Json json_of(const std::optional<Value>& value) {
    if (!value) return nullptr;
    if (!value->word.empty()) return value->word;
    return value->number;
}

std::string amount(double number, const std::string& unit) {
    if (unit == "bytes" && number >= 0 && number == static_cast<double>(static_cast<std::uint64_t>(number)))
        return format_size(static_cast<std::uint64_t>(number));
    return fmt::format("{:.6g}", number);
}

std::string found(const Finding& finding) {
    if (!finding.value) return "-";
    if (!finding.value->word.empty()) return finding.value->word;
    const std::string value = amount(finding.value->number, finding.unit);
    if (finding.low == finding.high || finding.parameter == "latency") return value;
    return fmt::format("{} ({} .. {})", value, amount(finding.low, finding.unit), amount(finding.high, finding.unit));
}

std::string truth(const Finding& finding) {
    if (!finding.truth) return "-";
    if (!finding.truth->word.empty()) return finding.truth->word;
    const std::string unit = finding.parameter == "capacity" ? "bytes" : finding.unit;
    const std::string low = amount(finding.truth->number, unit);
    return finding.truth_high > finding.truth->number ? low + " .. " + amount(finding.truth_high, unit) : low;
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

}  // namespace

Json json_of(std::span<const TestReport> reports) {
    Json results = Json::array(), tests = Json::array();
    for (const TestReport& report : reports) {
        for (const Finding& finding : report.findings) {
            Json one{{"test", finding.test},
                     {"variant", finding.variant},
                     {"level", finding.level},
                     {"parameter", finding.parameter},
                     {"value", json_of(finding.value)},
                     {"low", finding.value && finding.value->word.empty() ? Json(finding.low) : Json(nullptr)},
                     {"high", finding.value && finding.value->word.empty() ? Json(finding.high) : Json(nullptr)},
                     {"unit", finding.unit},
                     {"method", finding.method},
                     {"truth", json_of(finding.truth)},
                     {"verdict", name_of(finding.verdict)}};
            if (finding.truth && finding.truth_high > finding.truth->number) one["truth_high"] = finding.truth_high;
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
    }
    return {{"results", results}, {"tests", tests}};
}

void print(const MachineDescription& machine, std::span<const TestReport> reports) {
    fmt::print("{}: {}\n\n", machine.name, machine.description);
    fmt::print("{:<12} {:<10} {:<7} {:<12} {:<32} {:<20} {}\n", "test", "variant", "level", "parameter", "found",
               "true", "verdict");
    for (const TestReport& report : reports)
        for (const Finding& finding : report.findings) {
            fmt::print("{:<12} {:<10} {:<7} {:<12} {:<32} {:<20} {}\n", finding.test, finding.variant, finding.level,
                       finding.parameter, found(finding), truth(finding), shown(finding.verdict));
            if (!finding.reason.empty()) fmt::print("{:<44}({})\n", "", finding.reason);
        }
    fmt::print("\n{:<12} {:<10} {:>8} {:>16} {:>16} {:>14} {:>8}\n", "test", "variant", "runs", "references",
               "simulated", "Mcycles", "host s");
    for (const TestReport& report : reports)
        fmt::print("{:<12} {:<10} {:>8} {:>16} {:>16} {:>14.1f} {:>8.3f}\n", report.test, report.variant,
                   report.cost.runs, report.cost.references, report.cost.simulated, report.cost.cycles / 1e6,
                   report.host_seconds);
    for (const TestReport& report : reports) {
        if (report.saved.runs == 0) continue;
        const auto all = static_cast<double>(report.cost.references + report.saved.references) / 100;
        fmt::print("{} {}: {} runs, {} references ({:.0f} %), {:.1f} Mcycles saved against the exhaustive test\n",
                   report.test, report.variant, report.saved.runs, report.saved.references,
                   static_cast<double>(report.saved.references) / all, report.saved.cycles / 1e6);
    }
}

}  // namespace cachetally::app

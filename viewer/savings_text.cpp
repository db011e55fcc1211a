// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/savings_text.hpp"

#include <fmt/format.h>

namespace cachetally {
namespace {

nlohmann::ordered_json json_of(const MeasuredCost& cost) {
    return {{"runs", cost.cost.runs},
            {"references", cost.cost.references},
            {"cycles", cost.cost.cycles},
            {"host_seconds", cost.host_seconds}};
}

}  // namespace

std::string to_text(std::span<const Saving> savings) {
    std::string text = fmt::format("{:<8} {:<24} {:>14} {:>14} {:>6}   {:>8} {:>8} {:>6}\n", "test", "without",
                                   "references", "exhaustive", "ratio", "host s", "exhaust.", "ratio");
    for (const Saving& one : savings)
        text += fmt::format("{:<8} {:<24} {:>14} {:>14} {:>6.2f}   {:>8.3f} {:>8.3f} {:>6.2f}\n", one.test, one.without,
                            one.saving.cost.references, one.exhaustive.cost.references, one.references_ratio(),
                            one.saving.host_seconds, one.exhaustive.host_seconds, one.host_ratio());
    return text;
}

nlohmann::ordered_json to_json(std::span<const Saving> savings) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Saving& one : savings)
        rows.push_back({{"test", one.test},
                        {"without", one.without},
                        {"as_published", json_of(one.saving)},
                        {"exhaustive", json_of(one.exhaustive)},
                        {"references_ratio", one.references_ratio()},
                        {"host_ratio", one.host_ratio()}});
    return {{"savings", rows}};
}

}  // namespace cachetally

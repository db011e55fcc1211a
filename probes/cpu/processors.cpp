// SPDX-License-Identifier: BSD-3-Clause
// Which copies slow each other down, and so which logical processors share a core.
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "probes/cpu/features.hpp"

namespace cachetally {
namespace {

/// Additions that saturate a core: more chains than cores of today have adders, in fewer registers than they have.
/// (X-Ray, 3.6, takes as many as saturated it)
constexpr unsigned saturating_chains = 8;

constexpr unsigned attempts_side_by_side = 3;

Configuration saturating() { return chains_of(Operation::add, {}, saturating_chains); }

const char disturbed[] =
    "copies were hardly ever undisturbed at the same time: others use the processors; try again when the machine is "
    "quieter";

}  // namespace

double CpuTests::alone(unsigned processor) {
    const auto known = alone_.find(processor);
    if (known != alone_.end()) return known->second;
    const unsigned one[] = {processor};
    const auto cycles = bench_.side_by_side(saturating(), one);
    if (!cycles) throw ProbeError(disturbed);
    return alone_[processor] = cycles->front();
}

double CpuTests::slowest_beside(std::span<const unsigned> processors) {
    const auto cycles = bench_.side_by_side(saturating(), processors);
    if (!cycles) throw ProbeError(disturbed);
    double slowest = 0;
    for (std::size_t i = 0; i < processors.size(); ++i)
        slowest = std::max(slowest, (*cycles)[i] / alone_.at(processors[i]));
    return slowest;
}

bool CpuTests::slowed_down(std::span<const unsigned> processors) {
    for (const unsigned processor : processors) alone(processor);
    double least = std::numeric_limits<double>::infinity();
    for (unsigned i = 0; i < attempts_side_by_side; ++i) {  // what disturbs only lengthens
        least = std::min(least, slowest_beside(processors));
        if (least <= 1 + tolerances_.alone) return false;
    }
    if (least >= 1 + tolerances_.together) return true;
    throw ProbeError(
        "of copies on processors {} one takes {:.2f} times as long as alone: neither undisturbed (up to {:.1f}) nor "
        "sharing a core (from {:.1f})",
        fmt::join(processors, ", "), least, 1 + tolerances_.alone, 1 + tolerances_.together);
}

/// The one core whose first processor slows this one down; the halves are asked, as in a binary search.
unsigned CpuTests::partner_of(unsigned processor, std::vector<std::vector<unsigned>>& among) {
    std::size_t begin = 0, end = among.size();
    while (end - begin > 1) {
        const std::size_t middle = begin + (end - begin) / 2;
        std::vector<unsigned> half{processor};
        for (std::size_t i = begin; i < middle; ++i) half.push_back(among[i].front());
        (slowed_down(half) ? end : begin) = middle;
    }
    const unsigned pair[] = {processor, among[begin].front()};
    if (!slowed_down(pair))
        throw ProbeError("processor {} is slowed down beside several others, but beside none of them alone", processor);
    return static_cast<unsigned>(begin);
}

const std::vector<std::vector<unsigned>>& CpuTests::cores() {
    if (!cores_.empty()) return cores_;
    const std::vector<unsigned> processors = bench_.processors();
    if (processors.empty()) throw ProbeError("the system does not say which processors may be used");
    std::vector<std::vector<unsigned>> found;
    if (!slowed_down(processors)) {  // the usual case, in one run
        for (const unsigned processor : processors) found.push_back({processor});
        return cores_ = found;
    }
    for (const unsigned processor : processors) {
        std::vector<unsigned> running{processor};
        for (const auto& core : found) running.push_back(core.front());
        if (running.size() == 1 || !slowed_down(running)) {
            found.push_back({processor});
        } else {
            found[partner_of(processor, found)].push_back(processor);
        }
    }
    return cores_ = found;
}

void CpuTests::smp(TestReport& report) {
    report.answer("", "processors", std::uint64_t{cores().size()}, "processors",
                  fmt::format("copies of int32 additions that are not slowed down by each other, of {} logical "
                              "processors that may be used",
                              bench_.processors().size()));
}

void CpuTests::smt(TestReport& report) {
    if (bench_.processors().size() == 1) throw ProbeError("one logical processor alone may be used");
    const auto& found = cores();
    std::vector<std::string> words;
    words.reserve(found.size());
    for (const auto& core : found) words.push_back(fmt::format("{}", fmt::join(core, "+")));
    const auto [least, most] = std::ranges::minmax(found, {}, &std::vector<unsigned>::size);
    if (least.size() == most.size())
        report.answer("", "threads_per_core", std::uint64_t{least.size()}, "processors",
                      "logical processors by copies that are not slowed down");
    else
        report.refuse("", "threads_per_core", "cores differ: from {} to {} logical processors that may be used",
                      least.size(), most.size());
    report.answer("", "cores", fmt::format("{}", fmt::join(words, " ")),
                  "copies on processors of one core are slowed down, each by the other");
}

}  // namespace cachetally

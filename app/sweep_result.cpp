// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <map>

#include "app/comparison.hpp"
#include "app/report.hpp"
#include "app/sweep.hpp"
#include "base/text.hpp"
#include "monitor/sweep.hpp"

namespace cachetally::app {
namespace {

constexpr RefusedKey varied_by_sweeps[] = {
    {"link", "write --link NAME,NAME"},
    {"name", "a sweep has no single monitors"},
    {"counters", "a sweep varies it: write --counters 16,32"},
    {"granularity", "a sweep varies it: write --granularity 1-4"},
    {"eviction", "a sweep varies it: write --eviction fifo,lru"},
};

/// Why no monitor of these settings can have the start's counters and granularity; empty where one can.
std::string why_impossible(const std::string& settings, const MonitorSpec& start) {
    try {
        (void)parse_common(settings, varied_by_sweeps, {}, start);
        return "";
    } catch (const SpecError& error) {
        return error.message();
    }
}

/// Why, and this and what in words.
struct LeftOut {
    std::string reason, text;
    friend auto operator<=>(const LeftOut&, const LeftOut&) = default;
};

/// One text for each reason.
std::vector<std::string> in_words(std::vector<LeftOut> left_out) {
    std::ranges::sort(left_out);  // links have the same
    left_out.erase(std::unique(left_out.begin(), left_out.end()), left_out.end());
    std::vector<std::string> texts;
    for (auto first = left_out.begin(), end = first; first != left_out.end(); first = end) {
        end = std::find_if(first, left_out.end(), [&](const LeftOut& each) { return each.reason != first->reason; });
        const auto others = static_cast<std::uint64_t>(end - first) - 1;
        texts.push_back(first->text +
                        (others == 0 ? "" : fmt::format(" ({} likewise)", numbered(others, "other combination"))));
    }
    return texts;
}

/// Numbers of counters and granularities that settings allow; where these allow none, all, of which the first is then
/// refused. `settings`: with those that all variants have.
void keep_possible(SweepVariant& variant, const std::string& settings, MonitorSpec start,
                   std::vector<LeftOut>& left_out) {
    const auto keep = [&](auto& values, auto member, const auto& word) {
        const auto before = values;
        std::vector<std::string> words;
        std::string why;
        std::erase_if(values, [&](const auto& value) {
            start.*member = value;
            const std::string reason = why_impossible(settings, start);
            if (reason.empty()) return false;
            words.push_back(word(value));
            if (why.empty()) why = reason;
            return true;
        });
        if (values.empty())
            values = before;
        else if (!words.empty())
            left_out.push_back(
                {fmt::format("{} ({})", fmt::join(words, ", "), why),
                 fmt::format("with {} are left out: {} ({})", variant.settings, fmt::join(words, ", "), why)});
        start.*member = values.front();
    };
    // one that is possible with any of the others shows what those allow
    for (const Granularity& each : variant.granularities) {
        start.granularity = each;
        if (std::ranges::any_of(variant.counters, [&](std::uint32_t counters) {
                start.counters = counters;
                return why_impossible(settings, start).empty();
            }))
            break;
    }
    keep(variant.counters, &MonitorSpec::counters,
         [](std::uint32_t counters) { return fmt::format("{} counters", counters); });
    keep(variant.granularities, &MonitorSpec::granularity,
         [](const Granularity& each) { return "granularity " + to_string(each); });
}

/// Granularities that can be compared on the link of `base`; where there are none, all, of which the first is then
/// refused.
void keep_comparable(SweepVariant& variant, std::vector<LeftOut>& left_out) {
    const auto why = [&](const Granularity& each) {
        MonitorSpec cell = variant.base;
        cell.granularity = each;
        return why_incomparable(cell);
    };
    if (std::ranges::none_of(variant.granularities, [&](const Granularity& each) { return why(each).empty(); })) return;
    std::erase_if(variant.granularities, [&](const Granularity& each) {
        const std::string reason = why(each);
        if (!reason.empty())
            left_out.push_back({reason, fmt::format("on {}, granularity {} is left out: {}", variant.base.link,
                                                    to_string(each), reason)});
        return !reason.empty();
    });
}

/// More would take all memory, or more time than anybody has.
void refuse_too_many(const SweepPlan& plan) {
    constexpr std::uint64_t most_cells = 1'000'000, most_counters_together = std::uint64_t{1} << 28;
    std::uint64_t cells = 0, counters = 0;
    for (const SweepVariant& variant : plan.variants) {
        const std::uint64_t rows = variant.granularities.size() * variant.evictions.size();
        cells += rows * variant.counters.size();
        for (const std::uint64_t each : variant.counters) counters += rows * each;
    }
    if (cells <= most_cells && counters <= most_counters_together) return;
    throw UsageError(
        "--counters, --granularity, --eviction, --link and --vary make {} cells with {} counters together; at most {} "
        "and {} fit into one sweep",
        with_separators(cells), with_separators(counters), with_separators(most_cells),
        with_separators(most_counters_together));
}

/// What --vary sets must not be given by --monitor, too.
void refuse_twice(const std::string& monitor, const std::string& settings) {
    const auto key_of = [](std::string_view part) { return part.substr(0, part.find('=')); };
    for (const std::string_view fixed : split(monitor, ','))
        for (const std::string_view varied : split(settings, ','))
            if (!fixed.empty() && key_of(fixed) == key_of(varied))
                throw UsageError("--vary {}: --monitor has '{}', too; leave one out", varied, fixed);
}

/// Collects variants, what is left out, and why the first was.
class Planner {
public:
    explicit Planner(const Topology& topology) : topology_(topology) {}

    /// `all`: with the settings of all variants; `start`: what these begin from.
    void add(const std::string& link, const std::string& all, const SweepVariant& wanted, MonitorSpec start) {
        SweepVariant variant = wanted;
        keep_possible(variant, all, start, left_out_);
        start.counters = variant.counters.front();
        start.granularity = variant.granularities.front();
        try {
            variant.base = parse_common(all, varied_by_sweeps, {}, start);
        } catch (const ContradictingSpec& error) {
            return leave_out(error.message(),
                             fmt::format("with {} all is left out: {}", variant.settings, error.message()));
        }
        variant.base.link = link;
        try {
            variant.base = completed(placed({variant.base}, topology_).front(), topology_);
            keep_comparable(variant, left_out_);
        } catch (const SpecError& error) {
            if (std::ranges::find(topology_.links(), link, &LinkInfo::name) == topology_.links().end()) throw;
            return leave_out(error.message(), fmt::format("left out is what is impossible: {}", error.what()));
        }
        const auto same = std::ranges::find(variants_, variant.base, &SweepVariant::base);
        if (same == variants_.end()) return variants_.push_back(std::move(variant));
        const std::string text =
            fmt::format("on {}, {} is left out: it is the same as {}", link, variant.settings, same->settings);
        left_out_.push_back({text, text});
    }

    /// What counts the same events is compared, and stands together, in the order in which it first comes. Throws what
    /// was wrong with the first where nothing is possible.
    std::vector<SweepVariant> variants() {
        if (variants_.empty()) std::rethrow_exception(first_);
        std::map<std::pair<std::string, std::string>, std::size_t> places;
        const auto place = [&](const SweepVariant& variant) {
            return places.emplace(std::pair{variant.base.link, counting(variant.settings)}, places.size())
                .first->second;
        };
        for (const SweepVariant& variant : variants_) place(variant);
        std::ranges::stable_sort(variants_, {}, place);
        return variants_;
    }

    std::vector<std::string> left_out() const { return in_words(left_out_); }

private:
    /// Of the exception that is being handled.
    void leave_out(const std::string& reason, const std::string& text) {
        if (!first_) first_ = std::current_exception();
        left_out_.push_back({reason, text});
    }

    const Topology& topology_;
    std::vector<SweepVariant> variants_;
    std::vector<LeftOut> left_out_;
    std::exception_ptr first_;
};

}  // namespace

SweepPlan plan_of(const SweepOptions& options, const Topology& topology) {
    SweepPlan plan;
    plan.slowdown = options.slowdown;
    plan.beside_paper = !options.preset.empty();
    SweepVariant wanted{{},
                        "",
                        parse_counters(options.counters),
                        parse_granularities(options.granularity),
                        parse_evictions(options.eviction)};
    MonitorSpec start;
    start.counters = wanted.counters.front();
    start.granularity = wanted.granularities.front();
    const std::vector<std::string> links =
        options.links.empty() ? std::vector<std::string>{topology.links()[topology.core_link(false)].name}
                              : parse_links(options.links);
    Planner planner(topology);
    for (const std::string& link : links)
        for (const std::string& settings : combinations(options.vary)) {
            refuse_twice(options.monitor, settings);
            wanted.settings = settings;
            const bool both = !options.monitor.empty() && !settings.empty();
            planner.add(link, options.monitor + (both ? "," : "") + settings, wanted, start);
        }
    plan.variants = planner.variants();
    plan.left_out = planner.left_out();
    refuse_too_many(plan);
    return plan;
}

SweepView begun_view(const SweepOptions& options, const SweepPlan& plan) {
    SweepView view;
    view.choice = choice_of(options.choice_of_cells);
    require_measured(view.choice, options.slowdown);
    view.timed = options.slowdown;
    view.link = fmt::format(
        "{}", fmt::join(parse_links(options.links.empty() ? plan.variants[0].base.link : options.links), ","));
    view.monitor = to_string(plan.variants[0].base);
    return view;
}

SweepView view_of(const SweptWorkload& swept) {
    SweepView view;
    view.title = swept.title;
    view.references = swept.run.counts.references;
    view.runs = swept.runs;
    view.cells = swept.cells;
    if (swept.unknown != 0) view.slowdown_unknown = why_unknown(swept.unknown);
    return view;
}

void add_workload(SweepView& view, const SweepView& one, const std::string& name) {
    if (view.cells.empty() && view.references == 0) {
        view.title = one.title;
        view.runs = 0;
    } else {
        view.title.input = fmt::format(
            "{}, {}",
            view.title.settings.empty() ? view.title.input
                                        : fmt::format("{} {}", view.title.input, fmt::join(view.title.settings, " ")),
            name);
        view.title.settings.clear();
        view.title.lines.reset();
        view.title.cut |= one.title.cut;
        if (!one.title.complete)
            add_missing(view.title, one.title.incomplete.starts_with(name + ":") ? one.title.incomplete
                                                                                 : name + ": " + one.title.incomplete);
        if (view.title.failure.empty()) view.title.failure = one.title.failure;
    }
    view.references += one.references;
    view.runs += one.runs;
    view.cells.insert(view.cells.end(), one.cells.begin(), one.cells.end());
    if (!one.slowdown_unknown.empty()) view.slowdown_unknown = one.slowdown_unknown;
    view.events = 0;
    const SweepCell* before = nullptr;  // of a workload and link the first cell
    for (const SweepCell& cell : view.cells) {
        if (!before || before->workload != cell.workload || before->link != cell.link) view.events += cell.events;
        before = &cell;
    }
}

void write_sweep_of(Group& root, const Topology& topology, const SweepView& view, const SweptWorkload* first,
                    const SweepPlan& plan) {
    std::optional<SweptEvents> events;
    if (first != nullptr && plan.variants.size() == 1 && first->exact)
        events.emplace(SweptEvents{*first->exact, first->program_addresses});
    write_sweep_result(root, topology, view, events ? &*events : nullptr,
                       first != nullptr ? first->regions : std::vector<Region>());
}

}  // namespace cachetally::app

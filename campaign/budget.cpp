// SPDX-License-Identifier: BSD-3-Clause
#include "campaign/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "monitor/spec.hpp"
#include "monitor/spec_placement.hpp"
#include "sim/topology/yaml_document.hpp"
#include "workloads/kernels/workload.hpp"

namespace cachetally {

template <>
std::span<const std::string_view> names_of<Quantity>() {
    static constexpr std::array<std::string_view, 6> names = {"misses", "miss_rate", "mpki",
                                                              "mpkr",   "cycles",    "swapouts"};
    return names;
}
template <>
std::span<const std::string_view> names_of<ProgramFetches>() {
    static constexpr std::array<std::string_view, 3> names = {"lines", "instructions", "none"};
    return names;
}

namespace {

constexpr const char* no_instructions_advice = "write mpkr, misses per thousand references, instead";
constexpr unsigned most_layouts = 10'000;

bool is_of_level(Quantity quantity) { return quantity != Quantity::cycles && quantity != Quantity::swapouts; }

/// A number of at least 0, with a point and digits.
std::optional<double> parse_decimal(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    const bool good = error == std::errc() && end == text.data() + text.size() && value >= 0 && std::isfinite(value);
    return good ? std::optional(value) : std::nullopt;
}

std::optional<double> parse_percent(std::string_view text) {
    if (!text.ends_with('%')) return std::nullopt;
    return parse_decimal(trimmed(text.substr(0, text.size() - 1)));
}

class BudgetReader : public FieldReader {
public:
    explicit BudgetReader(const std::string& file) : file_(file), folder_(std::filesystem::path(file).parent_path()) {}

    BudgetFile read(const YAML::Node& root) {
        BudgetFile result;
        result.path = file_;
        const YAML::Node* checks = nullptr;
        std::vector<YAML::Node> kept;
        std::vector<Field> fields = common_fields(usual_);
        fields.push_back({"checks", [&](const YAML::Node& node) { checks = &kept.emplace_back(node); }, true});
        mapping(root, {"a budget file", "checks: [{run: lu n=64, budgets: [{misses: 20K, level: L1D}]}]"}, fields);
        if (checks != nullptr)
            list(*checks, "checks", [&](const YAML::Node& node) { result.checks.push_back(check(node)); });
        if (checks != nullptr && result.checks.empty() && diagnostics_.empty())
            complain(mark_of(*checks), "'checks' is empty; write at least one check, as in '- run: lu n=64'");
        name_all(result.checks);
        if (!diagnostics_.empty()) throw FileError(file_, std::move(diagnostics_));
        return result;
    }

private:
    /// What both the file, for all checks, and a check say.
    struct Common {
        std::string machine = "generic3", stored;
        unsigned layouts = default_layouts;
        std::optional<double> within;
    };

    std::vector<Field> common_fields(Common& common) {
        return {{"machine", [&](const YAML::Node& node) { text(node, "machine", "generic3", common.machine); }},
                {"layouts", [&](const YAML::Node& node) { whole(node, "layouts", common.layouts, 1, most_layouts); }},
                {"stored", [&](const YAML::Node& node) { text(node, "stored", "main.json", common.stored); }},
                {"within", [&](const YAML::Node& node) { percent(node, "within", common.within); }}};
    }

    void percent(const YAML::Node& node, std::string_view key, std::optional<double>& target) {
        const auto word = scalar(node, key, "1 %");
        if (!word) return;
        target = parse_percent(*word);
        if (!target)
            complain(mark_of(node), "'{}' is not a value of '{}'; write a number with %, as in 1.5 %", shown(*word),
                     key);
    }

    void count(const YAML::Node& node, std::string_view key, std::uint64_t& target) {
        const auto word = scalar(node, key, "1M");
        if (!word) return;
        if (const auto value = parse_whole(*word))
            target = *value;
        else
            complain(mark_of(node),
                     "'{}' is not a value of '{}'; write a whole number, as in 1000000 or 1M (K, M, G: powers of 1024)",
                     shown(*word), key);
    }

    /// A word, or a list of words.
    void words(const YAML::Node& node, std::string_view key, std::string_view example,
               std::vector<std::string>& target) {
        target.clear();
        list(node, key, [&](const YAML::Node& each) {
            if (auto word = scalar(each, key, example)) target.push_back(std::move(*word));
        });
    }

    std::string in_folder(const std::string& path) const {
        return path.empty() || path == "-" ? path : (folder_ / path).string();
    }

    BudgetCheck check(const YAML::Node& node) {
        BudgetCheck found;
        found.mark = mark_of(node);
        Common common = usual_;
        std::string run;
        const std::size_t before = diagnostics_.size();
        std::vector<Field> fields = common_fields(common);
        const std::vector<Field> own = {
            {"name", [&](const YAML::Node& n) { text(n, "name", "lu blocked", found.name); }},
            {"run", [&](const YAML::Node& n) { text(n, "run", "lu n=64 block=8", run); }},
            {"trace", [&](const YAML::Node& n) { text(n, "trace", "gzip.ct.h5", found.trace); }},
            {"program", [&](const YAML::Node& n) { words(n, "program", "./a.out", found.program); }},
            {"fetches", [&](const YAML::Node& n) { choice(n, "fetches", found.fetches); }},
            {"cores", [&](const YAML::Node& n) { whole(n, "cores", found.cores, 1, 256); }},
            {"warmup", [&](const YAML::Node& n) { count(n, "warmup", found.warmup); }},
            {"count", [&](const YAML::Node& n) { count(n, "count", found.count); }},
            {"monitors", [&](const YAML::Node& n) { words(n, "monitors", "link=core-L1D", found.monitors); }},
            {"budgets",
             [&](const YAML::Node& n) {
                 list(n, "budgets", [&](const YAML::Node& each) { found.budgets.push_back(budget(each)); });
             },
             true}};
        fields.insert(fields.end(), own.begin(), own.end());
        const KeyMarks marks =
            mapping(node, {"a check", "{run: lu n=64, budgets: [{misses: 20K, level: L1D}]}"}, fields);
        if (diagnostics_.size() != before) return found;
        found.layouts = common.layouts;
        found.machine = common.machine;
        if (!common.stored.empty()) found.stored = in_folder(common.stored);
        check_source(found, run, marks);
        check_budgets(found, common.within, marks);
        check_machine(found, marks);
        return found;
    }

    void check_source(BudgetCheck& found, const std::string& run, const KeyMarks& marks) {
        const auto given = static_cast<int>(marks.contains("run")) + static_cast<int>(marks.contains("trace")) +
                           static_cast<int>(marks.contains("program"));
        if (given != 1)
            return complain(found.mark,
                            "a check has one of 'run' (a kernel), 'trace' (a file) and 'program' (a list of words)");
        if (marks.contains("fetches") && !marks.contains("program"))
            complain(marks.at("fetches"), "'fetches' is for programs; a kernel makes none, and a trace has its own");
        if (marks.contains("program") && (found.program.empty() || found.program.front().empty()))
            complain(marks.at("program"), "'program' is empty; write its words, as in [./a.out, input]");
        if (marks.contains("trace")) {
            if (found.trace.empty() || found.trace == "-")
                complain(marks.at("trace"), "'trace' is the name of a file: each layout reads it anew");
            found.trace = in_folder(found.trace);
        }
        if (!marks.contains("run")) return;
        for (const std::string_view word : split(run, ' '))
            if (!word.empty()) found.settings.emplace_back(word);
        if (found.settings.empty()) return complain(marks.at("run"), "'run' is empty; write a kernel, as in lu n=64");
        found.workload = found.settings.front();
        found.settings.erase(found.settings.begin());
        try {
            make_workload(found.workload, found.settings);
        } catch (const OptionError& error) {
            complain(marks.at("run"), error.what());
        }
    }

    void check_budgets(BudgetCheck& found, const std::optional<double>& within, const KeyMarks& marks) {
        if (found.layouts > 1 && is_result_file(found.stored))
            complain(marks.contains("stored") ? marks.at("stored") : found.mark,
                     "a result of run is of the program's own addresses; write 'layouts: 1', or store one of as many "
                     "layouts by 'cachetally check --store main.json'");
        if (found.budgets.empty())
            complain(marks.at("budgets"), "'budgets' is empty; write at least one, as in {misses: 20K, level: L1D}");
        std::set<std::string> known;
        for (CostBudget& each : found.budgets) {
            if (!each.within && !found.stored.empty()) each.within = within;
            if (found.stored.empty() && (each.within || !each.limit))
                complain(each.mark,
                         "'within' and '{}: stored' compare with a stored result; name it, as in 'stored: main.json'",
                         name_of(each.quantity));
            else if (!each.limit && !each.within)
                complain(each.mark, "'{}: stored' needs 'within', as in 'within: 1 %'", name_of(each.quantity));
            if (!known.insert(each.text()).second)
                complain(each.mark, "{} has a budget twice in this check; keep one", shown(each.text()));
            if (each.quantity == Quantity::mpki) check_instructions(found, each);
        }
    }

    void check_instructions(const BudgetCheck& found, const CostBudget& each) {
        if (!found.workload.empty())
            complain(each.mark, "mpki: a kernel makes references to data and no instructions; {}",
                     no_instructions_advice);
        else if (!found.program.empty() && found.fetches != ProgramFetches::instructions)
            complain(each.mark,
                     "mpki: the instructions of a program are known with 'fetches: instructions' in its check; or {}",
                     no_instructions_advice);
        else if (found.warmup != 0 || found.count != 0)
            complain(each.mark, "mpki: instructions are those of the whole run; leave 'warmup' and 'count' out, or {}",
                     no_instructions_advice);
    }

    void check_machine(BudgetCheck& found, const KeyMarks& marks) {
        const auto presets = machine_presets();
        const bool built_in =
            found.machine == "host" || std::ranges::find(presets, found.machine, &PresetInfo::name) != presets.end();
        const bool is_path = found.machine.find_first_of("/.") != std::string::npos;
        if (!built_in && is_path) found.machine = in_folder(found.machine);
        const Mark mark = marks.contains("machine") ? marks.at("machine") : found.mark;
        std::optional<Topology> topology;
        try {
            MachineDescription machine = load_machine(found.machine);
            if (found.cores != 0) machine.cores = found.cores;
            topology.emplace(std::move(machine));
        } catch (const MachineError& error) {
            return complain(mark, error.what());
        }
        const MachineDescription& machine = topology->machine();
        if (found.layouts > 1 && (!machine.pages.ranges.empty() || !machine.numa.ranges.empty()))
            complain(mark,
                     "the machine '{}' gives addresses a meaning ('ranges'), and layouts move them; write 'layouts: 1'",
                     machine.name);
        const std::size_t monitors = check_monitors(found, *topology, marks);
        for (const CostBudget& each : found.budgets) {
            check_level(each, machine);
            if (each.quantity == Quantity::swapouts && monitors == 0)
                complain(each.mark,
                         "swapouts are of a monitor; add one to the check, as in "
                         "'monitors: [\"link=core-L1D,counters=64\"]'");
        }
    }

    std::size_t check_monitors(const BudgetCheck& found, const Topology& topology, const KeyMarks& marks) {
        std::vector<MonitorSpec> specs;
        try {
            specs = monitors_of(found, topology);
        } catch (const std::invalid_argument& error) {
            complain(marks.contains("monitors") ? marks.at("monitors") : found.mark, error.what());
            return 1;
        }
        for (const MonitorSpec& spec : specs)
            if (found.layouts > 1 && !spec.ranges.empty())
                complain(marks.contains("monitors") ? marks.at("monitors") : found.mark,
                         "a monitor counts a range of addresses, and layouts move them; write 'layouts: 1'");
        return specs.size();
    }

    void check_level(const CostBudget& each, const MachineDescription& machine) {
        if (!is_of_level(each.quantity)) return;
        std::vector<std::string_view> known;
        for (const CacheConfig& cache : machine.caches) known.push_back(cache.name);
        for (const TlbConfig& tlb : machine.tlbs) known.push_back(tlb.name);
        if (std::ranges::find(known, std::string_view(each.level)) == known.end())
            complain(each.mark, "the machine '{}' has no level '{}'{}", machine.name, shown(each.level),
                     advice(each.level, known));
    }

    void limit(const YAML::Node& node, Quantity quantity, CostBudget& target) {
        const std::string_view key = name_of(quantity);
        const bool rate = quantity == Quantity::miss_rate,
                   decimal = quantity == Quantity::mpki || quantity == Quantity::mpkr;
        const char* const example = rate ? "5 %" : decimal ? "3.5" : "20K";
        target.quantity = quantity;
        const auto word = scalar(node, key, example);
        if (!word || *word == "stored") return;
        if (rate) {
            target.limit = parse_percent(*word);
        } else if (decimal) {
            target.limit = parse_decimal(*word);
        } else if (const auto whole = parse_whole(*word)) {
            target.limit = static_cast<double>(*whole);
        }
        if (!target.limit)
            complain(mark_of(node), "'{}' is not a value of '{}'; write the most that it may be, as in {}, or stored",
                     shown(*word), key, example);
    }

    void phase(const YAML::Node& node, std::string& target) {
        const auto word = scalar(node, "phase", "4 or solve");
        if (!word) return;
        target = trimmed(*word);
        if (target.find_first_not_of("+-.0123456789") != std::string::npos) return;
        std::uint64_t number = 0;
        whole(node, "phase", number, 0, 1'000'000'000);
        target = std::to_string(number);
    }

    CostBudget budget(const YAML::Node& node) {
        CostBudget found;
        found.mark = mark_of(node);
        int quantities = 0;
        std::vector<Field> fields;
        for (std::size_t i = 0; i < names_of<Quantity>().size(); ++i)
            fields.push_back({names_of<Quantity>()[i], [&, i](const YAML::Node& n) {
                                  ++quantities;
                                  limit(n, static_cast<Quantity>(i), found);
                              }});
        fields.push_back({"level", [&](const YAML::Node& n) { text(n, "level", "L1D", found.level); }});
        fields.push_back({"structure", [&](const YAML::Node& n) { text(n, "structure", "A", found.structure); }});
        fields.push_back({"monitor", [&](const YAML::Node& n) { text(n, "monitor", "core-L1D", found.monitor); }});
        fields.push_back({"phase", [&](const YAML::Node& n) { phase(n, found.phase); }});
        fields.push_back({"within", [&](const YAML::Node& n) { percent(n, "within", found.within); }});
        const std::size_t before = diagnostics_.size();
        mapping(node, {"a budget", "{misses: 20K, level: L1D}"}, fields);
        if (diagnostics_.size() == before) check_budget(found, quantities);
        return found;
    }

    void check_budget(const CostBudget& found, int quantities) {
        if (quantities != 1)
            return complain(found.mark, "a budget is of one of {}", fmt::join(names_of<Quantity>(), ", "));
        const bool of_level = is_of_level(found.quantity), swapouts = found.quantity == Quantity::swapouts;
        const std::string_view name = name_of(found.quantity);
        if (of_level && found.level.empty())
            complain(found.mark, "{} needs the level, as in '{{{}: ..., level: L1D}}'", name, name);
        if (!of_level && !(found.level.empty() && found.structure.empty()))
            complain(found.mark, "{} {} of a run or a phase, and not of a level or structure", name,
                     swapouts ? "are those of a monitor," : "are those");
        if (!swapouts && !found.monitor.empty()) complain(found.mark, "'monitor' is for swapouts");
        if (!found.phase.empty() && found.quantity == Quantity::mpki)
            complain(found.mark, "mpki is of a run: instructions are not counted by phase");
    }

    const std::string& file_;
    std::filesystem::path folder_;
    Common usual_;

    /// Names are the sources where nothing else is given; those of a file differ.
    void name_all(std::vector<BudgetCheck>& checks) {
        std::set<std::string> known;
        for (BudgetCheck& each : checks) {
            if (each.name.empty()) each.name = each.source();
            if (!known.insert(each.name).second)
                complain(each.mark, "there are two checks '{}'; give them names, as in 'name: small'",
                         shown(each.name));
        }
    }
};

}  // namespace

std::string_view name_of(Quantity quantity) { return names_of<Quantity>()[static_cast<std::size_t>(quantity)]; }

bool BudgetCheck::has_structures() const {
    return std::ranges::any_of(budgets, [](const CostBudget& budget) { return !budget.structure.empty(); });
}

bool BudgetCheck::needs_instructions() const {
    return std::ranges::any_of(budgets, [](const CostBudget& budget) { return budget.quantity == Quantity::mpki; });
}

std::string BudgetCheck::source() const {
    if (!trace.empty()) return trace;
    if (!program.empty()) return fmt::format("{}", fmt::join(program, " "));
    return settings.empty() ? workload : fmt::format("{} {}", workload, fmt::join(settings, " "));
}

std::vector<MonitorSpec> monitors_of(const BudgetCheck& check, const Topology& topology) {
    if (check.monitors.empty()) return monitors_of(topology);
    std::vector<MonitorSpec> specs;
    for (const std::string& each : check.monitors) specs.push_back(parse_monitor(each));
    return placed(std::move(specs), topology);
}

bool is_result_file(const std::string& path) { return path.ends_with(".h5") || path.ends_with(".hdf5"); }

BudgetFile read_budgets(const std::string& text, const std::string& file) {
    return BudgetReader(file).read(load_yaml(text, file, "budget file"));
}

}  // namespace cachetally

// SPDX-License-Identifier: BSD-3-Clause
// Which combinations of a grid are points: conditions, and a random draw.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/random.hpp"
#include "base/text.hpp"
#include "campaign/grid.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t most_points = 10'000'000;

bool in_relation(auto left, Condition::Relation relation, auto right) {
    switch (relation) {
        case Condition::Relation::equal: return left == right;
        case Condition::Relation::unequal: return left != right;
        case Condition::Relation::less: return left < right;
        case Condition::Relation::at_most: return left <= right;
        case Condition::Relation::more: return left > right;
        case Condition::Relation::at_least: return left >= right;
    }
    return false;
}

}  // namespace

/// Of a condition: what the point has, or what its machine file states, or the text itself, a number or a word.
std::optional<std::string> Grid::factor_value(const std::string& factor, const Place& place) const {
    if (has_parameter(factor)) return value(factor, place);
    if (const auto stated = stated_.find({machine_name(place), factor}); stated != stated_.end()) return stated->second;
    const bool elsewhere = std::ranges::any_of(stated_, [&](const auto& each) { return each.first.second == factor; });
    return elsewhere ? std::optional<std::string>("") : std::nullopt;
}

bool Grid::keeps(const Condition& condition, const Place& place) const {
    using Relation = Condition::Relation;
    const bool words_can_be = condition.left.size() == 1 && condition.right.size() == 1 &&
                              (condition.relation == Relation::equal || condition.relation == Relation::unequal);
    bool absent = false, is_word = false;
    std::string words[2];
    double numbers[2] = {1, 1};
    int side = 0;
    for (const auto* factors : {&condition.left, &condition.right}) {
        for (const std::string& factor : *factors) {
            const auto known = factor_value(factor, place);
            const std::string text = known.value_or(factor);
            const auto number = campaign_number(text);
            if (!known && !number && !(side == 1 && words_can_be))
                refuse(file_.path, condition.mark,
                       fmt::format("'{}': '{}' is neither a number nor what points differ by or machines state",
                                   shown(condition.text), shown(factor)));
            absent = absent || text.empty();
            is_word = is_word || !number;
            if (number) numbers[side] *= *number;
            words[side] = text;
        }
        ++side;
    }
    if (absent || (is_word && !words_can_be)) return true;
    return is_word ? in_relation(words[0], condition.relation, words[1])
                   : in_relation(numbers[0], condition.relation, numbers[1]);
}

bool Grid::keeps_all(const Place& place) const {
    return std::ranges::all_of(file_.where, [&](const Condition& condition) { return keeps(condition, place); });
}

void Grid::choose() {
    const std::uint64_t all = combinations();
    if (file_.where.empty() && (!file_.draw || file_.draw->points >= all)) {
        if (all > most_points)
            refuse(file_.path, {1, 1},
                   fmt::format("these are {} points; at most {} are possible: draw some, as in "
                               "'draw: {{points: 100000}}'",
                               with_separators(all), with_separators(most_points)));
        return;
    }
    all_ = false;
    if (all > most_points) return draw_among_all();
    for (std::uint64_t i = 0; i < all; ++i)
        if (keeps_all(place_of(i))) chosen_.push_back(i);
    if (!file_.draw || file_.draw->points >= chosen_.size()) return;
    Random random(file_.draw->seed);
    for (std::uint64_t i = 0; i < file_.draw->points; ++i)
        std::swap(chosen_[i], chosen_[i + random.below(chosen_.size() - i)]);
    chosen_.resize(file_.draw->points);
    std::ranges::sort(chosen_);
}

/// Of more points than can be listed.
void Grid::draw_among_all() {
    const std::uint64_t all = combinations();
    if (!file_.draw)
        refuse(file_.path, {1, 1},
               fmt::format("these are {} points before conditions; at most {} are possible: draw "
                           "some, as in 'draw: {{points: 100000}}'",
                           with_separators(all), with_separators(most_points)));
    constexpr std::uint64_t tries = 1000;
    Random random(file_.draw->seed);
    std::set<std::uint64_t> found;
    for (std::uint64_t i = 0; i < file_.draw->points * tries && found.size() < file_.draw->points; ++i)
        if (const std::uint64_t at = random.next() % all; !found.contains(at) && keeps_all(place_of(at)))
            found.insert(at);
    if (found.size() < file_.draw->points)
        refuse(file_.path, {1, 1},
               fmt::format("of {} points the conditions leave fewer than {}; draw fewer", with_separators(all),
                           file_.draw->points));
    chosen_.assign(found.begin(), found.end());
}

const MachineDescription& Grid::unseeded(std::size_t number) const {
    if (last_machine_.number == number) return last_machine_.machine;
    const Variant& variant = machines_[number];
    std::vector<MachineSetting> settings;
    for (std::size_t i = 0; i < variant.values.size(); ++i)
        settings.emplace_back(variant.entry->set[i].key, variant.values[i]);
    if (last_entry_ != variant.entry) {
        last_entry_ = nullptr;
        last_file_.emplace(inputs_.machines.at(variant.entry->name).text, variant.entry->name);
        last_entry_ = variant.entry;
    }
    MachineDescription machine = last_file_->with(settings);
    if (machine.name.empty()) machine.name = variant.entry->name;
    last_machine_ = {number, std::move(machine), {}, {}};
    return last_machine_.machine;
}

}  // namespace cachetally

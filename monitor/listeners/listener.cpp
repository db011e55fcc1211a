// SPDX-License-Identifier: BSD-3-Clause
// The parser of --listener, and what all listeners have in common.
#include "monitor/listeners/listener.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.hpp"
#include "base/units.hpp"

namespace cachetally {
namespace {

constexpr std::string_view common_keys[] = {"link", "line", "kinds", "range", "cores", "start"};

ListenerRow row_named(std::string_view name) {
    std::vector<std::string_view> names;
    for (const ListenerMaker make : listener_rows()) {
        if (make().name == name) return make();
        names.push_back(make().name);
    }
    throw SpecError("", fmt::format("there is no listener '{}'{}", shown(name), advice(name, names)), {});
}

std::uint64_t value_of(const ListenerKey& key, std::string_view text) {
    const auto value = parse_whole(text);
    if (value && *value >= key.least && *value <= key.most) return *value;
    throw SpecError(
        "", fmt::format("{}={}: write a whole number from {} to {}", key.name, shown(text), key.least, key.most), {});
}

ListenerSpec parsed(std::string_view text) {
    const auto rest_from = std::min(text.find(','), text.size());
    ListenerSpec spec{row_named(text.substr(0, rest_from)), {}, {}, std::string(text)};
    for (const ListenerKey& key : spec.row.keys) spec.values.push_back(key.standard);
    std::string common;
    for (text.remove_prefix(rest_from); !text.empty();) {
        text.remove_prefix(1);
        const std::string_view setting = text.substr(0, text.find(','));
        text.remove_prefix(setting.size());
        const std::string_view name = setting.substr(0, setting.find('='));
        const auto own = std::ranges::find(spec.row.keys, name, &ListenerKey::name);
        if (own != spec.row.keys.end() && name.size() < setting.size()) {
            spec.values[static_cast<std::size_t>(own - spec.row.keys.begin())] =
                value_of(*own, setting.substr(name.size() + 1));
            continue;
        }
        if (std::ranges::find(common_keys, name) == std::end(common_keys)) {
            std::vector<std::string_view> known(std::begin(common_keys), std::end(common_keys));
            for (const ListenerKey& key : spec.row.keys) known.push_back(key.name);
            throw SpecError(
                "", fmt::format("the listener '{}' has no '{}'{}", spec.row.name, shown(name), advice(name, known)),
                {});
        }
        common += fmt::format("{}{}", common.empty() ? "" : ",", setting);
    }
    if (!common.empty()) spec.base = parse_common(common, {});
    return spec;
}

}  // namespace

ListenerSpec parse_listener(std::string_view text) {
    try {
        return parsed(text);
    } catch (const SpecError& error) {
        throw SpecError(fmt::format("listener '{}': ", shown(text)), error.message(), {});
    }
}

ListenerTable merged(const std::vector<ListenerTable>& copies) {
    ListenerTable sum = copies.front();
    for (std::size_t i = 1; i < copies.size(); ++i)
        for (const ListenerTable::Row& row : copies[i].rows) {
            const auto same = std::ranges::find(sum.rows, row.label, &ListenerTable::Row::label);
            if (same == sum.rows.end())
                sum.rows.push_back(row);
            else
                std::ranges::transform(same->numbers, row.numbers, same->numbers.begin(), std::plus<>());
        }
    std::ranges::stable_sort(sum.rows, std::less<>(), &ListenerTable::Row::order);
    return sum;
}

std::string listeners_in_words() {
    std::string text;
    for (const ListenerMaker make : listener_rows()) {
        const ListenerRow row = make();
        text += fmt::format("{}{} ({}", text.empty() ? "" : "; ", row.name, row.help);
        for (const ListenerKey& key : row.keys)
            text += fmt::format("; {}: {}, default {}", key.name, key.help, key.standard);
        text += ')';
    }
    return text;
}

}  // namespace cachetally

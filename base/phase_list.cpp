// SPDX-License-Identifier: BSD-3-Clause
#include "base/phase_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "base/text.hpp"
#include "base/units.hpp"

namespace cachetally {
namespace {

class PhaseList {
public:
    PhaseList(std::string_view list, const std::vector<std::string>& names)
        : rest_(trimmed(list)), names_(names), is_found_(names.size()) {}

    std::vector<std::uint32_t> read() {
        for (bool goes_on = true; goes_on;) {
            const std::string_view item = next_item();
            goes_on = !rest_.empty();
            if (goes_on) rest_ = trimmed(rest_.substr(1));  // without the comma
            if (!add_named(item)) add_range(item);
        }
        return found_;
    }

private:
    static constexpr std::size_t most_listed = 12;

    /// The beginning of the list is a name, up to a comma or the end.
    bool begins_with(std::string_view name) const {
        if (name.empty() || !rest_.starts_with(name)) return false;
        const std::string_view behind = trimmed(rest_.substr(name.size()));
        return behind.empty() || behind.front() == ',';
    }

    /// Takes it off the list, which then is empty or begins with a comma.
    std::string_view next_item() {
        if (const auto close = rest_.starts_with('"') ? rest_.find('"', 1) : std::string_view::npos;
            close != std::string_view::npos && begins_with(rest_.substr(0, close + 1))) {
            const std::string_view quoted = rest_.substr(1, close - 1);
            if (is_name(quoted)) {
                rest_ = trimmed(rest_.substr(close + 1));
                return quoted;
            }
        }
        std::string_view item;
        for (const std::string& name : names_)
            if (name.size() > item.size() && begins_with(name)) item = rest_.substr(0, name.size());
        if (item.empty()) item = rest_.substr(0, rest_.find(','));
        rest_ = trimmed(rest_.substr(item.size()));
        return trimmed(item);
    }

    bool is_name(std::string_view word) const {
        return !word.empty() && std::ranges::find(names_, word) != names_.end();
    }

    void add(std::uint32_t phase) {
        if (!is_found_[phase]) found_.push_back(phase);
        is_found_[phase] = true;
    }

    bool add_named(std::string_view name) {
        if (!is_name(name)) return false;
        for (std::uint32_t phase = 0; phase < names_.size(); ++phase)
            if (names_[phase] == name) add(phase);
        return true;
    }

    void add_range(std::string_view item) {
        const std::size_t hyphen = item.find('-');
        const auto first = parse_whole(trimmed(item.substr(0, hyphen)));
        const auto last = hyphen == std::string_view::npos ? first : parse_whole(trimmed(item.substr(hyphen + 1)));
        if (!first || !last) refuse(item);
        if (*first > *last) throw std::invalid_argument(fmt::format("'{}' ends before it begins", item));
        if (*last >= names_.size())
            throw std::invalid_argument(
                fmt::format("there is no phase {}; there {}, numbered from 0", *last,
                            names_.size() == 1 ? "is 1 phase" : fmt::format("are {} phases", names_.size())));
        for (std::uint64_t phase = *first; phase <= *last; ++phase) add(static_cast<std::uint32_t>(phase));
    }

    [[noreturn]] void refuse(std::string_view item) const {
        std::vector<std::string_view> known;
        for (const std::string& name : names_)
            if (!name.empty() && std::ranges::find(known, name) == known.end()) known.emplace_back(name);
        throw std::invalid_argument(
            fmt::format("there is no phase '{}'{}; or write numbers, e.g. 4 or 3,5-7", shown(item),
                        known.empty() ? "; phases have no names here" : advice(item, known, most_listed)));
    }

    std::string_view rest_;
    const std::vector<std::string>& names_;
    std::vector<std::uint32_t> found_;
    std::vector<bool> is_found_;
};

}  // namespace

std::vector<std::uint32_t> listed_phases(std::string_view list, const std::vector<std::string>& names) {
    return PhaseList(list, names).read();
}

}  // namespace cachetally
